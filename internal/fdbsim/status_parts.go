package fdbsim

import (
	"slices"
	"strings"
	"time"
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

// dataStatus is what data distribution says. It says nothing when it has just
// been recruited, and little while it initialises.
func (db *database) dataStatus() object {
	if db.justRecruited() {
		return object{"team_trackers": []any{}}
	}
	status := object{}
	db.addSpace(status)
	if !db.distributing() {
		status["state"] = object{"name": "initializing", "description": "(Re)initializing automatic data distribution"}
		return status
	}
	inFlight, highest := db.movingBytes()
	trackers := db.trackers()
	status["moving_data"] = object{
		"highest_priority": highest, "in_flight_bytes": inFlight, "in_queue_bytes": 0, "total_written_bytes": db.dist.moved,
	}
	status["partitions_count"] = len(db.shards)
	status["average_partition_size_bytes"] = averageShard
	status["system_kv_size_bytes"] = 0
	status["total_kv_size_bytes"] = db.totalBytes()
	status["state"] = trackers[0].(object)["state"]
	status["team_trackers"] = trackers
	return status
}

// averageShard is the size that data distribution reports of a small database.
const averageShard = 20_016_470

func (db *database) totalBytes() int64 {
	var n int64
	for _, sh := range db.shards {
		n += sh.bytes
	}
	return n
}

func (db *database) addSpace(status object) {
	status["total_disk_used_bytes"] = db.totalBytes()*2 + diskOverhead*int64(len(db.storage)+1)
	status["least_operating_space_bytes_log_server"] = diskFreeBytes - diskTotalBytes/20
	for _, ss := range db.storage {
		if ss.answers() {
			free := db.diskOf(ss).available - diskTotalBytes/20
			least, set := status["least_operating_space_bytes_storage_server"].(int64)
			if !set || free < least {
				status["least_operating_space_bytes_storage_server"] = free
			}
		}
	}
}

// movingBytes is how much is on its way, and how urgent the most urgent move is.
func (db *database) movingBytes() (inFlight int64, highest int) {
	for _, sh := range db.shards {
		if sh.move != nil {
			inFlight += sh.bytes
			highest = max(highest, sh.move.priority)
		}
	}
	return inFlight, highest
}

// trackers are the team trackers, primary first. A new region has none until
// its first data arrives.
func (db *database) trackers() []any {
	var each []any
	for i, g := range db.dist.groups {
		inFlight, _ := db.movingBytes()
		each = append(each, object{
			"primary": i == 0, "in_flight_bytes": inFlight,
			"unhealthy_servers": db.unhealthyIn(g), "state": db.groupState(g),
		})
	}
	return each
}

func (db *database) unhealthyIn(g dataGroup) int {
	n := 0
	for _, ss := range db.storage {
		if g.holds(ss.server) && (ss.deathNoticed || db.excluded(ss.server)) {
			n++
		}
	}
	return n
}

// groupState is the state of one group of replicas.
func (db *database) groupState(g dataGroup) object {
	replicas, unhealthy, populating := db.groupReplicas(g)
	full := g.policy.replicas()
	switch {
	case replicas == 0 && !populating:
		return object{"name": "missing_data", "description": "No replicas remain of some data", "healthy": false, "min_replicas_remaining": 0}
	case populating:
		return object{
			"name": "healthy_populating_region", "description": "Populating remote region", "healthy": true, "min_replicas_remaining": full,
		}
	case replicas == 1 && full > 1:
		return healing("Only one replica remains of some data", 1)
	case replicas == 2 && full > 2:
		return healing("Only two replicas remain of some data", 2)
	case unhealthy:
		return healing("Restoring replication factor", full)
	}
	if _, highest := db.movingBytes(); highest == priorityRebalance {
		return object{"name": "healthy_rebalancing", "description": "Rebalancing", "healthy": true, "min_replicas_remaining": full}
	} else if highest > 0 {
		return object{"name": "healthy_repartitioning", "description": "Repartitioning", "healthy": true, "min_replicas_remaining": full}
	}
	return object{"name": "healthy", "healthy": true, "min_replicas_remaining": full}
}

func healing(description string, replicas int) object {
	return object{"name": "healing", "description": description, "healthy": false, "min_replicas_remaining": replicas}
}

// groupReplicas is the smallest number of replicas that any shard has in a
// group, whether some of them have to go, and whether the group is being filled
// for the first time.
func (db *database) groupReplicas(g dataGroup) (fewest int, unhealthy, populating bool) {
	fewest = g.policy.replicas()
	for _, sh := range db.shards {
		n, held := 0, 0
		for _, ss := range sh.replicas {
			if !g.holds(ss.server) {
				continue
			}
			held++
			if !ss.deathNoticed {
				n++
			}
			unhealthy = unhealthy || !db.healthyHolder(ss)
		}
		if held == 0 && g.dc != "" && g.dc != db.crew.primaryDC {
			populating = true
			continue
		}
		fewest = min(fewest, n)
		unhealthy = unhealthy || n < g.policy.replicas()
	}
	return fewest, unhealthy, populating
}

// logStatus describes the generations of logs, the current one first.
func (db *database) logStatus() []any {
	var each []any
	for i, g := range db.logs {
		status := object{
			"epoch": g.epoch, "current": i == 0, "begin_version": g.begin, "possibly_losing_data": g.losing(db),
		}
		if i > 0 {
			status["end_version"] = g.end
		}
		var interfaces []any
		for _, set := range g.sets {
			prefix := string(set.kind)
			status[prefix+"_fault_tolerance"] = set.tolerance(db)
			status[prefix+"_replication_factor"] = set.policy.replicas()
			if set.kind != logRemote {
				status[prefix+"_write_anti_quorum"] = set.antiQuorum
			}
			for _, l := range set.logs {
				interfaces = append(interfaces, l.status(db))
			}
		}
		status["log_interfaces"] = list(interfaces)
		each = append(each, status)
	}
	return list(each)
}

// losing reports whether a part of the log may be gone for good.
func (g logGeneration) losing(db *database) bool {
	return slices.ContainsFunc(g.sets, func(s logSet) bool { return s.kind == logLocal && s.tolerance(db) < 0 })
}

// tolerance is how many more of the set's zones may fail.
func (s logSet) tolerance(db *database) int {
	missing := map[string]bool{}
	for _, l := range s.logs {
		if l.host(db) == nil {
			missing[l.server.zone()] = true
		}
	}
	return max(-1, s.policy.replicas()-1-s.antiQuorum-len(missing))
}

// status is one log server. Nobody knows the address of a dead one.
func (l logServer) status(db *database) object {
	if host := l.host(db); host != nil {
		return object{"id": l.id, "healthy": true, "address": host.address().String()}
	}
	return object{"id": l.id, "healthy": false}
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

// clientList are the clients that the cluster has seen.
type clientList struct{ list []seenClient }

type seenClient struct {
	port    int
	version string
	at      time.Time
}

// clientMemory is how long the cluster remembers a client.
const clientMemory = 5 * time.Minute

// seen notes that a tool asks for the database.
func (l *clientList) seen(c *cli) {
	if c.port == 0 {
		c.port = 32768 + c.w.random.IntN(28000)
	}
	i := slices.IndexFunc(l.list, func(s seenClient) bool { return s.port == c.port })
	if i < 0 {
		l.list = append(l.list, seenClient{port: c.port, version: c.tool.Version, at: c.w.now})
		return
	}
	l.list[i].at = c.w.now
}
