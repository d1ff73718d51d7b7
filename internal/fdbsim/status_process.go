package fdbsim

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Disk figures of every process.
const (
	diskTotalBytes int64 = 97_793_294_336
	diskFreeBytes  int64 = 67_346_743_296
	// diskOverhead is what a storage server occupies without any data.
	diskOverhead int64 = 104_878_232
)

// diskFigures are the figures of a storage role's disk.
type diskFigures struct{ used, free, available int64 }

func (db *database) diskOf(ss *storageServer) diskFigures {
	stored := db.storedBytes(ss)
	free := max(0, diskFreeBytes-stored)
	return diskFigures{used: stored + diskOverhead, free: free, available: free}
}

// processStatus describes the registered processes by their own IDs.
func (db *database) processStatus() object {
	each := object{}
	for _, s := range db.members {
		each[s.disk.processID] = db.oneProcess(s)
	}
	return each
}

func (db *database) oneProcess(s *server) object {
	status := object{
		"address": s.address().String(), "class_source": s.classSource(), "class_type": s.args.Class,
		"memory": object{}, "messages": []any{}, "roles": db.rolesOf(s),
	}
	if db.readable() {
		status["excluded"] = db.excluded(s)
	}
	if !s.alive() {
		return status
	}
	status["memory"] = object{"limit_bytes": s.args.MemoryBytes}
	if !db.faults.PartialStatus {
		status["command_line"] = s.args.CommandLine
		status["version"] = s.version.String()
	}
	if db.reports(s) {
		db.addFigures(status, s)
	}
	return status
}

// addFigures adds what a process reports about itself.
func (db *database) addFigures(status object, s *server) {
	status["cpu"] = object{"usage_cores": 0.007}
	status["disk"] = object{
		"busy": 0.0016, "free_bytes": diskFreeBytes, "total_bytes": diskTotalBytes,
		"reads":  object{"counter": 1230358, "hz": 0, "sectors": 0},
		"writes": object{"counter": 216009, "hz": 0, "sectors": 0},
	}
	status["fault_domain"] = s.zone()
	status["locality"] = localityStatus(s)
	status["machine_id"] = s.machine()
	status["memory"] = object{
		"available_bytes": s.args.MemoryBytes, "limit_bytes": s.args.MemoryBytes,
		"rss_bytes": 77332480, "unused_allocated_memory": 0, "used_bytes": 227627008,
	}
	rate := object{"hz": 0}
	status["network"] = object{
		"connection_errors": rate, "connections_closed": rate, "connections_established": rate, "current_connections": 10,
		"megabits_received": rate, "megabits_sent": rate, "tls_policy_failures": rate,
	}
	status["run_loop_busy"] = 0.0058
	status["uptime_seconds"] = db.uptime(s)
	if db.underMaintenance(s.zone()) {
		status["under_maintenance"] = true
	}
}

// uptime moves with the reports of the process.
func (db *database) uptime(s *server) float64 {
	return db.w.now.Sub(s.started).Truncate(firstReport).Seconds()
}

func localityStatus(s *server) object {
	o := object{fdb.LocalityFDBProcessID: s.disk.processID}
	for _, key := range s.args.localityKeys() {
		o[key] = s.args.Locality[key]
	}
	return o
}

// rolesOf are the roles of a process in the order of a status document.
func (db *database) rolesOf(s *server) []any {
	var roles []any
	for _, r := range []role{roleMaster, roleController, roleDataDistributor, roleRatekeeper, roleConsistencyScan} {
		roles = append(roles, db.seatsOf(s, r)...)
	}
	if !db.readable() {
		return list(append(roles, db.seatsOf(s, roleResolver)...))
	}
	roles = append(roles, db.seatsOf(s, roleRouter)...)
	for i := len(db.logs) - 1; i > 0; i-- {
		roles = append(roles, db.logRoles(s, db.logs[i])...)
	}
	if db.isCoordinator(s) || (!s.alive() && db.wasCoordinator(s)) {
		roles = append(roles, object{"role": string(roleCoordinator)})
	}
	roles = append(roles, db.seatsOf(s, roleCommitProxy)...)
	roles = append(roles, db.seatsOf(s, roleGrvProxy)...)
	roles = append(roles, db.logRoles(s, db.logs[0])...)
	if ss := db.storageOn(s); ss != nil && db.serving(s) {
		roles = append(roles, db.storageRole(ss))
	}
	return list(append(roles, db.seatsOf(s, roleResolver)...))
}

// serving reports whether a storage role is past the start of its process.
func (db *database) serving(s *server) bool {
	const loading = 3 * time.Second
	ss := db.storageOn(s)
	return !s.alive() || s.started.Before(ss.created) || db.w.now.Sub(s.started) >= loading
}

// wasCoordinator reports whether a dead process listened on a coordinator's
// address.
func (db *database) wasCoordinator(s *server) bool {
	return slices.ContainsFunc(db.conn.Coordinators, func(a fdb.Address) bool {
		return slices.ContainsFunc(db.w.lookup(a.Host), func(ip netip.Addr) bool {
			return s.listensOn(fdb.Address{Host: ip.String(), Port: a.Port}.HostPort())
		})
	})
}

