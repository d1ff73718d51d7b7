package model

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

const (
	// backupStep is how often agents look for work while there is some.
	backupStep = 100 * time.Millisecond
	// backupRest is how often they look while backups only follow the log.
	backupRest = time.Second
	// workersStart is how long backup workers take to start, which a backup by
	// partitioned logs waits for.
	workersStart = 3 * time.Second
)

// wakeBackups has the agents look for work.
func (db *Database) wakeBackups() {
	if !db.busyBackups() {
		return
	}
	rest := backupRest
	if db.hurried() {
		rest = backupStep
	}
	at := db.Simulation.Now.Add(rest)
	if next := db.Backups.nextPoll; next.After(db.Simulation.Now) && !next.After(at) {
		return
	}
	db.Backups.nextPoll = at
	db.Simulation.After(rest, func() {
		if db.Backups.nextPoll.Equal(at) {
			db.Backups.nextPoll = time.Time{}
			db.workOnBackups()
			db.wakeBackups()
		}
	})
}

// busyBackups reports whether there is work, and an agent to do it.
func (db *Database) busyBackups() bool {
	if len(db.Agents()) == 0 {
		return false
	}
	for _, b := range db.Backups.Tags {
		if b.Active() {
			return true
		}
	}
	return db.runnableRestore() != nil
}

// hurried reports whether something goes as fast as it can.
func (db *Database) hurried() bool {
	for _, b := range db.Backups.Tags {
		if b.Active() && (b.State == BackupSubmitted || b.Snapshot.Initial) {
			return true
		}
	}
	return db.runnableRestore() != nil
}

// workOnBackups is one round of the agents.
func (db *Database) workOnBackups() {
	if !db.Available() || len(db.Agents()) == 0 {
		return
	}
	for _, tag := range db.TagNames() {
		if b := db.Backups.Tags[tag]; b.Active() {
			db.workOn(b)
		}
	}
	if r := db.runnableRestore(); r != nil {
		db.workOnRestore(r)
	}
}

func (db *Database) workOn(b *Backup) {
	u, err := store.ParseURL(b.URL)
	if err == nil && (store.Unwritable(u) || db.reachFromAgents(u) != nil) {
		b.FailedAt = db.Simulation.Now
		return
	}
	if b.State == BackupSubmitted {
		if !b.Partitioned || db.Simulation.Now.Sub(b.Submitted) >= workersStart {
			db.takeUp(b)
		}
		return
	}
	db.writeSnapshot(b)
	db.writeLog(b)
}

// reachFromAgents reports whether some agent reaches a store.
func (db *Database) reachFromAgents(u store.URL) error {
	err := store.ErrUnresponsive
	for _, a := range db.Agents() {
		if err = db.Simulation.Stores.Reach(u, a.Files, a.Env); err == nil {
			return nil
		}
	}
	return err
}

// takeUp has agents take up a backup.
func (db *Database) takeUp(b *Backup) {
	version := db.VersionNow()
	c := db.Simulation.Stores.Open(b.URL)
	c.Partitioned, c.Encrypted = b.Partitioned, b.Encrypted
	b.Run = &store.Run{UID: b.UID, LogBegin: version, LogEnd: version}
	c.Runs = append(c.Runs, b.Run)
	if b.State == BackupSubmitted {
		b.State = BackupRunning
		b.Snapshot = activeSnapshot{Begin: version, Initial: true}
		b.snapshotLeft = db.userBytes(b.Ranges)
	}
}

// writeSnapshot writes on at the snapshot. The first is made as fast as can be,
// later ones take their interval. A backup that is to end makes no second one.
func (db *Database) writeSnapshot(b *Backup) {
	switch s := &b.Snapshot; {
	case s.done && !b.StopAfter:
		b.Snapshot = activeSnapshot{Begin: db.VersionNow(), Interval: b.Interval}
	case s.done:
	case s.Initial:
		written := min(b.snapshotLeft, db.paceOfCopies())
		b.snapshotLeft -= written
		b.RangeBytes += written
		if b.snapshotLeft == 0 {
			db.finishSnapshot(b)
		}
	case db.VersionNow() >= s.Begin+s.Interval*keyspace.VersionsPerSecond:
		b.RangeBytes += db.userBytes(b.Ranges)
		db.finishSnapshot(b)
	}
}

func (db *Database) finishSnapshot(b *Backup) {
	b.Snapshot.done, b.LastSnapshotEnd = true, db.VersionNow()
	if b.Snapshot.split {
		return
	}
	b.Run.Snapshots = append(b.Run.Snapshots, store.Snapshot{
		Begin: b.Snapshot.Begin, End: db.VersionNow(), Bytes: db.userBytes(b.Ranges), Pairs: db.UserPairs(b.Ranges),
	})
}

// paceOfCopies is how many bytes are copied in one step.
func (db *Database) paceOfCopies() int64 {
	return max(1, int64(float64(db.Simulation.Pace.BackupBytesPerSecond)*backupStep.Seconds()))
}

// writeLog stores the stretches of the log that are over for long enough.
func (db *Database) writeLog(b *Backup) {
	lag := db.Simulation.Pace.BackupLogLag.Microseconds()
	for db.VersionNow() >= b.Run.LogEnd+store.LogChunk+lag {
		b.Run.LogEnd += store.LogChunk
	}
	if b.LastSnapshotEnd == 0 || b.LastSnapshotEnd >= b.Run.LogEnd {
		return // what is in which store the database does not ask
	}
	b.State = BackupDifferential
	if b.StopAfter {
		b.State = BackupCompleted
	}
}

// LatestRestorable is the last version a backup can be restored to, as the
// database sees it: what is in which store it does not ask.
func (b *Backup) LatestRestorable() (version int64, ok bool) {
	if b.State != BackupDifferential && b.State != BackupCompleted {
		return 0, false
	}
	return b.Run.LogEnd - 1, true
}
