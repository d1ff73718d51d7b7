package fdbsim

import (
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// clusterStatus is the part of the document that the cluster controller makes.
// Without a readable configuration most of it is absent.
func (db *database) clusterStatus() object {
	cluster := db.basicStatus()
	if !db.readable() {
		cluster["layers"] = object{"_valid": false, "_error": "configurationMissing"}
		cluster["messages"] = db.unreadableMessages()
		return cluster
	}
	maps.Copy(cluster, db.fullStatus())
	return cluster
}

// basicStatus is what is there in every state.
func (db *database) basicStatus() object {
	version, _ := db.quorumVersion()
	status := object{
		"active_tss_count":                   0,
		"bounce_impact":                      db.bounceImpact(),
		"clients":                            db.clientStatus(version),
		"cluster_controller_timestamp":       db.w.now.Unix(),
		"connection_string":                  db.conn.String(),
		"datacenter_lag":                     object{"seconds": 0, "versions": 0},
		"degraded_processes":                 0,
		"idempotency_ids":                    object{},
		"incompatible_connections":           db.incompatible(version),
		"lowest_compatible_protocol_version": lowestCompatible(version),
		"machines":                           db.machineStatus(),
		"newest_protocol_version":            protocolText(version),
		"processes":                          db.processStatus(),
		"protocol_version":                   protocolText(version),
		"recovery_state":                     db.recoveryStatus(),
		"version_epoch":                      object{},
	}
	if db.recovery.state != stateLockingState && db.recovery.state != stateReadingState {
		status["generation"] = db.recovery.generation
	}
	return status
}

func (db *database) bounceImpact() object {
	if db.recovery.state == stateFullyRecovered {
		return object{"can_clean_bounce": true}
	}
	return object{"can_clean_bounce": false, "reason": "cluster hasn't fully recovered yet"}
}

func lowestCompatible(v fdb.Version) string {
	if v.Minor == 0 {
		return protocolText(v)
	}
	v.Minor--
	v.Patch = 0
	return protocolText(v)
}

func (db *database) recoveryStatus() object {
	status := object{
		"name":                         db.recovery.state,
		"description":                  stateDescriptions[db.recovery.state],
		"seconds_since_last_recovered": -1,
	}
	if since := db.sinceRecovered(); since >= 0 {
		status["seconds_since_last_recovered"] = since.Seconds()
	}
	if db.recovery.state != stateRecruiting {
		status["active_generations"] = max(1, len(db.logs)-1)
	}
	return status
}

// reports is whether a process has sent its figures: the first come some
// seconds after it started.
func (db *database) reports(s *server) bool {
	return s.alive() && db.w.now.Sub(s.started) >= firstReport && !db.faults.PartialStatus
}

// firstReport is when a process first sends figures, and how often it goes on.
const firstReport = 5 * time.Second

// fullStatus is what a readable configuration adds.
func (db *database) fullStatus() object {
	conf := db.configuration()
	status := object{
		"active_primary_dc":            db.primaryName(),
		"configuration":                db.configurationStatus(conf),
		"data":                         db.dataStatus(),
		"database_available":           true,
		"database_lock_state":          db.lockStatus(),
		"fault_tolerance":              db.faultTolerance(),
		"full_replication":             db.fullyReplicated(conf),
		"idempotency_ids":              object{"size_bytes": 0},
		"latency_probe":                latencyProbe(),
		"layers":                       object{"_valid": true},
		"logs":                         db.logStatus(),
		"messages":                     db.readableMessages(),
		"version_epoch":                object{"enabled": false},
		"workload":                     workloadStatus(),
		"cluster_controller_timestamp": db.w.now.Unix(),
	}
	if !db.cachesUnknown() {
		status["page_cache"] = object{"log_hit_rate": 1, "storage_hit_rate": 1}
	}
	if !db.justRecruited() {
		status["qos"] = qosStatus()
	}
	if !db.dist.on {
		status["data_distribution_disabled"] = true
	}
	switch zone, end := db.maintenance(); {
	case zone == ignoreFailures:
		status["data_distribution_disabled_for_ss_failures"] = true
	case zone != "":
		status["maintenance_zone"] = zone
		status["maintenance_seconds_remaining"] = wholeSecondsLeft(db.maintenanceSeconds(end))
	}
	return status
}

// justRecruited reports whether data distributor and ratekeeper have not looked
// around yet.
func (db *database) justRecruited() bool {
	const looking = 1800 * time.Millisecond
	return db.w.now.Sub(db.dist.recruited) < looking
}

// primaryName is the data centre at work.
func (db *database) primaryName() string {
	if db.crew.primaryDC == "" && db.crew.controller.taken() {
		return db.crew.controller.server.locality(fdb.LocalityDCID)
	}
	return db.crew.primaryDC
}

func (db *database) lockStatus() object {
	uid := db.lockUID()
	if uid == "" {
		return object{"locked": false}
	}
	return object{"locked": true, "lock_uid": fmt.Sprintf("%x", uid)}
}

func (db *database) fullyReplicated(conf configuration) bool {
	for _, g := range db.dataGroups() {
		if conf.usableRegions > 1 && g.dc != "" && !db.replicatedIn(g.dc, g.policy) {
			return false
		}
	}
	return true
}