func (db *database) seatsOf(s *server, r role) []any {
	var roles []any
	for _, a := range db.crew.assignments() {
		if a.role == r && a.seat.server == s {
			roles = append(roles, object{"role": string(r), "id": a.seat.id})
		}
	}
	return roles
}

func (db *database) logRoles(s *server, g logGeneration) []any {
	var roles []any
	for _, set := range g.sets {
		for _, l := range set.logs {
			if l.host(db) == s {
				roles = append(roles, db.logRole(l))
			}
		}
	}
	return roles
}

func (db *database) logRole(l logServer) object {
	return object{
		"role": string(roleLog), "id": l.id, "data_version": db.versionNow(),
		"durable_bytes": counter(19667), "input_bytes": counter(19923),
		"kvstore_available_bytes": diskFreeBytes, "kvstore_free_bytes": diskFreeBytes,
		"kvstore_total_bytes": diskTotalBytes, "kvstore_used_bytes": diskOverhead,
		"queue_disk_available_bytes": diskFreeBytes, "queue_disk_free_bytes": diskFreeBytes,
		"queue_disk_total_bytes": diskTotalBytes, "queue_disk_used_bytes": 258048,
	}
}

// storageRole is a storage role; of one that does not answer only what the
// system keys say.
func (db *database) storageRole(ss *storageServer) object {
	status := object{
		"role": string(roleStorage), "id": ss.id, "tss": false,
		"storage_metadata": object{
			"created_time_datetime":  ss.created.UTC().Format("2006-01-02 15:04:05.000 +0000"),
			"created_time_timestamp": float64(ss.created.UnixMicro()) / microsPerSecond,
			"storage_engine":         ss.engine,
		},
	}
	if !ss.answers() {
		return status
	}
	figures, version := db.diskOf(ss), db.versionNow()
	maps.Copy(status, object{
		"bytes_queried": counter(0), "data_lag": object{"seconds": 0.0, "versions": 0}, "data_version": version,
		"durability_lag": object{"seconds": 5, "versions": 5 * microsPerSecond}, "durable_bytes": counter(0),
		"durable_version": max(0, version-5*microsPerSecond), "fetched_versions": counter(version), "fetches_from_logs": counter(0),
		"finished_queries": counter(0), "input_bytes": counter(0), "keys_queried": counter(0),
		"kvstore_available_bytes": figures.available, "kvstore_free_bytes": figures.free, "kvstore_inline_keys": 0,
		"kvstore_total_bytes": diskTotalBytes, "kvstore_total_nodes": 0, "kvstore_total_size": 0, "kvstore_used_bytes": figures.used,
		"local_rate": 100, "low_priority_queries": counter(0), "mutation_bytes": counter(0), "mutations": counter(0),
		"query_queue_max": 0, "stored_bytes": db.storedBytes(ss), "total_queries": counter(0),
	})
	return status
}

// machineStatus describes the machines of the processes that report.
func (db *database) machineStatus() object {
	each := object{}
	for _, s := range db.members {
		if !db.reports(s) {
			continue
		}
		if known, again := each[s.machine()].(object); again {
			known["contributing_workers"] = known["contributing_workers"].(int) + 1
			continue
		}
		rate := object{"hz": 0}
		machine := object{
			"address": s.address().Host, "contributing_workers": 1, "cpu": object{"logical_core_utilization": 0.075},
			"excluded": false, "locality": localityStatus(s), "machine_id": s.machine(),
			"memory":  object{"committed_bytes": 1094803456, "free_bytes": 24181706752, "total_bytes": 25276510208},
			"network": object{"megabits_received": rate, "megabits_sent": rate, "tcp_segments_retransmitted": rate},
		}
		if dc := s.locality(fdb.LocalityDCID); dc != "" {
			machine["datacenter_id"] = dc
		}
		each[s.machine()] = machine
	}
	return each
}

// clientStatus is empty right after a recovery: the clients have to find the new
// proxies first.
func (db *database) clientStatus(version fdb.Version) object {
	const finding = 4500 * time.Millisecond
	if since := db.sinceRecovered(); since >= 0 && since < finding {
		return object{"count": 0}
	}
	return db.clients.status(db.w.now, version)
}

// status lists the clients by the version of their library.
func (l *clientList) status(now time.Time, cluster fdb.Version) object {
	l.list = slices.DeleteFunc(l.list, func(s seenClient) bool { return now.Sub(s.at) > clientMemory })
	byVersion := map[string][]any{}
	for _, s := range slices.SortedFunc(slices.Values(l.list), func(a, b seenClient) int { return cmp.Compare(a.port, b.port) }) {
		byVersion[s.version] = append(byVersion[s.version], object{"address": fdb.Address{Host: s.host, Port: s.port}.HostPort(), "log_group": "default"})
	}
	var versions []any
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		clients := byVersion[version]
		v, err := fdb.ParseVersion(version)
		if err != nil {
			continue
		}
		entry := object{
			"client_version": version, "connected_clients": clients, "count": len(clients),
			"protocol_version": protocolText(v), "source_version": sourceVersion(version),
			"max_protocol_clients": []any{}, "max_protocol_count": 0,
		}
		if v.ProtocolCompatible(cluster) {
			entry["max_protocol_clients"], entry["max_protocol_count"] = clients, len(clients)
		}
		versions = append(versions, entry)
	}
	return object{"count": len(l.list), "supported_versions": list(versions)}
}
