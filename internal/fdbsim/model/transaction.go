package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// ClientError is an error of the client library: its text and code are what
// fdbcli prints.
type ClientError struct {
	Text string
	Code int
}

func (e ClientError) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// The errors of the client library.
var (
	errTooOld        = ClientError{"Transaction is too old to perform reads or be committed", 1007}
	errNotCommitted  = ClientError{"Transaction not committed due to conflict with another transaction", 1020}
	ErrUnknownResult = ClientError{"Transaction may or may not have committed", 1021}
	ErrTimedOut      = ClientError{"Operation aborted because the transaction timed out", 1031}
	ErrLocked        = ClientError{"Database is locked", 1038}
	// ErrOptionValue is the answer to an option whose value is out of range.
	ErrOptionValue  = ClientError{"Option set with an invalid value", 2006}
	ErrIllegalRange = ClientError{"Key outside legal range", 2004}
	errInverted     = ClientError{"Range begin key larger than end key", 2005}
	// ErrNoModule is the answer to a read of a special key that no module has.
	ErrNoModule = ClientError{
		"Special key space range read does not intersect a module. Refer to the `special_key_space_relaxed' transaction option for more details.",
		2113,
	}
	errTooLarge      = ClientError{"Transaction exceeds byte limit", 2101}
	errKeyTooLarge   = ClientError{"Key length exceeds limit", 2102}
	errValueTooLarge = ClientError{"Value length exceeds limit", 2103}
	errNotWritable   = ClientError{
		"Special Key space is not allowed to write by default. Refer to the `special_key_space_enable_writes` transaction option for more details.",
		2114,
	}
	ErrSpecialAPI = ClientError{
		"Api call through special keys failed. For more information, call get on special key 0xff0xff/error_message to get a json string of the error message.",
		2117,
	}
	ErrUnknown = ClientError{"An unknown error occurred", 4000}
)

// Limits of the client library.
const (
	maxKeyBytes         = 10_000
	maxSystemKeyBytes   = 30_000
	maxValueBytes       = 100_000
	maxTransactionBytes = 10_000_000
)

// TransactionOptions are the transaction options that change what the model does.
type TransactionOptions struct {
	ReadSystem, AccessSystem, LockAware, ReadLockAware, SpecialWrites bool
	Timeout                                                           time.Duration
}

// Transaction is one transaction of a client.
type Transaction struct {
	Db      *Database
	Options TransactionOptions
	version int64 // read version, 0 before the first read
	reads   []keyspace.Range
	Writes  []keyspace.Mutation
	cache   map[string]keyspace.Pair // read before, by key
	Special []keyspace.Mutation
	Touched bool
}

// Begin starts a transaction.
func (db *Database) Begin(o TransactionOptions) *Transaction {
	return &Transaction{Db: db, Options: o, cache: map[string]keyspace.Pair{}}
}

// ReadVersion is the version that reads see. The database has to be available.
func (t *Transaction) ReadVersion() (int64, error) {
	if t.Db.IsLocked() && !t.Options.LockAware && !t.Options.ReadLockAware {
		return 0, ErrLocked
	}
	if t.version == 0 {
		t.version = t.Db.VersionNow()
		t.Db.count().started++
	}
	return t.version, nil
}

// expired reports whether the read version has become too old.
func (t *Transaction) expired() bool {
	return t.version != 0 && t.Db.VersionNow()-t.version > keyspace.TransactionLife
}

// MayRead reports whether the options allow the transaction to read a key.
func (t *Transaction) MayRead(key string) bool {
	return !strings.HasPrefix(key, "\xff") || t.Options.ReadSystem || t.Options.AccessSystem
}

func (t *Transaction) mayWrite(key string) bool {
	return !strings.HasPrefix(key, "\xff") || t.Options.AccessSystem
}

// Get reads one key, seeing the transaction's own writes.
func (t *Transaction) Get(key string) ([]byte, bool, error) {
	t.Touched = true
	if !t.MayRead(key) {
		return nil, false, ErrIllegalRange
	}
	if value, found, own := t.ownWrite(key); own {
		return value, found, nil
	}
	version, err := t.ReadVersion()
	if err != nil {
		return nil, false, err
	}
	if p, again := t.cache[key]; again {
		return p.Value, p.Key != "", nil
	}
	if t.expired() {
		return nil, false, errTooOld
	}
	value, found := t.Db.Keys.At(key, version)
	t.reads = append(t.reads, keyspace.Single(key))
	t.cache[key] = keyspace.Pair{Value: value}
	if found {
		t.cache[key] = keyspace.Pair{Key: key, Value: value}
	}
	t.counted([]keyspace.Pair{t.cache[key]})
	return value, found, nil
}

func (t *Transaction) ownWrite(key string) (value []byte, found, own bool) {
	for _, m := range slices.Backward(t.Writes) {
		if m.Clear != nil && keyspace.Single(key).Overlaps(*m.Clear) {
			return nil, false, true
		}
		if m.Clear == nil && m.Key == key {
			return m.Value, true, true
		}
	}
	return nil, false, false
}

// Scan reads up to limit keys of [begin, end).
func (t *Transaction) Scan(begin, end string, limit int) ([]keyspace.Pair, error) {
	t.Touched = true
	if !t.MayRead(begin) || (end > "\xff" && !t.MayRead(end)) {
		return nil, ErrIllegalRange
	}
	if begin > end {
		return nil, errInverted
	}
	version, err := t.ReadVersion()
	if err != nil {
		return nil, err
	}
	if t.expired() {
		return nil, errTooOld
	}
	t.reads = append(t.reads, keyspace.Range{Begin: begin, End: end})
	pairs := t.overlay(t.Db.Keys.RangeAt(begin, end, version), keyspace.Range{Begin: begin, End: end}, limit)
	t.counted(pairs)
	return pairs, nil
}

