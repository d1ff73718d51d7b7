package fdbsim

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// backups is what a database knows of its backups.
type backups struct {
	paused bool
	// tags is the last backup of each tag that ever had one.
	tags map[string]*backup
	// nextLook is when the agents look for work again; zero for when somebody
	// tells them.
	nextLook time.Time
}

// backupState is how far a backup is.
type backupState int

const (
	backupNeverRan backupState = iota
	backupSubmitted
	backupRunning
	backupDifferential
	backupCompleted
	backupAborted
)

// backupStates are the names of the states, and how sentences go on.
var backupStates = map[backupState]struct{ name, description string }{
	backupSubmitted:    {"Submitted", "has been submitted"},
	backupRunning:      {"Running", "has been started"},
	backupDifferential: {"RunningDifferentially", "is differential"},
	backupCompleted:    {"Completed", "has been completed"},
	backupAborted:      {"Aborted", "has been aborted"},
}

// backup is one backup of a tag.
type backup struct {
	tag, uid, url string
	state         backupState
	interval      int64 // seconds of a snapshot
	stopAfter     bool  // ends with its first snapshot
	ranges        []keyRange
	encrypted     bool
	partitioned   bool
	submitted     time.Time

	run          *backupRun
	rangeBytes   int64
	snapshotLeft int64 // bytes of the first snapshot that are not written yet
	snapshot     activeSnapshot
	// movedAt is the version of the last move to another place, 0 for none.
	movedAt int64
	// lastSnapshotEnd is the version of the last complete snapshot, 0 for none.
	lastSnapshotEnd int64
	failedAt        time.Time // when the store was last found not to take anything
}

// activeSnapshot is the snapshot that is being made.
type activeSnapshot struct {
	begin    int64
	interval int64 // seconds; 0 for as fast as possible
	initial  bool
	done     bool
	split    bool // begun at another place, so of no use
}

func (b *backup) active() bool {
	return b != nil && (b.state == backupSubmitted || b.state == backupRunning || b.state == backupDifferential)
}

// tagNames are the tags that ever had a backup.
func (db *database) tagNames() []string { return slices.Sorted(maps.Keys(db.backups.tags)) }

// submit adds a backup, for agents to find.
func (db *database) submit(b *backup) {
	if strings.HasPrefix(b.url, filePrefix) {
		b.url = strings.TrimRight(b.url, "/") + "/" + containerName(db.w.now)
	}
	if db.backups.tags == nil {
		db.backups.tags = map[string]*backup{}
	}
	b.uid, b.state, b.submitted = db.w.hex(2*uidBytes), backupSubmitted, db.w.now
	db.backups.tags[b.tag] = b
	db.wakeBackups()
}

// containerName is what a backup to files is called below its base URL.
func containerName(t time.Time) string { return t.UTC().Format("backup-2006-01-02-15-04-05.000000") }

// discontinue ends a backup once it is restorable.
func (db *database) discontinue(b *backup) {
	b.stopAfter = true
	if b.state == backupDifferential {
		b.state = backupCompleted
	}
}

func (db *database) pauseBackups(paused bool) {
	db.backups.paused = paused
	db.wakeBackups()
}

// retarget has a backup go on at another place. Nothing is moved there: what it
// wrote so far stays where it is, and the next snapshot is the first to restore
// from at the new place.
func (db *database) retarget(b *backup, url string) {
	moved := canonicalURL(url) != canonicalURL(b.url)
	b.url = url
	if b.run == nil || !moved {
		return
	}
	end := b.run.logEnd
	if b.run = db.w.stores.open(url).runOf(b.uid); b.run == nil || b.run.logEnd != end { // else nothing was written elsewhere
		db.takeUp(b)
		b.run.logBegin, b.run.logEnd = end, end
	}
	b.snapshot.split, b.movedAt = true, db.versionNow()
}

// runOf is what a backup has written to a container last, nil for nothing.
func (c *container) runOf(uid string) *backupRun {
	for _, r := range slices.Backward(c.runs) {
		if r.uid == uid {
			return r
		}
	}
	return nil
}

// logForBackups has the agents keep what a commit did to user keys.
func (db *database) logForBackups(version int64, mutations []mutation) {
	var user []mutation
	for _, m := range mutations {
		if m.touches().begin < userEnd {
			user = append(user, m)
		}
	}
	if len(user) == 0 {
		return
	}
	for _, b := range db.backups.tags {
		if b.active() && b.run != nil {
			b.run.log = append(b.run.log, loggedCommit{version, user})
		}
	}
}

// userPairs are the keys of users in some ranges.
func (db *database) userPairs(ranges []keyRange) []pair {
	var found []pair
	for _, r := range ranges {
		found = append(found, db.keys.latestRange(r.begin, min(r.end, userEnd))...)
	}
	return found
}

// userBytes is how much a snapshot of the ranges is.
func (db *database) userBytes(ranges []keyRange) int64 {
	n := int64(0)
	for _, p := range db.userPairs(ranges) {
		n += int64(len(p.key) + len(p.value))
	}
	return n
}
