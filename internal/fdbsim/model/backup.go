package model

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// backups is what a database knows of its backups.
type backups struct {
	Paused bool
	// Tags is the last backup of each tag that ever had one.
	Tags map[string]*Backup
	// nextPoll is when the agents poll for work again; zero for when they are
	// notified.
	nextPoll time.Time
	// reported is when an agent last ended; zero if none has.
	reported time.Time
}

// backupState is the state of a backup.
type backupState int

// The states of a backup, in their order.
const (
	backupNeverRan backupState = iota
	BackupSubmitted
	BackupRunning
	BackupDifferential
	BackupCompleted
	BackupAborted
)

// backupStateText is the name of a state, and the predicate that the tools print for it.
type backupStateText struct{ Name, Description string }

// BackupStates are the texts of the states.
var BackupStates = map[backupState]backupStateText{
	BackupSubmitted:    {"Submitted", "has been submitted"},
	BackupRunning:      {"Running", "has been started"},
	BackupDifferential: {"RunningDifferentially", "is differential"},
	BackupCompleted:    {"Completed", "has been completed"},
	BackupAborted:      {"Aborted", "has been aborted"},
}

// Backup is one backup of a tag.
type Backup struct {
	Tag, UID, URL string
	State         backupState
	Interval      int64 // seconds of a snapshot
	StopAfter     bool  // ends with its first snapshot
	Ranges        []keyspace.Range
	Encrypted     bool
	Partitioned   bool
	Submitted     time.Time

	Run          *store.Run
	RangeBytes   int64
	snapshotLeft int64 // bytes of the first snapshot that are not written yet
	Snapshot     activeSnapshot
	// MovedAt is the version of the last change of the destination, 0 for none.
	MovedAt int64
	// LastSnapshotEnd is the version of the last complete snapshot, 0 for none.
	LastSnapshotEnd int64
	FailedAt        time.Time // when the store was last found not to take anything
}

// activeSnapshot is the snapshot that is being made.
type activeSnapshot struct {
	Begin    int64
	Interval int64 // seconds; 0 for as fast as possible
	Initial  bool
	done     bool
	split    bool // begun at another destination, so of no use
}

// Active reports whether the backup is submitted or running; false for a missing one.
func (b *Backup) Active() bool {
	return b != nil && (b.State == BackupSubmitted || b.State == BackupRunning || b.State == BackupDifferential)
}

// TagNames are the tags that ever had a backup.
func (db *Database) TagNames() []string { return slices.Sorted(maps.Keys(db.Backups.Tags)) }

// Submit adds a backup, for agents to find.
func (db *Database) Submit(b *Backup) {
	if strings.HasPrefix(b.URL, store.FilePrefix) {
		b.URL = strings.TrimRight(b.URL, "/") + "/" + containerName(db.Simulation.Now)
	}
	if db.Backups.Tags == nil {
		db.Backups.Tags = map[string]*Backup{}
	}
	b.UID, b.State, b.Submitted = db.Simulation.Hex(2*UIDBytes), BackupSubmitted, db.Simulation.Now
	db.Backups.Tags[b.Tag] = b
	db.wakeBackups()
}

// containerName is what a backup to files is called below its base URL.
func containerName(t time.Time) string { return t.UTC().Format("backup-2006-01-02-15-04-05.000000") }

// Discontinue ends a backup once it is restorable.
func (db *Database) Discontinue(b *Backup) {
	b.StopAfter = true
	if b.State == BackupDifferential {
		b.State = BackupCompleted
	}
}

// PauseBackups stops all agents of the database.
func (db *Database) PauseBackups() {
	db.Backups.Paused = true
	db.wakeBackups()
}

// ResumeBackups starts all agents of the database again.
func (db *Database) ResumeBackups() {
	db.Backups.Paused = false
	db.wakeBackups()
}

// Retarget continues a backup at another destination. Nothing is moved there: what it
// wrote so far stays where it is, and the next snapshot is the first to restore
// from at the new destination.
func (db *Database) Retarget(b *Backup, url string) {
	moved := store.Canonical(url) != store.Canonical(b.URL)
	b.URL = url
	if b.Run == nil || !moved {
		return
	}
	end := b.Run.LogEnd
	if b.Run = db.Simulation.Stores.Open(url).RunOf(b.UID); b.Run == nil || b.Run.LogEnd != end { // else nothing was written elsewhere
		db.takeUp(b)
		b.Run.LogBegin, b.Run.LogEnd = end, end
	}
	b.Snapshot.split, b.MovedAt = true, db.VersionNow()
}

// logForBackups adds what a commit did to user keys to the logs of active backups.
func (db *Database) logForBackups(version int64, mutations []keyspace.Mutation) {
	var user []keyspace.Mutation
	for _, m := range mutations {
		if m.Touches().Begin < store.UserEnd {
			user = append(user, m)
		}
	}
	if len(user) == 0 {
		return
	}
	for _, b := range db.Backups.Tags {
		if b.Active() && b.Run != nil {
			b.Run.Log = append(b.Run.Log, store.Commit{Version: version, Mutations: user})
		}
	}
}

// UserPairs are the keys of users in some ranges.
func (db *Database) UserPairs(ranges []keyspace.Range) []keyspace.Pair {
	var found []keyspace.Pair
	for _, r := range ranges {
		found = append(found, db.Keys.LatestRange(r.Begin, min(r.End, store.UserEnd))...)
	}
	return found
}

// userBytes is how much a snapshot of the ranges is.
func (db *Database) userBytes(ranges []keyspace.Range) int64 {
	n := int64(0)
	for _, p := range db.UserPairs(ranges) {
		n += int64(len(p.Key) + len(p.Value))
	}
	return n
}

// End is the version at which the snapshot should be complete.
func (s activeSnapshot) End() int64 { return s.Begin + s.Interval*keyspace.VersionsPerSecond }

// Progress is the expected progress of the snapshot, in percent.
func (s activeSnapshot) Progress(version int64) float64 {
	if s.Interval == 0 {
		return 100
	}
	return 100 * float64(version-s.Begin) / float64(s.End()-s.Begin)
}
