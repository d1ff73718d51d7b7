package fdb

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// SharedList names one of the lists by which the control-plane instances of a
// database exclude, restart and include process groups in one common action. The
// value of an entry is since when.
type SharedList string

// The shared lists. Pending process groups require the action; ready ones may have it
// now, as decided by their control-plane instance.
const (
	PendingForRemoval   SharedList = "pendingForRemoval"
	PendingForExclusion SharedList = "pendingForExclusion"
	PendingForInclusion SharedList = "pendingForInclusion"
	PendingForRestart   SharedList = "pendingForRestart"
	ReadyForExclusion   SharedList = "readyForExclusion"
	ReadyForInclusion   SharedList = "readyForInclusion"
	ReadyForRestart     SharedList = "readyForRestart"
)

// processAddresses is the path of the addresses of listed process groups.
const processAddresses = "processAddresses"

// SharedLists returns all shared lists, ordered by name.
func SharedLists() []SharedList {
	return []SharedList{
		PendingForExclusion, PendingForInclusion, PendingForRemoval, PendingForRestart,
		ReadyForExclusion, ReadyForInclusion, ReadyForRestart,
	}
}

// Member is a process group of one of the control-plane instances of a
// database.
type Member struct {
	// Instance is the spec.processGroupIDPrefix of the group's cluster; may be empty.
	Instance string `json:"instance,omitempty"`
	// Group is the process group's ID.
	Group string `json:"group"`
}

// Compare orders members by prefix and group.
func (m Member) Compare(other Member) int {
	if order := strings.Compare(m.Instance, other.Instance); order != 0 {
		return order
	}
	return strings.Compare(m.Group, other.Group)
}

// IsNamedForIt reports whether the group's ID has the member's prefix, so that it cannot
// belong to a control-plane instance with another one.
func (m Member) IsNamedForIt() bool {
	return m.Instance != "" && strings.HasPrefix(m.Group, m.Instance+"-")
}

// String returns the group's ID, which begins with its prefix.
func (m Member) String() string { return m.Group }

// List returns the range of all entries of a list; end is exclusive.
func (k LockKeys) List(list SharedList) (begin, end []byte) { return k.within(string(list)) }

// ListOf returns the range of the entries of one owner ID. For an empty owner ID
// that is the whole list, of which only keys without another part are its own.
func (k LockKeys) ListOf(list SharedList, instance string) (begin, end []byte) {
	return k.within(string(list), instance)
}

// AddressesOf returns the range of the addresses of one owner ID's groups, as
// ListOf.
func (k LockKeys) AddressesOf(instance string) (begin, end []byte) {
	return k.within(processAddresses, instance)
}

// Listed returns the key of a group's entry; see EncodeListed for its value. Groups
// without an owner ID are directly below the list.
func (k LockKeys) Listed(list SharedList, m Member) []byte {
	return append(append(k.join(string(list), m.Instance), '/'), m.Group...)
}

// AllAddresses returns the range of the addresses of all groups; end is exclusive.
func (k LockKeys) AllAddresses() (begin, end []byte) { return k.within(processAddresses) }

// Addresses returns the key of a group's addresses; see EncodeAddresses for its
// value.
func (k LockKeys) Addresses(m Member) []byte { return k.Listed(processAddresses, m) }

// MemberAt returns the process group that a key of one of the ranges belongs
// to.
func (k LockKeys) MemberAt(begin, key []byte) (Member, error) {
	below, found := strings.CutPrefix(string(key), string(begin))
	instance, group := path.Split(below)
	if !found || group == "" {
		return Member{}, fmt.Errorf("no process group in key %q", key)
	}
	return Member{Instance: strings.TrimSuffix(instance, "/"), Group: group}, nil
}

// EncodeListed returns the value of an entry: a tuple of the time in Unix
// seconds.
func EncodeListed(since time.Time) []byte { return Tuple{since.Unix()}.Pack() }

// DecodeListed decodes the value of an entry.
func DecodeListed(value []byte) (time.Time, error) {
	t, err := UnpackTuple(value)
	if err != nil {
		return time.Time{}, fmt.Errorf("decode list entry: %w", err)
	}
	if len(t) == 0 {
		return time.Time{}, errors.New("decode list entry: empty tuple")
	}
	seconds, ok := t[0].(int64)
	if !ok {
		return time.Time{}, fmt.Errorf("decode list entry: element of type %T", t[0])
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// EncodeAddresses returns the value of a group's addresses: a JSON array of bare
// IPs.
func EncodeAddresses(addresses []string) []byte {
	value, err := json.Marshal(addresses)
	if err != nil {
		panic(err) // strings are always JSON
	}
	return value
}

// DecodeAddresses decodes the value of a group's addresses.
func DecodeAddresses(value []byte) ([]string, error) {
	var addresses []string
	if err := json.Unmarshal(value, &addresses); err != nil {
		return nil, fmt.Errorf("decode addresses: %w", err)
	}
	return addresses, nil
}

// Denial is the user who added a control-plane instance to the deny list, with time
// and reason. The list itself cannot store it, since the operator reads an entry's
// value as the owner ID.
type Denial struct {
	// By is a user, "user@host", or the resource whose spec has the entry.
	By string `json:"by"`
	// At is the time, by the clock of the writer.
	At time.Time `json:"at"`
	// Reason is empty if none was given.
	Reason string `json:"reason,omitempty"`
}

// DenialNote returns the key of the Denial of an owner. It is outside of the deny list,
// where the operator does not read.
func (k LockKeys) DenialNote(owner string) []byte {
	begin, _ := k.DenialNotes()
	return append(begin, owner...)
}

// DenialNotes returns the range of all Denials; end is exclusive.
func (k LockKeys) DenialNotes() (begin, end []byte) { return k.within("kubectl-fdb", "denied") }

// Encode returns the value of a Denial.
func (d Denial) Encode() ([]byte, error) {
	d.At = d.At.UTC().Truncate(time.Second)
	value, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode denial: %w", err)
	}
	return value, nil
}

// DecodeDenial decodes a Denial; ok is false for an invalid value.
func DecodeDenial(value []byte) (d Denial, ok bool) {
	err := json.Unmarshal(value, &d)
	return d, err == nil && d.By != "" && !d.At.IsZero()
}

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
