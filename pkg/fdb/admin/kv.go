package admin

import (
	"bytes"
	"errors"
)

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
