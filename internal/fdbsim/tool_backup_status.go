package fdbsim

import (
	"fmt"
	"strings"
	"time"
)

func (c *backupTool) backupStatus() int {
	db, err := c.reachDatabase()
	if err != nil {
		return exitCode(err)
	}
	b := db.backups.tags[c.tag()]
	if c.given("json") {
		c.print(db.backupJSON(b, c.tag()) + "\n")
		return exitOK
	}
	c.print(db.backupText(b) + "\n")
	return exitOK
}

// moment is when the database had a version.
func (db *database) moment(version int64) time.Time {
	return db.w.now.Add(time.Duration(version-db.versionNow()) * time.Microsecond)
}

const backupTime = "2006/01/02.15:04:05-0700"

// versionObject is a version with its time, and more after it.
func (db *database) versionObject(version int64, more string) string {
	at := db.moment(version).UTC()
	return fmt.Sprintf(`{"Version":%d,"EpochSeconds":%d,"Timestamp":"%s"%s}`, version, at.Unix(), at.Format(backupTime), more)
}

// backupJSON is the machine-readable status of a tag.
func (db *database) backupJSON(b *backup, tag string) string {
	doc := fmt.Sprintf(`{"SchemaVersion":"1.0.0","BackupAgentsPaused":%t,"Tag":"%s"`, db.backups.paused, tag)
	if b == nil {
		return doc + "}"
	}
	state := backupStates[b.state]
	doc += fmt.Sprintf(`,"UID":"%s","Status":{"Name":"%s","Description":"%s","Completed":%t,"Running":%t}`,
		b.uid, state.name, state.description, b.state == backupCompleted, b.active())
	version, restorable := b.latestRestorable()
	doc += fmt.Sprintf(`,"Restorable":%t`, restorable)
	if restorable {
		lag := ""
		if b.active() {
			lag = fmt.Sprintf(`,"LagSeconds":%d`, (db.versionNow()-version)/microsPerSecond)
		}
		doc += `,"LatestRestorablePoint":` + db.versionObject(version, lag)
	}
	doc += fmt.Sprintf(`,"DestinationURL":"%s"`, b.url)
	if b.active() && b.state != backupSubmitted {
		doc += db.progressJSON(b)
	}
	return doc + `,"Errors":[]}`
}

func (db *database) progressJSON(b *backup) string {
	doc := fmt.Sprintf(`,"StopAfterSnapshot":%t,"SnapshotIntervalSeconds":%d,"LogBytesWritten":%d,"RangeBytesWritten":%d,"LatestLogEnd":%s`,
		b.stopAfter, b.interval, b.run.logBytes(), b.rangeBytes, db.versionObject(b.run.logEnd, ""))
	if b.lastSnapshotEnd > 0 {
		doc += `,"LatestSnapshotEnd":` + db.versionObject(b.lastSnapshotEnd, "")
	}
	s := b.snapshot
	behind := 0
	if s.initial {
		behind = initialShards
	}
	return doc + fmt.Sprintf(`,"CurrentSnapshot":{"Begin":%s,"EndTarget":%s,"IntervalSeconds":%d,"ExpectedProgress":%.6g,"LastDispatch":%s}`,
		db.versionObject(s.begin, ""), db.versionObject(s.end(), ""), s.interval, s.progress(db.versionNow()),
		db.versionObject(s.begin, fmt.Sprintf(`,"ShardsBehind":%d`, behind)))
}

// initialShards is how many shards of a small database a first snapshot has to
// dispatch at once.
const initialShards = 5

func (s activeSnapshot) end() int64 { return s.begin + s.interval*microsPerSecond }

// progress is how far the snapshot should be, in percent.
func (s activeSnapshot) progress(version int64) float64 {
	if s.interval == 0 {
		return 100
	}
	return 100 * float64(version-s.begin) / float64(s.end()-s.begin)
}

// logBytes is the size of the log that is in the store.
func (r *backupRun) logBytes() int64 {
	n := int64(0)
	for _, l := range r.log {
		if l.version >= r.logEnd {
			break
		}
		for _, m := range l.mutations {
			n += int64(len(m.key) + len(m.value))
		}
	}
	return n
}

// backupText is the status of a tag for people.
func (db *database) backupText(b *backup) string {
	text := "No previous backups found.\n"
	if b != nil {
		text = db.backupSentence(b) + fmt.Sprintf("BackupUID: %s\nBackupURL: %s\n", b.uid, b.url) + db.backupDetails(b) + db.backupErrors(b)
	}
	if db.backups.paused {
		text += "\nAll backup agents have been paused.\n"
	}
	return text
}

func (db *database) backupSentence(b *backup) string {
	version, _ := b.latestRestorable()
	switch b.state {
	case backupSubmitted:
		return fmt.Sprintf("The backup on tag `%s' is in progress (just started) to %s.\n", b.tag, b.url)
	case backupRunning:
		return fmt.Sprintf("The backup on tag `%s' is in progress to %s.\n", b.tag, b.url)
	case backupDifferential:
		return fmt.Sprintf("The backup on tag `%s' is restorable but continuing to %s.\n", b.tag, b.url)
	case backupCompleted:
		return fmt.Sprintf("The previous backup on tag `%s' at %s completed at version %d.\n", b.tag, b.url, version)
	default:
		return fmt.Sprintf("The previous backup on tag `%s' at %s %s.\n", b.tag, b.url, backupStates[b.state].description)
	}
}

func (db *database) backupDetails(b *backup) string {
	if b.state != backupRunning && b.state != backupDifferential {
		return ""
	}
	s := b.snapshot
	progress := "The initial snapshot is still running."
	if b.state == backupDifferential {
		progress = fmt.Sprintf("Current snapshot progress target is %3.2f%% (>100%% means the snapshot is supposed to be done)", s.progress(db.versionNow()))
	}
	var t strings.Builder
	fmt.Fprintf(&t, "Snapshot interval is %d seconds.  %s\n\nDetails:\n LogBytes written - %d\n RangeBytes written - %d\n",
		b.interval, progress, b.run.logBytes(), b.rangeBytes)
	line := func(what string, version int64) {
		fmt.Fprintf(&t, " %-46s - %d, %s\n", what, version, db.moment(version).UTC().Format(backupTime))
	}
	line("Last complete log version and timestamp", b.run.logEnd)
	if b.lastSnapshotEnd > 0 {
		line("Last complete snapshot version and timestamp", b.lastSnapshotEnd)
	}
	line("Current Snapshot start version and timestamp", s.begin)
	line("Expected snapshot end version and timestamp", s.end())
	stop := map[bool]string{true: "Yes", false: "No"}[b.stopAfter]
	fmt.Fprintf(&t, " Backup supposed to stop at next snapshot completion - %s\n", stop)
	return t.String()
}

func (db *database) backupErrors(b *backup) string {
	if !b.active() || b.failedAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("Recent Errors (since initialization)\n%.2f minute(s) ago : 'Platform error' on 'file_backup_start_5.2'\n",
		db.w.now.Sub(b.submitted).Minutes())
}
