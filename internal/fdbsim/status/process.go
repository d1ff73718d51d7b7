package status

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/activity"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Disk figures of every process.
const (
	diskTotalBytes int64 = 97_793_294_336
	diskFreeBytes  int64 = 67_346_743_296
	// diskOverhead is what a storage server occupies without any data.
	diskOverhead int64 = 104_878_232
)

// What a process without work has, and how busy its run loop is for each core that it uses, as
// recorded on 7.3.79.
const (
	idleRSSBytes    int64 = 77_332_480
	idleMemoryBytes int64 = 227_627_008
	runLoopShare          = 0.83
	// fullLocalRate is the percentage of reads that a storage role serves.
	fullLocalRate            = 100.0
	processConnections int64 = 10
)

// DiskFigures are the figures of a storage role's disk.
type DiskFigures struct{ Used, Free, Available, Stored int64 }

// Disk are the figures of the disk that a storage server is on.
func Disk(db *model.Database, ss *model.StorageServer) DiskFigures {
	stored := db.StoredBytes(ss)
	free := max(0, freeBytes(db)-stored)
	return DiskFigures{Used: stored + diskOverhead, Free: free, Available: free, Stored: stored}
}

// freeBytes is the free space of a disk without data.
func freeBytes(db *model.Database) int64 {
	const few = 50 // a fiftieth of a disk is less than the twentieth that FoundationDB requires
	if db.Faults.FullDisks {
		return diskTotalBytes / few
	}
	return diskFreeBytes
}

// processStatus describes the registered processes by their own IDs.
func processStatus(db *model.Database) Object {
	v, each := viewOf(db), make(Object, len(db.Members))
	for _, s := range db.Members {
		each[s.Disk.ProcessID] = v.oneProcess(db, s)
	}
	return each
}

// processFields is how many fields most processes have.
const processFields = 22

// view is what is computed once for all processes of a document.
type view struct {
	activity.Activity
	readable     bool
	now          time.Time
	instances    map[*model.Process][]model.Assignment
	coordinators []*model.Process
}

func viewOf(db *model.Database) *view {
	v := &view{Activity: activity.Of(db), readable: db.Readable(), now: db.Simulation.Now, instances: map[*model.Process][]model.Assignment{}, coordinators: db.CoordinatorServers()}
	for _, a := range db.Roles.Assignments() {
		v.instances[a.Instance.Server] = append(v.instances[a.Instance.Server], a)
	}
	return v
}

func (v *view) oneProcess(db *model.Database, s *model.Process) Object {
	status := make(Object, processFields)
	maps.Copy(status, Object{
		"address": s.Address().String(), "class_source": s.ClassSource(), "class_type": s.Args.Class,
		"memory": Object{}, "messages": []any{}, "roles": v.roleObjects(db, v.rolesOf(db, s)),
	})
	if v.readable {
		status["excluded"] = db.Excluded(s)
	}
	if !s.Alive() {
		return status
	}
	status["memory"] = Object{"limit_bytes": s.Args.MemoryBytes}
	if !db.Faults.PartialStatus && !s.Args.WithoutEvents {
		status["command_line"] = s.Args.CommandLine
		status["version"] = s.Version.String()
	}
	if reports(db, s) {
		addFigures(db, status, s, v.Process(s))
	}
	return status
}

// addFigures adds what a process reports about itself.
func addFigures(db *model.Database, status Object, s *model.Process, load activity.ProcessActivity) {
	status["cpu"] = Object{"usage_cores": load.Cores}
	status["disk"] = Object{
		"busy": load.DiskBusy, "free_bytes": freeBytes(db), "total_bytes": diskTotalBytes,
		"reads":  Object{"counter": 1230358, "hz": 0, "sectors": 0},
		"writes": Object{"counter": 216009, "hz": load.DiskWrites, "sectors": 0},
	}
	status["fault_domain"] = s.Zone()
	status["locality"] = textsOf(s.Localities())
	status["machine_id"] = s.Machine()
	status["memory"] = Object{
		"available_bytes": s.Args.MemoryBytes, "limit_bytes": s.Args.MemoryBytes,
		"rss_bytes": idleRSSBytes + load.QueueBytes, "unused_allocated_memory": 0, "used_bytes": idleMemoryBytes + load.QueueBytes,
	}
	rate := Object{"hz": 0}
	status["network"] = Object{
		"connection_errors": rate, "connections_closed": rate, "connections_established": rate, "current_connections": processConnections,
		"megabits_received": Object{"hz": load.ReceivedMegabits}, "megabits_sent": Object{"hz": load.SentMegabits}, "tls_policy_failures": rate,
	}
	status["run_loop_busy"] = load.Cores * runLoopShare
	status["uptime_seconds"] = uptime(s)
	if db.UnderMaintenance(s.Zone()) {
		status["under_maintenance"] = true
	}
}

