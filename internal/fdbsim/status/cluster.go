package status

import (
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/activity"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Cluster is the part of the document that the cluster controller makes.
// Without a readable configuration most of it is absent.
func Cluster(db *model.Database) Object {
	cluster := clusterWithoutProcesses(db)
	cluster["machines"] = Object{}
	if !collectsNoEvents(db) {
		cluster["machines"] = machineStatus(db)
	}
	if listsProcesses(db) {
		cluster["processes"] = processStatus(db)
	}
	return cluster
}

// clusterWithoutProcesses is that part without what it has of each process and machine.
func clusterWithoutProcesses(db *model.Database) Object {
	cluster := basicStatus(db)
	if db.Readable() {
		maps.Copy(cluster, fullStatus(db))
	} else {
		cluster["layers"] = Object{"_valid": false, "_error": "configurationMissing"}
		cluster["messages"] = unreadableMessages(db)
	}
	if collectsNoEvents(db) {
		omitEvents(cluster)
	}
	if !listsProcesses(db) {
		nameDeadline(cluster)
	}
	return cluster
}

// collectsNoEvents reports whether the cluster controller writes no trace events.
func collectsNoEvents(db *model.Database) bool {
	return db.Roles.Controller.Taken() && db.Roles.Controller.Server.Args.WithoutEvents
}

// listsProcesses reports whether a document has a list of processes. They are collected almost
// last: one that ends at its deadline has none.
func listsProcesses(db *model.Database) bool { return !db.Faults.StatusDeadline }

// nameDeadline adds the reason to the remark about what is missing.
func nameDeadline(cluster Object) {
	messages, _ := cluster["messages"].([]any)
	reason := Object{"description": fdb.ReasonDeadlineExceeded}
	for _, m := range messages {
		if m := m.(Object); m["name"] == fdb.MessageIncomplete {
			m["reasons"] = append(m["reasons"].([]any), reason)
			return
		}
	}
	cluster["messages"] = append(messages, incompleteMessage([]string{fdb.ReasonDeadlineExceeded}))
}

// omitEvents leaves out what is collected from trace events, as observed on 7.3.79 with
// --knob_min_trace_severity=20. The configuration is read from the database and stays.
func omitEvents(cluster Object) {
	for _, name := range []string{"recovery_state", "page_cache", "qos"} {
		delete(cluster, name)
	}
	cluster["data"] = Object{"team_trackers": []any{}}
	cluster["messages"] = []any{incompleteMessage([]string{
		"Cannot retrieve all process status information.", "Recovery Status unavailable.", "Unknown cache statistics.",
		"Unknown mutations, conflicts, and transactions state.", "Unknown performance state.",
	})}
}

// basicStatus is what is there in every state.
func basicStatus(db *model.Database) Object {
	version, _ := db.QuorumVersion()
	status := Object{
		"active_tss_count":                   0,
		"bounce_impact":                      bounceImpact(db),
		"clients":                            clientStatus(db, version),
		"cluster_controller_timestamp":       db.Simulation.Now.Unix(),
		"connection_string":                  db.Connection.String(),
		"datacenter_lag":                     Object{"seconds": 0, "versions": 0},
		"degraded_processes":                 0,
		"idempotency_ids":                    Object{},
		"incompatible_connections":           texts(db.Incompatible(version)),
		"lowest_compatible_protocol_version": lowestCompatible(version),
		"newest_protocol_version":            model.ProtocolText(version),
		"protocol_version":                   model.ProtocolText(version),
		"recovery_state":                     recoveryStatus(db),
		"version_epoch":                      Object{},
	}
	if db.Recovery.State != model.StateLockingState && db.Recovery.State != model.StateReadingState {
		status["generation"] = db.Recovery.Generation
	}
	return status
}

func bounceImpact(db *model.Database) Object {
	if db.Recovery.State == model.StateFullyRecovered && !db.Faults.BounceImpactLies {
		return Object{"can_clean_bounce": true}
	}
	return Object{"can_clean_bounce": false, "reason": fdb.ReasonNotFullyRecovered}
}

func lowestCompatible(v fdb.Version) string {
	if v.Minor == 0 {
		return model.ProtocolText(v)
	}
	v.Minor--
	v.Patch = 0
	return model.ProtocolText(v)
}

func recoveryStatus(db *model.Database) Object {
	status := Object{
		"name":                         db.Recovery.State,
		"description":                  model.StateDescriptions[db.Recovery.State],
		"seconds_since_last_recovered": -1,
	}
	version, _ := db.QuorumVersion()
	if since := db.SinceRecovered(); since >= 0 && version.HasRecoveryAge() {
		status["seconds_since_last_recovered"] = since.Seconds()
	}
	if db.Recovery.State != model.StateRecruiting {
		status["active_generations"] = max(1, len(db.Logs)-1)
	}
	return status
}

// reports is whether a process has sent its figures: the first come some
// seconds after it started.
func reports(db *model.Database, s *model.Process) bool {
	return s.Alive() && db.Simulation.Now.Sub(s.Started) >= firstReport && !db.Faults.PartialStatus && !s.Args.WithoutEvents
}

// firstReport is when a process first sends figures, and how often it goes on.
const firstReport = 5 * time.Second

// fullStatus is what a readable configuration adds.
func fullStatus(db *model.Database) Object {
	conf, now := db.Configuration(), activity.Of(db)
	status := Object{
		"active_primary_dc":            primaryName(db),
		"configuration":                configurationStatus(db, conf),
		"data":                         dataStatus(db),
		"database_available":           true,
		"database_lock_state":          lockStatus(db),
		"fault_tolerance":              faultTolerance(db),
		"full_replication":             fullyReplicated(db, conf),
		"idempotency_ids":              Object{"size_bytes": 0},
		"latency_probe":                latencyProbe(now),
		"layers":                       layersStatus(db),
		"logs":                         logStatus(db),
		"messages":                     readableMessages(db),
		"version_epoch":                Object{"enabled": false},
		"workload":                     workloadStatus(now),
		"cluster_controller_timestamp": db.Simulation.Now.Unix(),
	}
	if !cachesUnknown(db) {
		status["page_cache"] = Object{"log_hit_rate": 1, "storage_hit_rate": 1}
	}
	if !justRecruited(db) {
		status["qos"] = qosStatus(db, now)
	}
	if !db.Distribution.On {
		status["data_distribution_disabled"] = true
	}
	switch zone, end := db.Maintenance(); {
	case zone == model.IgnoreFailures:
		status["data_distribution_disabled_for_ss_failures"] = true
	case zone != "":
		status["maintenance_zone"] = zone
		status["maintenance_seconds_remaining"] = model.WholeSecondsLeft(db.MaintenanceSeconds(end))
	}
	return status
}

// justRecruited reports whether data distributor and ratekeeper have not looked
// around yet.
func justRecruited(db *model.Database) bool {
	const looking = 1800 * time.Millisecond
	return db.Simulation.Now.Sub(db.Distribution.Recruited) < looking
}

// primaryName is the data center at work.
func primaryName(db *model.Database) string {
	if db.Roles.PrimaryDC == "" && db.Roles.Controller.Taken() {
		return db.Roles.Controller.Server.Locality(fdb.LocalityDCID)
	}
	return db.Roles.PrimaryDC
}

func lockStatus(db *model.Database) Object {
	uid := db.LockUID()
	if uid == "" {
		return Object{"locked": false}
	}
	return Object{"locked": true, "lock_uid": fmt.Sprintf("%x", uid)}
}

func fullyReplicated(db *model.Database, conf model.Configuration) bool {
	for _, g := range db.DataGroups() {
		if conf.UsableRegions > 1 && g.Dc != "" && !db.ReplicatedIn(g.Dc, g.Policy) {
			return false
		}
	}
	return true
}
