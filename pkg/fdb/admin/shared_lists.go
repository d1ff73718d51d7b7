package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func listReads(keys fdb.LockKeys) []Read {
	reads := []Read{ReadRange(keys.AllAddresses())}
	for _, list := range fdb.SharedLists() {
		reads = append(reads, ReadRange(keys.List(list)))
	}
	return reads
}

// readLists reads every entry or fails: without one of them a run could act on a
// process group too early.
func (s *Shared) readLists(v View, keys fdb.LockKeys) error {
	s.Lists = map[fdb.SharedList]map[fdb.Member]time.Time{}
	for _, list := range fdb.SharedLists() {
		begin, end := keys.List(list)
		s.Lists[list] = map[fdb.Member]time.Time{}
		for _, p := range v.Within(begin, end) {
			m, keyErr := keys.MemberAt(begin, p.Key)
			since, err := fdb.DecodeListed(p.Value)
			if err := errors.Join(keyErr, err); err != nil {
				return err
			}
			s.Lists[list][m] = since
		}
	}
	return s.readAddresses(v, keys)
}

func (s *Shared) readAddresses(v View, keys fdb.LockKeys) error {
	s.Addresses = map[fdb.Member][]string{}
	begin, end := keys.AllAddresses()
	for _, p := range v.Within(begin, end) {
		m, keyErr := keys.MemberAt(begin, p.Key)
		addresses, err := fdb.DecodeAddresses(p.Value)
		if err := errors.Join(keyErr, err); err != nil {
			return err
		}
		s.Addresses[m] = addresses
	}
	return nil
}

// ListChange is a change of one owner's entries in the shared lists.
type ListChange struct {
	// Instance is the owner's spec.processGroupIDPrefix; may be empty.
	Instance string
	// At is the time of added entries. Existing ones keep their time.
	At time.Time
	// Add and Remove are process group IDs by list.
	Add, Remove map[fdb.SharedList][]string
	// Addresses are the bare IPs of process groups; none removes existing ones.
	Addresses map[string][]string
}

// ChangeLists changes an owner's own entries in one transaction. Entries of other
// owners are neither read nor changed.
func ChangeLists(ctx context.Context, kv KV, keys fdb.LockKeys, c ListChange) error {
	if err := c.check(); err != nil {
		return err
	}
	err := settled(ctx, kv, c.reads(keys), func(v View) ([]Mutation, error) { return c.mutations(v, keys), nil })
	if err != nil {
		return fmt.Errorf("change the shared lists: %w", err)
	}
	return nil
}

// check rejects a change that adds a group to a list and removes it at once.
func (c ListChange) check() error {
	for list, groups := range c.Add {
		for _, group := range groups {
			if group == "" || slices.Contains(c.Remove[list], group) {
				return &Error{Kind: KindBadInput, Operation: "changing the shared lists", Detail: fmt.Sprintf("%q in %s", group, list)}
			}
		}
	}
	return nil
}

func (c ListChange) reads(keys fdb.LockKeys) []Read {
	var reads []Read
	for _, list := range fdb.SharedLists() {
		if len(c.Add[list]) > 0 || len(c.Remove[list]) > 0 {
			reads = append(reads, ReadRange(keys.ListOf(list, c.Instance)))
		}
	}
	if len(c.Addresses) > 0 {
		reads = append(reads, ReadRange(keys.AddressesOf(c.Instance)))
	}
	return reads
}

