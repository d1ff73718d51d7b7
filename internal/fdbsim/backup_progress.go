package fdbsim

import "time"

const (
	// backupStep is how often agents look for work while there is some.
	backupStep = 100 * time.Millisecond
	// backupRest is how often they look while backups only follow the log.
	backupRest = time.Second
	// workersStart is how long backup workers take to start, which a backup by
	// partitioned logs waits for.
	workersStart = 3 * time.Second
	// logChunk is the length of the log's stretches, in versions.
	logChunk = 20 * microsPerSecond
)

// wakeBackups has the agents look for work.
func (db *database) wakeBackups() {
	if !db.busyBackups() {
		return
	}
	rest := backupRest
	if db.hurried() {
		rest = backupStep
	}
	at := db.w.now.Add(rest)
	if next := db.backups.nextLook; next.After(db.w.now) && !next.After(at) {
		return
	}
	db.backups.nextLook = at
	db.w.after(rest, func() {
		if db.backups.nextLook.Equal(at) {
			db.backups.nextLook = time.Time{}
			db.workOnBackups()
			db.wakeBackups()
		}
	})
}

// busyBackups reports whether there is work, and somebody to do it.
func (db *database) busyBackups() bool {
	if len(db.agents()) == 0 {
		return false
	}
	for _, b := range db.backups.tags {
		if b.active() {
			return true
		}
	}
	return db.runnableRestore() != nil
}

// hurried reports whether something goes as fast as it can.
func (db *database) hurried() bool {
	for _, b := range db.backups.tags {
		if b.active() && (b.state == backupSubmitted || b.snapshot.initial) {
			return true
		}
	}
	return db.runnableRestore() != nil
}

// workOnBackups is one round of the agents.
func (db *database) workOnBackups() {
	if !db.available() || len(db.agents()) == 0 {
		return
	}
	for _, tag := range db.tagNames() {
		if b := db.backups.tags[tag]; b.active() {
			db.workOn(b)
		}
	}
	if r := db.runnableRestore(); r != nil {
		db.workOnRestore(r)
	}
}

func (db *database) workOn(b *backup) {
	u, err := parseBackupURL(b.url)
	if err == nil && (unwritable(u) || db.reachFromAgents(u) != nil) {
		b.failedAt = db.w.now
		return
	}
	if b.state == backupSubmitted {
		if !b.partitioned || db.w.now.Sub(b.submitted) >= workersStart {
			db.takeUp(b)
		}
		return
	}
	db.writeSnapshot(b)
	db.writeLog(b)
}

// reachFromAgents tells whether some agent gets through to a store.
func (db *database) reachFromAgents(u backupURL) error {
	err := errStoreSilent
	for _, a := range db.agents() {
		if err = db.w.stores.reach(u, a.tool.tool.Files, a.tool.tool.Env); err == nil {
			return nil
		}
	}
	return err
}

// takeUp has agents take up a backup.
func (db *database) takeUp(b *backup) {
	version := db.versionNow()
	c := db.w.stores.open(b.url)
	c.partitioned, c.encrypted = b.partitioned, b.encrypted
	b.run = &backupRun{uid: b.uid, logBegin: version, logEnd: version}
	c.runs = append(c.runs, b.run)
	if b.state == backupSubmitted {
		b.state = backupRunning
		b.snapshot = activeSnapshot{begin: version, initial: true}
		b.snapshotLeft = db.userBytes(b.ranges)
	}
}

// writeSnapshot writes on at the snapshot. The first is made as fast as can be,
// later ones take their interval. A backup that is to end makes no second one.
func (db *database) writeSnapshot(b *backup) {
	switch s := &b.snapshot; {
	case s.done && !b.stopAfter:
		b.snapshot = activeSnapshot{begin: db.versionNow(), interval: b.interval}
	case s.done:
	case s.initial:
		written := min(b.snapshotLeft, db.paceOfCopies())
		b.snapshotLeft -= written
		b.rangeBytes += written
		if b.snapshotLeft == 0 {
			db.finishSnapshot(b)
		}
	case db.versionNow() >= s.begin+s.interval*microsPerSecond:
		b.rangeBytes += db.userBytes(b.ranges)
		db.finishSnapshot(b)
	}
}

func (db *database) finishSnapshot(b *backup) {
	b.snapshot.done, b.lastSnapshotEnd = true, db.versionNow()
	if b.snapshot.split {
		return
	}
	b.run.snapshots = append(b.run.snapshots, snapshotFile{
		begin: b.snapshot.begin, end: db.versionNow(), bytes: db.userBytes(b.ranges), pairs: db.userPairs(b.ranges),
	})
}

// paceOfCopies is how many bytes are copied in one step.
func (db *database) paceOfCopies() int64 {
	return max(1, int64(float64(db.w.pace.BackupBytesPerSecond)*backupStep.Seconds()))
}

// writeLog stores the stretches of the log that are over for long enough.
func (db *database) writeLog(b *backup) {
	lag := db.w.pace.BackupLogLag.Microseconds()
	for db.versionNow() >= b.run.logEnd+logChunk+lag {
		b.run.logEnd += logChunk
	}
	if b.lastSnapshotEnd == 0 || b.lastSnapshotEnd >= b.run.logEnd {
		return // what is in which store the database does not ask
	}
	b.state = backupDifferential
	if b.stopAfter {
		b.state = backupCompleted
	}
}

// latestRestorable is the last version a backup can be restored to, as the
// database sees it: what is in which store it does not ask.
func (b *backup) latestRestorable() (version int64, ok bool) {
	if b.state != backupDifferential && b.state != backupCompleted {
		return 0, false
	}
	return b.run.logEnd - 1, true
}