// uptime moves with the reports of the process.
func uptime(s *model.Process) float64 {
	return s.Uptime().Truncate(firstReport).Seconds()
}

// role is a role of a process: one of the log, of storage, or another.
type role struct {
	name    model.Role
	id      string
	log     *activity.LogActivity
	storage *model.StorageServer
}

// rolesOf are the roles of a process in the order of a status document.
func (v *view) rolesOf(db *model.Database, s *model.Process) []role {
	var roles []role
	for _, r := range []model.Role{model.RoleMaster, model.RoleController, model.RoleDataDistributor, model.RoleRatekeeper, model.RoleConsistencyScan} {
		roles = append(roles, v.instancesOf(s, r)...)
	}
	if !v.readable {
		return append(roles, v.instancesOf(s, model.RoleResolver)...)
	}
	roles = append(roles, v.instancesOf(s, model.RoleRouter)...)
	for i := len(db.Logs) - 1; i > 0; i-- {
		roles = append(roles, logRoles(db, s, db.Logs[i], activity.LogActivity{})...)
	}
	if slices.Contains(v.coordinators, s) || (!s.Alive() && wasCoordinator(db, s)) {
		roles = append(roles, role{name: model.RoleCoordinator})
	}
	roles = append(roles, v.instancesOf(s, model.RoleCommitProxy)...)
	roles = append(roles, v.instancesOf(s, model.RoleGrvProxy)...)
	roles = append(roles, logRoles(db, s, db.Logs[0], v.Log())...)
	if ss := v.StorageOn(s); ss != nil && v.serving(s, ss) {
		roles = append(roles, role{name: model.RoleStorage, id: ss.ID, storage: ss})
	} else if ss := db.Emptied(s); ss != nil {
		roles = append(roles, role{name: model.RoleStorage, id: ss.ID, storage: ss}) // by its address, without figures
	}
	return append(roles, v.instancesOf(s, model.RoleResolver)...)
}

// serving reports whether a storage role is past the start of its process.
func (v *view) serving(s *model.Process, ss *model.StorageServer) bool {
	const loading = 3 * time.Second
	return !s.Alive() || s.Started.Before(ss.Created) || v.now.Sub(s.Started) >= loading
}

// wasCoordinator reports whether a dead process listened on a coordinator's
// address.
func wasCoordinator(db *model.Database, s *model.Process) bool {
	return slices.ContainsFunc(db.Connection.Coordinators, func(a fdb.Address) bool {
		return slices.ContainsFunc(db.Simulation.Lookup(a.Host), func(ip netip.Addr) bool {
			return s.ListensOn(fdb.Address{Host: ip.String(), Port: a.Port}.HostPort())
		})
	})
}

func (v *view) instancesOf(s *model.Process, r model.Role) []role {
	var roles []role
	for _, a := range v.instances[s] {
		if a.Role == r {
			roles = append(roles, role{name: r, id: a.Instance.ID})
		}
	}
	return roles
}

func logRoles(db *model.Database, s *model.Process, g model.LogGeneration, load activity.LogActivity) []role {
	var roles []role
	for _, set := range g.Sets {
		for _, l := range set.Logs {
			if l.Disk == s.Disk && l.Host(db) == s {
				roles = append(roles, role{name: model.RoleLog, id: l.ID, log: &load})
			}
		}
	}
	return roles
}

func (v *view) roleObjects(db *model.Database, roles []role) []any {
	objects := make([]any, len(roles))
	for i, r := range roles {
		switch {
		case r.log != nil:
			objects[i] = logRole(db, r)
		case r.storage != nil:
			objects[i] = storageRole(db, r.storage, v.Storage(r.storage))
		case r.id == "":
			objects[i] = Object{"role": string(r.name)}
		default:
			objects[i] = Object{"role": string(r.name), "id": r.id}
		}
	}
	return objects
}

// What a log without writes has, as recorded on 7.3.79.
const (
	idleLogDurableBytes   int64 = 19667
	idleLogInputBytes     int64 = 19923
	idleLogQueueDiskBytes int64 = 258048
)

func logRole(db *model.Database, r role) Object {
	return Object{
		"role": string(model.RoleLog), "id": r.id, "data_version": db.VersionNow(),
		"durable_bytes": counting(idleLogDurableBytes, r.log.InputBytes), "input_bytes": counting(idleLogInputBytes+r.log.QueueBytes, r.log.InputBytes),
		"kvstore_available_bytes": freeBytes(db), "kvstore_free_bytes": freeBytes(db),
		"kvstore_total_bytes": diskTotalBytes, "kvstore_used_bytes": diskOverhead,
		"queue_disk_available_bytes": freeBytes(db), "queue_disk_free_bytes": freeBytes(db),
		"queue_disk_total_bytes": diskTotalBytes, "queue_disk_used_bytes": idleLogQueueDiskBytes,
	}
}

