package status

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/activity"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// configurationStatus is the configuration in force, defaults filled in.
func configurationStatus(db *model.Database, conf model.Configuration) Object {
	status := Object{
		"backup_worker_enabled":             0,
		"blob_granules_enabled":             model.Number(conf.Values, "blob_granules_enabled", 0),
		"commit_proxies":                    conf.CommitProxies,
		"coordinators_count":                len(db.Connection.Coordinators),
		"encryption_at_rest_mode":           "disabled",
		"excluded_servers":                  excludedStatus(db),
		"grv_proxies":                       conf.GrvProxies,
		"log_engine":                        model.EngineName(model.Number(conf.Values, "log_engine", model.EngineSSD2)),
		"log_spill":                         model.Number(conf.Values, "log_spill", 2),
		"logs":                              conf.Logs,
		"perpetual_storage_wiggle":          model.Number(conf.Values, "perpetual_storage_wiggle", 0),
		"perpetual_storage_wiggle_engine":   model.EngineName(model.Number(conf.Values, "perpetual_storage_wiggle_engine", 7)),
		"perpetual_storage_wiggle_locality": "0",
		"proxies":                           conf.CommitProxies + conf.GrvProxies,
		"resolvers":                         conf.Resolvers,
		"storage_engine":                    conf.StorageEngine(),
		"storage_migration_type":            chosen("storage_migration_type", conf.Values, "disabled"),
		"tenant_mode":                       chosen("tenant_mode", conf.Values, "disabled"),
		"usable_regions":                    conf.UsableRegions,
	}
	if locality := conf.Values["perpetual_storage_wiggle_locality"]; locality != "" {
		status["perpetual_storage_wiggle_locality"] = locality
	}
	for _, name := range []string{"log_routers", "remote_logs", "repopulate_anti_quorum"} {
		if _, set := conf.Values[name]; set {
			status[name] = model.Number(conf.Values, name, 0)
		}
	}
	if _, set := conf.Values["log_version"]; set { // another value is read as the nearest known one
		status["log_version"] = min(max(model.Number(conf.Values, "log_version", 0), oldestLogVersion), newestLogVersion)
	}
	if conf.Redundancy != "" {
		status["redundancy_mode"] = conf.Redundancy
	}
	if len(conf.Regions) > 0 {
		status["regions"] = regionStatus(conf.Regions)
	}
	return status
}

// The log versions that 7.3 knows.
const (
	oldestLogVersion = 1
	newestLogVersion = 7
)

// chosen is the word for a stored choice.
func chosen(name string, values map[string]string, byDefault string) string {
	for word, stored := range model.Choices[name].Stored {
		if stored == values[name] {
			return word
		}
	}
	return byDefault
}

func regionStatus(regions []model.Region) []any {
	var each []any
	for _, r := range regions {
		var dcs []any
		for _, dc := range r.DataCenters {
			d := Object{"id": dc.ID, "priority": dc.Priority}
			if dc.Satellite != 0 {
				d["satellite"] = dc.Satellite
			}
			dcs = append(dcs, d)
		}
		status := Object{"datacenters": dcs}
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

func excludedStatus(db *model.Database) []any {
	var each []any
	for _, kind := range model.ExclusionKinds() {
		for _, e := range db.Exclusions(kind) {
			if e.Locality {
				each = append(each, Object{"locality": e.Text})
			} else {
				each = append(each, Object{"address": e.Text})
			}
		}
	}
	return list(each)
}

func counter(n int64) Object { return Object{"counter": n, "hz": 0, "roughness": -1} }

// counting is a counter that advances.
func counting(n int64, hz float64) Object { return Object{"counter": n, "hz": hz, "roughness": -1} }

func lagOf(seconds float64) Object {
	return Object{"seconds": seconds, "versions": versionsIn(seconds)}
}

func versionsIn(seconds float64) int64 { return int64(seconds * keyspace.VersionsPerSecond) }

func latencyProbe(a activity.Activity) Object {
	return Object{
		"batch_priority_transaction_start_seconds": a.StartSeconds, "commit_seconds": a.CommitSeconds,
		"immediate_priority_transaction_start_seconds": a.StartSeconds * 0.9, "read_seconds": a.ReadSeconds, "transaction_start_seconds": a.StartSeconds,
	}
}

func workloadStatus(a activity.Activity) Object {
	group := func(of map[string]float64, none string) Object {
		o := Object{}
		for name, hz := range of {
			o[name] = Object{"counter": 0, "hz": hz, "roughness": 0}
		}
		for name := range strings.FieldsSeq(none) {
			o[name] = Object{"counter": 0, "hz": 0, "roughness": 0}
		}
		return o
	}
	return Object{
		"bytes":      group(map[string]float64{"read": a.ReadBytes, "written": a.WrittenBytes}, ""),
		"keys":       group(map[string]float64{"read": a.Reads}, ""),
		"operations": group(map[string]float64{"read_requests": a.Reads, "reads": a.Reads, "writes": a.Writes}, "location_requests low_priority_reads memory_errors"),
		"transactions": group(map[string]float64{
			"committed": a.Committed, "conflicted": a.Conflicted, "started": a.Started, "started_default_priority": a.Started,
		}, "rejected_for_queued_too_long started_batch_priority started_immediate_priority"),
	}
}

// qosStatus is what ratekeeper reports. It names a limit from 0.8 of it on.
func qosStatus(db *model.Database, a activity.Activity) Object {
	limit := Object{"name": fdb.LimitWorkload, "description": "The database is not being saturated by the workload.", "reason_id": 2}
	if a.Limiting != nil && a.Released > a.Limit*0.8 {
		limit = Object{
			"name": "storage_server_write_queue_size", "description": "Storage server performance (storage queue).", "reason_id": 1,
			"reason_server_id": a.Limiting.ID,
		}
	}
	released, most := a.Released, a.Limit
	if db.Faults.FullDisks && len(db.Storage) > 0 {
		released, most = 0, 0
		limit = Object{
			"name": "storage_server_min_free_space_ratio", "description": "Storage server running out of space (approaching 5% limit).", "reason_id": 7,
			"reason_server_id": db.Storage[0].ID,
		}
	}
	durable := lagOf(a.WorstLag())
	return Object{
		"batch_performance_limited_by": limit, "performance_limited_by": limit,
		"batch_released_transactions_per_second": 1.0, "released_transactions_per_second": released,
		"batch_transactions_per_second_limit": most * 0.6, "transactions_per_second_limit": most,
		"limiting_data_lag_storage_server":       Object{"seconds": 0, "versions": 0},
		"limiting_durability_lag_storage_server": durable,
		"limiting_queue_bytes_storage_server":    idleQueueBytes + a.WorstQueue(),
		"throttled_tags": Object{
			"auto":   Object{"busy_read": 0, "busy_write": 0, "count": 0, "recommended_only": 0},
			"manual": Object{"count": 0},
		},
		"worst_data_lag_storage_server":       Object{"seconds": 0, "versions": 0},
		"worst_durability_lag_storage_server": durable,
		"worst_queue_bytes_log_server":        idleQueueBytes/2 + a.Log().QueueBytes,
		"worst_queue_bytes_storage_server":    idleQueueBytes + a.WorstQueue(),
	}
}

// idleQueueBytes is what the queue of a storage server without writes has.
const idleQueueBytes = 200
