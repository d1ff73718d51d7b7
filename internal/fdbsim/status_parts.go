package fdbsim

import (
	"strings"
)

// configurationStatus is the configuration in force, defaults filled in.
func (db *database) configurationStatus(conf configuration) object {
	status := object{
		"backup_worker_enabled":             0,
		"blob_granules_enabled":             number(conf.values, "blob_granules_enabled", 0),
		"commit_proxies":                    conf.commitProxies,
		"coordinators_count":                len(db.conn.Coordinators),
		"encryption_at_rest_mode":           "disabled",
		"excluded_servers":                  db.excludedStatus(),
		"grv_proxies":                       conf.grvProxies,
		"log_engine":                        engineName(number(conf.values, "log_engine", engineSSD2)),
		"log_spill":                         number(conf.values, "log_spill", 2),
		"logs":                              conf.logs,
		"perpetual_storage_wiggle":          number(conf.values, "perpetual_storage_wiggle", 0),
		"perpetual_storage_wiggle_engine":   engineName(number(conf.values, "perpetual_storage_wiggle_engine", 7)),
		"perpetual_storage_wiggle_locality": "0",
		"proxies":                           conf.commitProxies + conf.grvProxies,
		"resolvers":                         conf.resolvers,
		"storage_engine":                    conf.storageEngine(),
		"storage_migration_type":            chosen("storage_migration_type", conf.values, "disabled"),
		"tenant_mode":                       chosen("tenant_mode", conf.values, "disabled"),
		"usable_regions":                    conf.usableRegions,
	}
	if locality := conf.values["perpetual_storage_wiggle_locality"]; locality != "" {
		status["perpetual_storage_wiggle_locality"] = locality
	}
	for _, name := range []string{"log_routers", "remote_logs", "repopulate_anti_quorum"} {
		if _, set := conf.values[name]; set {
			status[name] = number(conf.values, name, 0)
		}
	}
	if _, set := conf.values["log_version"]; set {
		status["log_version"] = number(conf.values, "log_version", 0)
	}
	if conf.redundancy != "" {
		status["redundancy_mode"] = conf.redundancy
	}
	if len(conf.regions) > 0 {
		status["regions"] = regionStatus(conf.regions)
	}
	return status
}

// chosen is the word for a stored choice.
func chosen(name string, values map[string]string, byDefault string) string {
	for word, stored := range choices[name].stored {
		if stored == values[name] {
			return word
		}
	}
	return byDefault
}

func regionStatus(regions []region) []any {
	var each []any
	for _, r := range regions {
		var dcs []any
		for _, dc := range r.DataCenters {
			d := object{"id": dc.ID, "priority": dc.Priority}
			if dc.Satellite != 0 {
				d["satellite"] = dc.Satellite
			}
			dcs = append(dcs, d)
		}
		status := object{"datacenters": dcs}
		if r.SatelliteMode != "" {
			status["satellite_redundancy_mode"] = r.SatelliteMode
		}
		if r.SatelliteLogs != 0 {
			status["satellite_logs"] = r.SatelliteLogs
		}
		each = append(each, status)
	}
	return each
}

func (db *database) excludedStatus() []any {
	var each []any
	for _, failed := range []bool{false, true} {
		for _, e := range db.exclusions(failed) {
			if e.locality {
				each = append(each, object{"locality": e.text})
			} else {
				each = append(each, object{"address": e.text})
			}
		}
	}
	return list(each)
}

func counter(n int64) object { return object{"counter": n, "hz": 0, "roughness": -1} }

func latencyProbe() object {
	return object{
		"batch_priority_transaction_start_seconds": 0.0006, "commit_seconds": 0.0024,
		"immediate_priority_transaction_start_seconds": 0.00055, "read_seconds": 0.00018, "transaction_start_seconds": 0.0006,
	}
}

func workloadStatus() object {
	group := func(names string) object {
		o := object{}
		for name := range strings.FieldsSeq(names) {
			o[name] = object{"counter": 0, "hz": 0, "roughness": 0}
		}
		return o
	}
	return object{
		"bytes":      group("read written"),
		"keys":       group("read"),
		"operations": group("location_requests low_priority_reads memory_errors read_requests reads writes"),
		"transactions": group("committed conflicted rejected_for_queued_too_long started started_batch_priority " +
			"started_default_priority started_immediate_priority"),
	}
}

func qosStatus() object {
	calm := object{"name": "workload", "description": "The database is not being saturated by the workload.", "reason_id": 2}
	durable := object{"seconds": 5.0, "versions": 5 * microsPerSecond}
	return object{
		"batch_performance_limited_by": calm, "performance_limited_by": calm,
		"batch_released_transactions_per_second": 1.0, "released_transactions_per_second": 19.0,
		"batch_transactions_per_second_limit": 600_000_000, "transactions_per_second_limit": 1_000_000_000,
		"limiting_data_lag_storage_server":       object{"seconds": 0, "versions": 0},
		"limiting_durability_lag_storage_server": durable,
		"limiting_queue_bytes_storage_server":    200,
		"throttled_tags": object{
			"auto":   object{"busy_read": 0, "busy_write": 0, "count": 0, "recommended_only": 0},
			"manual": object{"count": 0},
		},
		"worst_data_lag_storage_server":       object{"seconds": 0, "versions": 0},
		"worst_durability_lag_storage_server": durable,
		"worst_queue_bytes_log_server":        100,
		"worst_queue_bytes_storage_server":    200,
	}
}