// mutations returns the remaining mutations; none if all were made before.
func (c ListChange) mutations(v View, keys fdb.LockKeys) []Mutation {
	var mutations []Mutation
	for _, list := range fdb.SharedLists() {
		for _, group := range c.Add[list] {
			key := keys.Listed(list, fdb.Member{Instance: c.Instance, Group: group})
			if _, there := v.Value(key); !there {
				mutations = append(mutations, Set(key, fdb.EncodeListed(c.At)))
			}
		}
		for _, group := range c.Remove[list] {
			mutations = append(mutations, clearWhereThere(v, keys.Listed(list, fdb.Member{Instance: c.Instance, Group: group}))...)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(c.Addresses)) {
		key, want := keys.Addresses(fdb.Member{Instance: c.Instance, Group: group}), c.Addresses[group]
		if len(want) == 0 {
			mutations = append(mutations, clearWhereThere(v, key)...)
			continue
		}
		if value, there := v.Value(key); !there || string(value) != string(fdb.EncodeAddresses(want)) {
			mutations = append(mutations, Set(key, fdb.EncodeAddresses(want)))
		}
	}
	return mutations
}

func clearWhereThere(v View, key []byte) []Mutation {
	if _, there := v.Value(key); !there {
		return nil
	}
	return []Mutation{Clear(key)}
}

// ClearRestarts removes the restart entries of process groups of any owner, because
// they are about to restart. Entries of other groups are not changed.
func ClearRestarts(ctx context.Context, kv KV, keys fdb.LockKeys, members []fdb.Member) error {
	reads := []Read{ReadRange(keys.List(fdb.PendingForRestart)), ReadRange(keys.List(fdb.ReadyForRestart))}
	err := settled(ctx, kv, reads, func(v View) ([]Mutation, error) {
		var mutations []Mutation
		for _, m := range members {
			for _, list := range []fdb.SharedList{fdb.PendingForRestart, fdb.ReadyForRestart} {
				mutations = append(mutations, clearWhereThere(v, keys.Listed(list, m))...)
			}
		}
		return mutations, nil
	})
	if err != nil {
		return fmt.Errorf("clear announced restarts: %w", err)
	}
	return nil
}

// DatabaseLockedKey has a value while a restore, disaster recovery or a user has
// locked the database. Reading it in a transaction detects a lock that is set
// concurrently.
var DatabaseLockedKey = []byte("\xff/dbLocked")

// Limits of the database for keys that fdbcli can write, and for values.
const (
	maxKeyBytes   = 10_000
	maxValueBytes = 100_000
)

// Read is one key, or all keys of a range.
type Read struct {
	Begin []byte
	// End is exclusive; nil reads the single key Begin.
	End []byte
}

// ReadKey reads one key.
func ReadKey(key []byte) Read { return Read{Begin: key} }

// ReadRange reads all keys from begin up to, but without, end.
func ReadRange(begin, end []byte) Read { return Read{Begin: begin, End: end} }

func (r Read) isRange() bool { return r.End != nil }

// View is what a transaction read.
type View struct {
	pairs []Pair
}

// NewView returns a view of these pairs; for implementations of KV.
func NewView(pairs []Pair) View { return View{pairs: pairs} }

// Value returns a key's value; found is false when the key is absent or was not
// read.
func (v View) Value(key []byte) (value []byte, found bool) {
	for _, p := range v.pairs {
		if bytes.Equal(p.Key, key) {
			return p.Value, true
		}
	}
	return nil, false
}

// Within returns the pairs from begin up to, but without, end, in the order of
// keys.
func (v View) Within(begin, end []byte) []Pair {
	var pairs []Pair
	for _, p := range v.pairs {
		if bytes.Compare(p.Key, begin) >= 0 && bytes.Compare(p.Key, end) < 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// Mutation sets or clears a key, or clears a range.
type Mutation struct {
	Key []byte
	// Value is nil for a clear; an empty value is not nil.
	Value []byte
	// End makes the clear one of the range from Key up to, but without, End.
	End []byte
}

// Set gives key a value.
func Set(key, value []byte) Mutation {
	return Mutation{Key: key, Value: append([]byte{}, value...)}
}

// Clear removes key.
func Clear(key []byte) Mutation { return Mutation{Key: key} }

// ClearRange removes all keys from begin up to, but without, end.
func ClearRange(begin, end []byte) Mutation { return Mutation{Key: begin, End: end} }

var (
	errNoKey         = errors.New("mutation without a key")
	errKeyTooLong    = errors.New("key is too long")
	errValueTooLong  = errors.New("value is too long")
	errInvertedRange = errors.New("range ends before it begins")
)

// check rejects a mutation that FoundationDB would reject, since in a session that
// would happen halfway.
func (m Mutation) check() error {
	switch {
	case len(m.Key) == 0:
		return errNoKey
	case len(m.Key) > maxKeyBytes, len(m.End) > maxKeyBytes:
		return errKeyTooLong
	case len(m.Value) > maxValueBytes:
		return errValueTooLong
	case m.End != nil && bytes.Compare(m.Key, m.End) > 0:
		return errInvertedRange
	default:
		return nil
	}
}

// command returns the mutation as an fdbcli command.
func (m Mutation) command() string {
	switch {
	case m.Value != nil:
		return command("set", string(m.Key), string(m.Value))
	case m.End != nil:
		return command("clearrange", string(m.Key), string(m.End))
	default:
		return command("clear", string(m.Key))
	}
}
