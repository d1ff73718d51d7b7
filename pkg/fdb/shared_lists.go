package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
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