// counted counts a read of the database.
func (t *Transaction) counted(pairs []keyspace.Pair) {
	at := t.Db.count()
	at.reads++
	for _, p := range pairs {
		at.readBytes += int64(len(p.Key) + len(p.Value))
	}
}

// overlay lays the transaction's own writes over what it read.
func (t *Transaction) overlay(read []keyspace.Pair, over keyspace.Range, limit int) []keyspace.Pair {
	seen := map[string][]byte{}
	for _, p := range read {
		seen[p.Key] = p.Value
	}
	for _, m := range t.Writes {
		if m.Clear != nil {
			for key := range seen {
				if keyspace.Single(key).Overlaps(*m.Clear) {
					delete(seen, key)
				}
			}
		} else if keyspace.Single(m.Key).Overlaps(over) {
			seen[m.Key] = m.Value
		}
	}
	var pairs []keyspace.Pair
	for key, value := range seen {
		pairs = append(pairs, keyspace.Pair{Key: key, Value: value})
	}
	stable.Sort(pairs, func(a, b keyspace.Pair) int { return strings.Compare(a.Key, b.Key) })
	return pairs[:min(limit, len(pairs))]
}

// Set writes a key.
func (t *Transaction) Set(key string, value []byte) error {
	if err := t.checkWrite(key, value); err != nil {
		return err
	}
	t.Writes = append(t.Writes, keyspace.Mutation{Key: key, Value: value})
	return nil
}

// Clear removes the keys of a range.
func (t *Transaction) Clear(r keyspace.Range) error {
	if r.Begin > r.End {
		return errInverted
	}
	if err := t.checkWrite(r.Begin, nil); err != nil {
		return err
	}
	if r.End > "\xff" && !t.mayWrite(r.End) {
		return ErrIllegalRange
	}
	t.Writes = append(t.Writes, keyspace.Mutation{Clear: &r})
	return nil
}

func (t *Transaction) checkWrite(key string, value []byte) error {
	t.Touched = true
	limit := maxKeyBytes
	if t.Options.AccessSystem {
		limit = maxSystemKeyBytes
	}
	switch {
	case !t.mayWrite(key):
		return ErrIllegalRange
	case len(key) > limit:
		return errKeyTooLarge
	case len(value) > maxValueBytes:
		return errValueTooLarge
	}
	return nil
}

// Commit ends the transaction and returns the version, -1 when there was
// nothing to write.
func (t *Transaction) Commit() (int64, error) {
	if len(t.Writes) == 0 {
		return -1, nil
	}
	if t.Db.IsLocked() && !t.Options.LockAware {
		return 0, ErrLocked
	}
	if t.size() > maxTransactionBytes {
		return 0, errTooLarge
	}
	if t.expired() {
		return 0, errTooOld
	}
	if t.version != 0 && t.Db.Keys.Conflicts(t.reads, t.version) {
		t.Db.count().conflicted++
		return 0, errNotCommitted
	}
	lost, applied := t.Db.Faults.takeUnknownCommit()
	if lost && !applied {
		return 0, ErrUnknownResult
	}
	version := t.Db.Commit(t.Writes)
	if lost {
		return 0, ErrUnknownResult
	}
	return version, nil
}

func (t *Transaction) size() int {
	n := 0
	for _, m := range t.Writes {
		n += len(m.Key) + len(m.Value)
	}
	return n
}

// Commit writes without looking for conflicts: what the database's own tools do
// under their own rules.
func (db *Database) Commit(mutations []keyspace.Mutation) int64 {
	version := db.CommitVersion()
	db.counted(mutations)
	db.Keys.Apply(version, mutations)
	db.logForBackups(version, mutations)
	db.Simulation.Wake()
	return version
}

// count is where transactions are counted now.
func (db *Database) count() *counts { return db.meter.at(db.Simulation.Now) }

// counted counts a commit.
func (db *Database) counted(mutations []keyspace.Mutation) {
	at := db.count()
	at.committed++
	at.writes += int64(len(mutations))
	for _, m := range mutations {
		at.writtenBytes += int64(len(m.Key) + len(m.Value))
	}
}

// LockKey is where the lock of a database is stored.
const LockKey = "\xff/dbLocked"

// LockUID is the UID of the lock, "" while the database is not locked.
func (db *Database) LockUID() string {
	value, ok := db.Keys.Latest(LockKey)
	if !ok || len(value) < LockHeaderBytes {
		return ""
	}
	return string(value[LockHeaderBytes:])
}

// LockHeaderBytes is the length of what precedes the UID in the value of a lock.
const LockHeaderBytes = 10

// IsLocked reports whether the database keeps out transactions that are not lock-aware.
func (db *Database) IsLocked() bool { return db.LockUID() != "" }

// AsClientError is the error as fdbcli shows it.
func AsClientError(err error) (ClientError, bool) {
	var e ClientError
	return e, errors.As(err, &e)
}

// UIDBytes is the length of a lock UID.
const UIDBytes = 16

// SpecialWrite adds a write of a special key to the transaction. What it means
// is decided at the commit.
func (t *Transaction) SpecialWrite(m keyspace.Mutation) error {
	t.Touched = true
	if !t.Options.SpecialWrites {
		return errNotWritable
	}
	t.Special = append(t.Special, m)
	return nil
}
