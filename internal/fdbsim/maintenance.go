package fdbsim

import (
	"encoding/binary"
	"strings"
)

const (
	healthyZoneKey = "\xff\x02/healthyZone"
	// ignoreFailures is the zone that stands for all of them.
	ignoreFailures = "IgnoreSSFailures"
)

// maintenance is the zone under maintenance and the version at which it ends;
// "" when there is none.
func (db *database) maintenance() (zone string, end int64) {
	stored, ok := db.keys.latest(healthyZoneKey)
	const header = len(versionedPrefix) + 4
	if !ok || len(stored) < header+8 {
		return "", 0
	}
	zone = string(stored[header : len(stored)-8])
	end = int64(binary.LittleEndian.Uint64(stored[len(stored)-8:])) //nolint:gosec // a version is positive
	if zone != ignoreFailures && end <= db.versionNow() {
		return "", 0
	}
	return zone, end
}

// maintenanceSeconds is how long the maintenance goes on.
func (db *database) maintenanceSeconds(end int64) float64 {
	return float64(end-db.versionNow()) / microsPerSecond
}

func (db *database) setMaintenance(zone string, seconds float64) {
	end := db.versionNow() + int64(seconds*microsPerSecond)
	value := versionedPrefix + littleString(zone)
	db.commit([]mutation{{key: healthyZoneKey, value: binary.LittleEndian.AppendUint64([]byte(value), uint64(end))}}) //nolint:gosec // a version is positive
}

func (db *database) clearMaintenance() {
	r := singleKey(healthyZoneKey)
	db.commit([]mutation{{clear: &r}})
}

// underMaintenance reports whether failures in a zone are expected.
func (db *database) underMaintenance(zone string) bool {
	current, _ := db.maintenance()
	return current != "" && current == zone
}

// failuresIgnored reports whether data distribution ignores every storage
// failure.
func (db *database) failuresIgnored() bool {
	zone, _ := db.maintenance()
	return zone == ignoreFailures
}

func isSpecialZone(zone string) bool { return strings.EqualFold(zone, ignoreFailures) }
