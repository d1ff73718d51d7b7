package model

import (
	"encoding/binary"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
)

const (
	healthyZoneKey = "\xff\x02/healthyZone"
	// IgnoreFailures is the zone that stands for all of them.
	IgnoreFailures = "IgnoreSSFailures"
)

// Maintenance is the zone under maintenance and the version at which it ends;
// "" when there is none.
func (db *Database) Maintenance() (zone string, end int64) {
	stored, ok := db.Keys.Latest(healthyZoneKey)
	const header = len(versionedPrefix) + 4
	if !ok || len(stored) < header+8 {
		return "", 0
	}
	zone = string(stored[header : len(stored)-8])
	end = int64(binary.LittleEndian.Uint64(stored[len(stored)-8:])) //nolint:gosec // a version is positive
	if zone != IgnoreFailures && end <= db.VersionNow() {
		return "", 0
	}
	return zone, end
}

// MaintenanceSeconds is how long the maintenance goes on.
func (db *Database) MaintenanceSeconds(end int64) float64 {
	return float64(end-db.VersionNow()) / keyspace.VersionsPerSecond
}

// SetMaintenance puts a zone under maintenance.
func (db *Database) SetMaintenance(zone string, seconds float64) {
	end := db.VersionNow() + int64(seconds*keyspace.VersionsPerSecond)
	value := versionedPrefix + littleString(zone)
	db.Commit([]keyspace.Mutation{{Key: healthyZoneKey, Value: binary.LittleEndian.AppendUint64([]byte(value), uint64(end))}}) //nolint:gosec // a version is positive
}

// ClearMaintenance ends the maintenance.
func (db *Database) ClearMaintenance() {
	r := keyspace.Single(healthyZoneKey)
	db.Commit([]keyspace.Mutation{{Clear: &r}})
}

// UnderMaintenance reports whether failures in a zone are expected.
func (db *Database) UnderMaintenance(zone string) bool {
	current, _ := db.Maintenance()
	return current != "" && current == zone
}

// FailuresIgnored reports whether data distribution ignores every storage
// failure.
func (db *Database) FailuresIgnored() bool {
	zone, _ := db.Maintenance()
	return zone == IgnoreFailures
}

// IsSpecialZone reports whether the zone stands for all of them.
func IsSpecialZone(zone string) bool { return strings.EqualFold(zone, IgnoreFailures) }

// WholeSecondsLeft is the time left as FoundationDB shows it: a moment has
// always passed.
func WholeSecondsLeft(seconds float64) int {
	const moment = 0.001
	return int(max(0, seconds-moment))
}
