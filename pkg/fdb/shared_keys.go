package fdb

import (
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Upgrades is the range of what instances announced for a version; end is exclusive.
func (k LockKeys) Upgrades(version string) (begin, end []byte) {
	return k.within("upgrades", version)
}

// AllUpgrades is the range of what instances announced for any version.
func (k LockKeys) AllUpgrades() (begin, end []byte) { return k.within("upgrades") }

// Upgrade is the key that announces that a process group can start in a version; its
// value is the group's ID.
func (k LockKeys) Upgrade(version, group string) []byte {
	return append(append(k.join("upgrades", version), '/'), group...)
}

// Maintenance is the range of the notes of process groups that restart during
// maintenance; end is exclusive.
func (k LockKeys) Maintenance() (begin, end []byte) { return k.within("maintenance") }

// UnderMaintenance is the key that notes since when a process group is about to
// restart during maintenance; see EncodeMaintenance for its value.
func (k LockKeys) UnderMaintenance(group string) []byte {
	return append(append(k.join("maintenance"), '/'), group...)
}

// within is the range of all keys below a path. The slash at its end keeps the keys of
// "dc10" out of those of "dc1".
func (k LockKeys) within(parts ...string) (begin, end []byte) {
	prefix := k.join(parts...)
	return append(slices.Clone(prefix), '/'), append(slices.Clone(prefix), '/'+1)
}

// LastPart is the last element of a shared key: the process group's ID.
func LastPart(key []byte) string { return path.Base(string(key)) }

// AnnouncedVersion is the version of an announcement's key.
func AnnouncedVersion(key []byte) string { return path.Base(path.Dir(string(key))) }

// maintenanceBytes is the length of a maintenance note.
const maintenanceBytes = 8

// EncodeMaintenance is the value of a maintenance note: the time in Unix seconds as a
// little-endian integer of 64 bits, and no tuple as in the lock record.
func EncodeMaintenance(at time.Time) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(at.Unix())) //nolint:gosec // the bits are what counts
}

// DecodeMaintenance reads the value of a maintenance note.
func DecodeMaintenance(value []byte) (time.Time, error) {
	if len(value) != maintenanceBytes {
		return time.Time{}, fmt.Errorf("decoding maintenance note: %s, want %d", phrase.Count(len(value), "byte"), maintenanceBytes)
	}
	return time.Unix(int64(binary.LittleEndian.Uint64(value)), 0).UTC(), nil //nolint:gosec // the bits are what counts
}
