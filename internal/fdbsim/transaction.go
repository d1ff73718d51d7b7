package fdbsim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// clientError is an error of the client library: its text and code are what
// fdbcli prints.
type clientError struct {
	text string
	code int
}

func (e clientError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

var (
	errTooOld        = clientError{"Transaction is too old to perform reads or be committed", 1007}
	errNotCommitted  = clientError{"Transaction not committed due to conflict with another transaction", 1020}
	errUnknownResult = clientError{"Transaction may or may not have committed", 1021}
	errTimedOut      = clientError{"Operation aborted because the transaction timed out", 1031}
	errLocked        = clientError{"Database is locked", 1038}
	errIllegalRange  = clientError{"Key outside legal range", 2004}
	errInverted      = clientError{"Range begin key larger than end key", 2005}
	errTooLarge      = clientError{"Transaction exceeds byte limit", 2101}
	errKeyTooLarge   = clientError{"Key length exceeds limit", 2102}
	errValueTooLarge = clientError{"Value length exceeds limit", 2103}
	errNotWritable   = clientError{
		"Special Key space is not allowed to write by default. Refer to the `special_key_space_enable_writes` transaction option for more details.",
		2114,
	}
	errSpecialAPI = clientError{
		"Api call through special keys failed. For more information, call get on special key 0xff0xff/error_message to get a json string of the error message.",
		2117,
	}
	errUnknown = clientError{"An unknown error occurred", 4000}
)

// Limits of the client library.
const (
	maxKeyBytes         = 10_000
	maxSystemKeyBytes   = 30_000
	maxValueBytes       = 100_000
	maxTransactionBytes = 10_000_000
	// transactionLife is how many versions a read version stays usable.
	transactionLife = 5 * microsPerSecond
)

// txnOptions are the transaction options that change what the model does.
type txnOptions struct {
	readSystem, accessSystem, lockAware, readLockAware, specialWrites bool
	timeout                                                           time.Duration
}

// txn is one transaction of a client.
type txn struct {
	db      *database
	options txnOptions
	version int64 // read version, 0 before the first read
	reads   []keyRange
	writes  []mutation
	cache   map[string]pair // read before, by key
	special []mutation
	touched bool
}

func (db *database) begin(o txnOptions) *txn {
	return &txn{db: db, options: o, cache: map[string]pair{}}
}

// readVersion is the version that reads see. The database has to be available.
func (t *txn) readVersion() (int64, error) {
	if t.db.lockedAgainst(t.options.lockAware || t.options.readLockAware) {
		return 0, errLocked
	}
	if t.version == 0 {
		t.version = t.db.versionNow()
	}
	return t.version, nil
}

// expired reports whether the read version has become too old.
func (t *txn) expired() bool {
	return t.version != 0 && t.db.versionNow()-t.version > transactionLife
}

func (t *txn) mayRead(key string) bool {
	return !strings.HasPrefix(key, "\xff") || t.options.readSystem || t.options.accessSystem
}

func (t *txn) mayWrite(key string) bool {
	return !strings.HasPrefix(key, "\xff") || t.options.accessSystem
}

// get reads one key, seeing the transaction's own writes.
func (t *txn) get(key string) ([]byte, bool, error) {
	t.touched = true
	if !t.mayRead(key) {
		return nil, false, errIllegalRange
	}
	if value, found, own := t.ownWrite(key); own {
		return value, found, nil
	}
	version, err := t.readVersion()
	if err != nil {
		return nil, false, err
	}
	if p, again := t.cache[key]; again {
		return p.value, p.key != "", nil
	}
	if t.expired() {
		return nil, false, errTooOld
	}
	value, found := t.db.keys.at(key, version)
	t.reads = append(t.reads, singleKey(key))
	t.cache[key] = pair{value: value}
	if found {
		t.cache[key] = pair{key: key, value: value}
	}
	return value, found, nil
}

func (t *txn) ownWrite(key string) (value []byte, found, own bool) {
	for _, m := range slices.Backward(t.writes) {
		if m.clear != nil && singleKey(key).overlaps(*m.clear) {
			return nil, false, true
		}
		if m.clear == nil && m.key == key {
			return m.value, true, true
		}
	}
	return nil, false, false
}

// scan reads up to limit keys of [begin, end).
func (t *txn) scan(begin, end string, limit int) ([]pair, error) {
	t.touched = true
	if !t.mayRead(begin) || (end > "\xff" && !t.mayRead(end)) {
		return nil, errIllegalRange
	}
	if begin > end {
		return nil, errInverted
	}
	version, err := t.readVersion()
	if err != nil {
		return nil, err
	}
	if t.expired() {
		return nil, errTooOld
	}
	t.reads = append(t.reads, keyRange{begin, end})
	return t.overlay(t.db.keys.rangeAt(begin, end, version), keyRange{begin, end}, limit), nil
}

// overlay lays the transaction's own writes over what it read.
func (t *txn) overlay(read []pair, over keyRange, limit int) []pair {
	seen := map[string][]byte{}
	for _, p := range read {
		seen[p.key] = p.value
	}
	for _, m := range t.writes {
		if m.clear != nil {
			for key := range seen {
				if singleKey(key).overlaps(*m.clear) {
					delete(seen, key)
				}
			}
		} else if singleKey(m.key).overlaps(over) {
			seen[m.key] = m.value
		}
	}
	var pairs []pair
	for key, value := range seen {
		pairs = append(pairs, pair{key, value})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return pairs[:min(limit, len(pairs))]
}

// set writes a key.
func (t *txn) set(key string, value []byte) error {
	if err := t.checkWrite(key, value); err != nil {
		return err
	}
	t.writes = append(t.writes, mutation{key: key, value: value})
	return nil
}

// clear removes the keys of a range.
func (t *txn) clear(r keyRange) error {
	if r.begin > r.end {
		return errInverted
	}
	if err := t.checkWrite(r.begin, nil); err != nil {
		return err
	}
	if r.end > "\xff" && !t.mayWrite(r.end) {
		return errIllegalRange
	}
	t.writes = append(t.writes, mutation{clear: &r})
	return nil
}

func (t *txn) checkWrite(key string, value []byte) error {
	t.touched = true
	limit := maxKeyBytes
	if t.options.accessSystem {
		limit = maxSystemKeyBytes
	}
	switch {
	case !t.mayWrite(key):
		return errIllegalRange
	case len(key) > limit:
		return errKeyTooLarge
	case len(value) > maxValueBytes:
		return errValueTooLarge
	}
	return nil
}

// commit ends the transaction and returns the version, -1 when there was
// nothing to write.
func (t *txn) commit() (int64, error) {
	if len(t.writes) == 0 {
		return -1, nil
	}
	if t.db.lockedAgainst(t.options.lockAware) {
		return 0, errLocked
	}
	if t.size() > maxTransactionBytes {
		return 0, errTooLarge
	}
	if t.expired() {
		return 0, errTooOld
	}
	if t.version != 0 && t.db.keys.conflicts(t.reads, t.version) {
		return 0, errNotCommitted
	}
	lost, applied := t.db.faults.takeUnknownCommit()
	if lost && !applied {
		return 0, errUnknownResult
	}
	version := t.db.commit(t.writes)
	if lost {
		return 0, errUnknownResult
	}
	return version, nil
}

func (t *txn) size() int {
	n := 0
	for _, m := range t.writes {
		n += len(m.key) + len(m.value)
	}
	return n
}

// commit writes without looking for conflicts: what the database's own tools do
// under their own rules.
func (db *database) commit(mutations []mutation) int64 {
	version := db.commitVersion()
	db.keys.apply(version, mutations)
	db.logForBackups(version, mutations)
	db.w.wake()
	return version
}

const lockKey = "\xff/dbLocked"

// lockUID is the UID of the lock, "" while the database is not locked.
func (db *database) lockUID() string {
	value, ok := db.keys.latest(lockKey)
	if !ok || len(value) < lockHeaderBytes {
		return ""
	}
	return string(value[lockHeaderBytes:])
}

const lockHeaderBytes = 10

func (db *database) lockedAgainst(aware bool) bool { return !aware && db.lockUID() != "" }

// asClientError is the error as fdbcli shows it.
func asClientError(err error) (clientError, bool) {
	var e clientError
	return e, errors.As(err, &e)
}
