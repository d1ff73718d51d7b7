package fdb

import (
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Upgrades returns the range of process groups announced for a version; end is
// exclusive.
func (k LockKeys) Upgrades(version string) (begin, end []byte) {
	return k.within("upgrades", version)
}

// AllUpgrades returns the range of process groups announced for any version.
func (k LockKeys) AllUpgrades() (begin, end []byte) { return k.within("upgrades") }

// Upgrade returns the key that announces that a process group can start in a
// version; its value is the group's ID.
func (k LockKeys) Upgrade(version, group string) []byte {
	return append(append(k.join("upgrades", version), '/'), group...)
}

// Maintenance returns the range of the process groups that restart during
// maintenance; end is exclusive.
func (k LockKeys) Maintenance() (begin, end []byte) { return k.within("maintenance") }

// UnderMaintenance returns the key of a process group that is about to restart
// during maintenance; its value is since when, see EncodeMaintenance.
func (k LockKeys) UnderMaintenance(group string) []byte {
	return append(append(k.join("maintenance"), '/'), group...)
}

// within returns the range of all keys below a path. The slash at its end separates
// the keys of "dc10" from those of "dc1".
func (k LockKeys) within(parts ...string) (begin, end []byte) {
	prefix := k.join(parts...)
	return append(slices.Clone(prefix), '/'), append(slices.Clone(prefix), '/'+1)
}

// LastPart returns the last element of a shared key: the process group's ID.
func LastPart(key []byte) string { return path.Base(string(key)) }

// AnnouncedVersion returns the version of an announcement's key.
func AnnouncedVersion(key []byte) string { return path.Base(path.Dir(string(key))) }

// maintenanceBytes is the length of a maintenance entry.
const maintenanceBytes = 8

// EncodeMaintenance returns the value of a maintenance entry: the time in Unix
// seconds as a little-endian integer of 64 bits, unlike the tuple of the lock.
func EncodeMaintenance(at time.Time) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(at.Unix())) //nolint:gosec // the bits are what counts
}

// DecodeMaintenance decodes a maintenance entry.
func DecodeMaintenance(value []byte) (time.Time, error) {
	if len(value) != maintenanceBytes {
		return time.Time{}, fmt.Errorf("decode maintenance entry: %s, must be %d", phrase.Count(len(value), "byte"), maintenanceBytes)
	}
	return time.Unix(int64(binary.LittleEndian.Uint64(value)), 0).UTC(), nil //nolint:gosec // the bits are what counts
}
