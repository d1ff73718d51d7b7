package fdbsim

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// restore is the last restore of a tag. It stays known when it is over.
type restore struct {
	tag, uid, url string
	state         string
	version       int64
	whole         bool // all keys, of the system too
	ranges        []keyRange
	addPrefix     string
	removePrefix  string

	pairs     []pair // what is to be written
	written   int
	bytes     int64
	total     int64
	files     int
	first     int64 // first consistent version
	abortedAt time.Time
	looks     int // of agents, while it is queued
}

// looksBeforeStart is how often agents look before they take up a restore.
const looksBeforeStart = 4

// The words for the states of a restore. The first is misspelt there, too.
const (
	restoreNone      = "unitialized"
	restoreQueued    = "queued"
	restoreStarting  = "starting"
	restoreRunning   = "running"
	restoreCompleted = "completed"
	restoreAborted   = "aborted"
)

func (r *restore) runnable() bool {
	return r != nil && (r.state == restoreQueued || r.state == restoreStarting || r.state == restoreRunning)
}

func (r *restore) stateText() string {
	if r == nil {
		return restoreNone
	}
	return r.state
}

func (db *database) restoreOf(tag string) *restore {
	for _, r := range db.restores {
		if r.tag == tag {
			return r
		}
	}
	return nil
}

// runnableRestore is the restore that agents work on; nil when there is none.
func (db *database) runnableRestore() *restore {
	for _, r := range db.restores {
		if r.runnable() {
			return r
		}
	}
	return nil
}

// queue adds a restore, for agents to find, and locks the database.
func (db *database) queue(r *restore) {
	r.uid, r.state = db.w.hex(2*uidBytes), restoreQueued
	db.restores = slices.DeleteFunc(db.restores, func(o *restore) bool { return o.tag == r.tag })
	db.restores = append(db.restores, r)
	slices.SortFunc(db.restores, func(a, b *restore) int { return strings.Compare(a.tag, b.tag) })
	if raw, err := hex.DecodeString(r.uid); err == nil {
		db.commit([]mutation{{key: lockKey, value: append(make([]byte, lockHeaderBytes), raw...)}})
	}
	db.wakeBackups()
}

// abort ends a restore and unlocks the database, with what was written so far in
// it.
func (db *database) abort(r *restore) {
	if r.state == restoreRunning {
		r.abortedAt = db.w.now
	}
	r.state = restoreAborted
	db.unlockAfter(r)
}

func (db *database) unlockAfter(r *restore) {
	if hex.EncodeToString([]byte(db.lockUID())) == r.uid {
		gone := singleKey(lockKey)
		db.commit([]mutation{{clear: &gone}})
	}
}

// workOnRestore is one round of the agents.
func (db *database) workOnRestore(r *restore) {
	switch r.state {
	case restoreQueued:
		if r.looks++; r.looks >= looksBeforeStart {
			r.state = restoreStarting
		}
	case restoreStarting:
		db.prepare(r)
	case restoreRunning:
		db.write(r)
	}
}

// prepare finds what is to be written. A store that is gone keeps the restore
// where it is.
func (db *database) prepare(r *restore) {
	c := db.w.stores.containerAt(r.url)
	if c == nil {
		return
	}
	run := c.runFor(r.version)
	if run == nil {
		return
	}
	for _, p := range run.contents(r.version) {
		if key, wanted := r.target(p.key); wanted {
			r.pairs = append(r.pairs, pair{key, p.value})
		}
	}
	for _, s := range run.snapshots {
		r.total += s.bytes
	}
	r.first, r.files, r.state = run.snapshots[0].end, 1+len(r.ranges), restoreRunning
}

// target is where a key of the backup is written to.
func (r *restore) target(key string) (string, bool) {
	inside := slices.ContainsFunc(r.ranges, func(k keyRange) bool { return k.begin <= key && key < k.end })
	if !inside {
		return "", false
	}
	return r.addPrefix + strings.TrimPrefix(key, r.removePrefix), true
}

// write writes as much as agents do in one round.
func (db *database) write(r *restore) {
	var mutations []mutation
	for room := db.paceOfCopies(); r.written < len(r.pairs) && room > 0; r.written++ {
		p := r.pairs[r.written]
		mutations = append(mutations, mutation{key: p.key, value: p.value})
		room -= int64(len(p.key) + len(p.value))
		r.bytes += int64(len(p.key) + len(p.value))
	}
	if len(mutations) > 0 {
		db.commit(mutations)
	}
	if r.written == len(r.pairs) {
		r.state = restoreCompleted
		db.unlockAfter(r)
	}
}

// blocks is how many blocks a restore consists of, and how many are written.
func (r *restore) blocks() (done, all int64) {
	if r == nil || r.total == 0 {
		return 0, 0
	}
	all = r.total/blockSize + 1
	if r.state == restoreCompleted {
		return all, all
	}
	return all * int64(r.written) / int64(max(1, len(r.pairs))), all
}

// progressLine is a restore in one line, without what was asked for.
func (db *database) progressLine(r *restore) string {
	if r == nil {
		r = &restore{state: restoreNone, uid: strings.Repeat("0", 2*uidBytes)}
	}
	done, all := r.blocks()
	busy, current := int64(0), int64(-1)
	switch {
	case r.state == restoreCompleted:
		current = r.version
	case r.state == restoreRunning:
		current = r.first
		if r.written > 0 {
			busy = all - done
		}
	case !r.abortedAt.IsZero():
		busy = all - done
	}
	failure := "None"
	if !r.abortedAt.IsZero() {
		failure = fmt.Sprintf("''Task execution stopped due to timeout, abort, or completion by another worker' on 'restore_range_data'' %ds ago.\n",
			int64(db.w.now.Sub(r.abortedAt).Seconds()))
	}
	return fmt.Sprintf("Tag: %s  UID: %s  State: %s  Blocks: %d/%d  BlocksInProgress: %d  Files: %d  BytesWritten: %d  "+
		"CurrentVersion: %d FirstConsistentVersion: %d  ApplyVersionLag: 0  LastError: %s",
		r.tag, r.uid, r.state, done, all, busy, r.files, r.bytes, current, r.first, failure)
}

// systemRanges are the keys of the system that a whole restore brings back.
var systemRanges = []keyRange{
	{"\xff\x02/blobRange/", "\xff\x02/blobRange0"},
	{"\xff/metacluster/clusterRegistration", "\xff/metacluster/clusterRegistration\x00"},
	{"\xff/tagQuota/", "\xff/tagQuota0"},
	{"\xff/tenant/", "\xff/tenant0"},
}

// statusLine is a restore in one line.
func (db *database) statusLine(r *restore) string {
	shown := restore{ranges: []keyRange{{}}}
	if r != nil {
		shown = *r
	}
	ranges := shown.ranges
	if shown.whole {
		ranges = append(slices.Clone(ranges), systemRanges...)
	}
	var line strings.Builder
	line.WriteString(db.progressLine(r) + "  URL: " + shown.url)
	for _, k := range ranges {
		fmt.Fprintf(&line, "  Range: '%s'-'%s'", printable(k.begin), printable(k.end))
	}
	return line.String() + fmt.Sprintf("  AddPrefix: '%s'  RemovePrefix: '%s'  Version: %d", printable(shown.addPrefix), printable(shown.removePrefix), shown.version)
}
