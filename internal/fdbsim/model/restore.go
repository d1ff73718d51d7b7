package model

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// Restore is the last restore of a tag. It stays known when it is over.
type Restore struct {
	Tag, UID, URL string
	State         string
	Version       int64
	Whole         bool // all keys, those of the system included
	Ranges        []keyspace.Range
	AddPrefix     string
	RemovePrefix  string

	pairs     []keyspace.Pair // what is to be written
	Written   int
	Bytes     int64
	total     int64
	Files     int
	First     int64 // first consistent version
	AbortedAt time.Time
	polls     int // of agents, while it is queued
}

// pollsBeforeStart is how often agents poll for work before they start a restore.
const pollsBeforeStart = 4

// The words for the states of a restore. The first is misspelled there, too.
const (
	RestoreUnknown   = "unitialized"
	restoreQueued    = "queued"
	restoreStarting  = "starting"
	RestoreRunning   = "running"
	RestoreCompleted = "completed"
	restoreAborted   = "aborted"
)

// Runnable reports whether agents have work to do on the restore.
func (r *Restore) Runnable() bool {
	return r != nil && (r.State == restoreQueued || r.State == restoreStarting || r.State == RestoreRunning)
}

// StateText is the word for the state; a missing restore has one as well.
func (r *Restore) StateText() string {
	if r == nil {
		return RestoreUnknown
	}
	return r.State
}

// RestoreOf is the last restore of a tag, nil when there was none.
func (db *Database) RestoreOf(tag string) *Restore {
	for _, r := range db.Restores {
		if r.Tag == tag {
			return r
		}
	}
	return nil
}

// runnableRestore is the restore that agents work on; nil when there is none.
func (db *Database) runnableRestore() *Restore {
	for _, r := range db.Restores {
		if r.Runnable() {
			return r
		}
	}
	return nil
}

// Queue adds a restore, for agents to find, and locks the database.
func (db *Database) Queue(r *Restore) {
	r.UID, r.State = db.Simulation.Hex(2*UIDBytes), restoreQueued
	db.Restores = slices.DeleteFunc(db.Restores, func(o *Restore) bool { return o.Tag == r.Tag })
	db.Restores = append(db.Restores, r)
	slices.SortFunc(db.Restores, func(a, b *Restore) int { return strings.Compare(a.Tag, b.Tag) })
	if raw, err := hex.DecodeString(r.UID); err == nil {
		db.Commit([]keyspace.Mutation{{Key: LockKey, Value: append(make([]byte, LockHeaderBytes), raw...)}})
	}
	db.wakeBackups()
}

// Abort ends a restore and unlocks the database, with what was written so far in
// it.
func (db *Database) Abort(r *Restore) {
	if r.State == RestoreRunning {
		r.AbortedAt = db.Simulation.Now
	}
	r.State = restoreAborted
	db.unlockAfter(r)
}

func (db *Database) unlockAfter(r *Restore) {
	if hex.EncodeToString([]byte(db.LockUID())) == r.UID {
		removed := keyspace.Single(LockKey)
		db.Commit([]keyspace.Mutation{{Clear: &removed}})
	}
}

// workOnRestore is one round of the agents.
func (db *Database) workOnRestore(r *Restore) {
	switch r.State {
	case restoreQueued:
		if r.polls++; r.polls >= pollsBeforeStart {
			r.State = restoreStarting
		}
	case restoreStarting:
		db.prepare(r)
	case RestoreRunning:
		db.write(r)
	}
}

// prepare finds what is to be written. An unreachable store stops the restore
// where it is.
func (db *Database) prepare(r *Restore) {
	c := db.Simulation.Stores.At(r.URL)
	if c == nil {
		return
	}
	run := c.RunFor(r.Version)
	if run == nil {
		return
	}
	for _, p := range run.Contents(r.Version) {
		if key, desired := r.target(p.Key); desired {
			r.pairs = append(r.pairs, keyspace.Pair{Key: key, Value: p.Value})
		}
	}
	for _, s := range run.Snapshots {
		r.total += s.Bytes
	}
	r.First, r.Files, r.State = run.Snapshots[0].End, 1+len(r.Ranges), RestoreRunning
}

// target is where a key of the backup is written to.
func (r *Restore) target(key string) (string, bool) {
	inside := slices.ContainsFunc(r.Ranges, func(k keyspace.Range) bool { return k.Begin <= key && key < k.End })
	if !inside {
		return "", false
	}
	return r.AddPrefix + strings.TrimPrefix(key, r.RemovePrefix), true
}

// write writes as much as agents do in one round.
func (db *Database) write(r *Restore) {
	var mutations []keyspace.Mutation
	for room := db.paceOfCopies(); r.Written < len(r.pairs) && room > 0; r.Written++ {
		p := r.pairs[r.Written]
		mutations = append(mutations, keyspace.Mutation{Key: p.Key, Value: p.Value})
		room -= int64(len(p.Key) + len(p.Value))
		r.Bytes += int64(len(p.Key) + len(p.Value))
	}
	if len(mutations) > 0 {
		db.Commit(mutations)
	}
	if r.Written == len(r.pairs) {
		r.State = RestoreCompleted
		db.unlockAfter(r)
	}
}

// Blocks is how many blocks a restore consists of, and how many are written.
func (r *Restore) Blocks() (done, all int64) {
	if r == nil || r.total == 0 {
		return 0, 0
	}
	all = r.total/store.BlockSize + 1
	if r.State == RestoreCompleted {
		return all, all
	}
	return all * int64(r.Written) / int64(max(1, len(r.pairs))), all
}