// storageRole is a storage role; of one that does not answer only what the
// system keys say.
func storageRole(db *model.Database, ss *model.StorageServer, load activity.StorageActivity) Object {
	metadata := Object{
		"created_time_datetime":  createdText(ss),
		"created_time_timestamp": float64(ss.Created.UnixMicro()) / keyspace.VersionsPerSecond,
		"storage_engine":         ss.Engine,
	}
	if !ss.Answers() {
		return Object{"role": string(model.RoleStorage), "id": ss.ID, "tss": false, "storage_metadata": metadata}
	}
	figures, version := Disk(db, ss), db.VersionNow()
	return Object{
		"role": string(model.RoleStorage), "id": ss.ID, "tss": false, "storage_metadata": metadata,
		"bytes_queried": counting(0, load.ReadBytes), "data_lag": Object{"seconds": 0.0, "versions": 0}, "data_version": version,
		"durability_lag": lagOf(load.LagSeconds), "durable_bytes": counting(0, load.WrittenBytes),
		"durable_version": durableVersion(db, load), "fetched_versions": counter(version), "fetches_from_logs": counter(0),
		"finished_queries": counting(0, load.Reads), "input_bytes": counting(load.QueueBytes, load.WrittenBytes), "keys_queried": counting(0, load.Reads),
		"kvstore_available_bytes": figures.Available, "kvstore_free_bytes": figures.Free, "kvstore_inline_keys": 0,
		"kvstore_total_bytes": diskTotalBytes, "kvstore_total_nodes": 0, "kvstore_total_size": 0, "kvstore_used_bytes": figures.Used,
		"local_rate": fullLocalRate, "low_priority_queries": counter(0), "mutation_bytes": counting(0, load.WrittenBytes), "mutations": counting(0, load.Writes),
		"query_queue_max": 0, "stored_bytes": figures.Stored, "total_queries": counting(0, load.Reads),
	}
}

func createdText(ss *model.StorageServer) string {
	return ss.Created.UTC().Format("2006-01-02 15:04:05.000 +0000")
}

// durableVersion is the version that a storage server has on its disk.
func durableVersion(db *model.Database, load activity.StorageActivity) int64 {
	return max(0, db.VersionNow()-versionsIn(load.LagSeconds))
}

// machineStatus describes the machines of the processes that report.
func machineStatus(db *model.Database) Object {
	each := Object{}
	for _, s := range db.Members {
		if !reports(db, s) {
			continue
		}
		if known, again := each[s.Machine()].(Object); again {
			known["contributing_workers"] = known["contributing_workers"].(int) + 1
			continue
		}
		rate := Object{"hz": 0}
		machine := Object{
			"address": s.Address().Host, "contributing_workers": 1, "cpu": Object{"logical_core_utilization": 0.075},
			"excluded": false, "locality": textsOf(s.Localities()), "machine_id": s.Machine(),
			"memory":  Object{"committed_bytes": 1094803456, "free_bytes": 24181706752, "total_bytes": 25276510208},
			"network": Object{"megabits_received": rate, "megabits_sent": rate, "tcp_segments_retransmitted": rate},
		}
		if dc := s.Locality(fdb.LocalityDCID); dc != "" {
			machine["datacenter_id"] = dc
		}
		each[s.Machine()] = machine
	}
	return each
}

// clientStatus is empty right after a recovery: the clients have to find the new
// proxies first.
func clientStatus(db *model.Database, version fdb.Version) Object {
	const finding = 4500 * time.Millisecond
	if since := db.SinceRecovered(); since >= 0 && since < finding {
		return Object{"count": 0}
	}
	return clientsByVersion(db.Clients.Recent(db.Simulation.Now), version)
}

// clientsByVersion lists the clients by the version of their library.
func clientsByVersion(clients []model.Client, cluster fdb.Version) Object {
	byVersion := map[string][]any{}
	for _, s := range clients {
		byVersion[s.Version] = append(byVersion[s.Version], Object{"address": fdb.Address{Host: s.Host, Port: s.Port}.HostPort(), "log_group": "default"})
	}
	var versions []any
	for _, version := range slices.Sorted(maps.Keys(byVersion)) {
		connected := byVersion[version]
		v, err := fdb.ParseVersion(version)
		if err != nil {
			continue
		}
		entry := Object{
			"client_version": version, "connected_clients": connected, "count": len(connected),
			"protocol_version": model.ProtocolText(v), "source_version": model.SourceVersion(version),
			"max_protocol_clients": []any{}, "max_protocol_count": 0,
		}
		if v.ProtocolCompatible(cluster) {
			entry["max_protocol_clients"], entry["max_protocol_count"] = connected, len(connected)
		}
		versions = append(versions, entry)
	}
	return Object{"count": len(clients), "supported_versions": list(versions)}
}
