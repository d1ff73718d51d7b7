package tools

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

func (c *backupTool) backupStatus() int {
	db, err := c.reachDatabase()
	if err != nil {
		return c.exitCode(err)
	}
	b := db.Backups.Tags[c.tag()]
	if c.given("json") {
		c.print(backupJSON(db, b, c.tag()) + "\n")
		return exitOK
	}
	c.print(backupText(db, b) + "\n")
	return exitOK
}

// moment is when the database had a version, by its own records.
func moment(db *model.Database, version int64) time.Time { return db.TimeOf(version) }

const backupTime = "2006/01/02.15:04:05-0700"

// versionObject is a version with its time, and more after it.
func versionObject(db *model.Database, version int64, more string) string {
	at := moment(db, version).UTC()
	return fmt.Sprintf(`{"Version":%d,"EpochSeconds":%d,"Timestamp":"%s"%s}`, version, at.Unix(), at.Format(backupTime), more)
}

// backupJSON is the machine-readable status of a tag.
func backupJSON(db *model.Database, b *model.Backup, tag string) string {
	doc := fmt.Sprintf(`{"SchemaVersion":"1.0.0","BackupAgentsPaused":%t,"Tag":"%s"`, db.Backups.Paused, tag)
	if b == nil {
		return doc + "}"
	}
	state := model.BackupStates[b.State]
	doc += fmt.Sprintf(`,"UID":"%s","Status":{"Name":"%s","Description":"%s","Completed":%t,"Running":%t}`,
		b.UID, state.Name, state.Description, b.State == model.BackupCompleted, b.Active())
	version, restorable := b.LatestRestorable()
	doc += fmt.Sprintf(`,"Restorable":%t`, restorable)
	if restorable {
		lag := ""
		if b.Active() {
			lag = fmt.Sprintf(`,"LagSeconds":%d`, (db.VersionNow()-version)/keyspace.VersionsPerSecond)
		}
		doc += `,"LatestRestorablePoint":` + versionObject(db, version, lag)
	}
	doc += fmt.Sprintf(`,"DestinationURL":"%s"`, b.URL)
	if b.Active() && b.State != model.BackupSubmitted {
		doc += progressJSON(db, b)
	}
	return doc + `,"Errors":[]}`
}

func progressJSON(db *model.Database, b *model.Backup) string {
	doc := fmt.Sprintf(`,"StopAfterSnapshot":%t,"SnapshotIntervalSeconds":%d,"LogBytesWritten":%d,"RangeBytesWritten":%d,"LatestLogEnd":%s`,
		b.StopAfter, b.Interval, b.Run.LogBytes(), b.RangeBytes, versionObject(db, b.Run.LogEnd, ""))
	if b.LastSnapshotEnd > 0 {
		doc += `,"LatestSnapshotEnd":` + versionObject(db, b.LastSnapshotEnd, "")
	}
	s := b.Snapshot
	behind := 0
	if s.Initial {
		behind = initialShards
	}
	return doc + fmt.Sprintf(`,"CurrentSnapshot":{"Begin":%s,"EndTarget":%s,"IntervalSeconds":%d,"ExpectedProgress":%.6g,"LastDispatch":%s}`,
		versionObject(db, s.Begin, ""), versionObject(db, s.End(), ""), s.Interval, s.Progress(db.VersionNow()),
		versionObject(db, s.Begin, fmt.Sprintf(`,"ShardsBehind":%d`, behind)))
}

// initialShards is how many shards of a small database a first snapshot has to
// dispatch at once.
const initialShards = 5

// backupText returns the status of a tag as text.
func backupText(db *model.Database, b *model.Backup) string {
	text := "No previous backups found.\n"
	if b != nil {
		text = backupSentence(b) + fmt.Sprintf("BackupUID: %s\nBackupURL: %s\n", b.UID, b.URL) + backupDetails(db, b) + backupErrors(db, b)
	}
	if db.Backups.Paused {
		text += "\nAll backup agents have been paused.\n"
	}
	return text
}

func backupSentence(b *model.Backup) string {
	version, _ := b.LatestRestorable()
	switch b.State {
	case model.BackupSubmitted:
		return fmt.Sprintf("The backup on tag `%s' is in progress (just started) to %s.\n", b.Tag, b.URL)
	case model.BackupRunning:
		return fmt.Sprintf("The backup on tag `%s' is in progress to %s.\n", b.Tag, b.URL)
	case model.BackupDifferential:
		return fmt.Sprintf("The backup on tag `%s' is restorable but continuing to %s.\n", b.Tag, b.URL)
	case model.BackupCompleted:
		return fmt.Sprintf("The previous backup on tag `%s' at %s completed at version %d.\n", b.Tag, b.URL, version)
	default:
		return fmt.Sprintf("The previous backup on tag `%s' at %s %s.\n", b.Tag, b.URL, model.BackupStates[b.State].Description)
	}
}

func backupDetails(db *model.Database, b *model.Backup) string {
	if b.State != model.BackupRunning && b.State != model.BackupDifferential {
		return ""
	}
	s := b.Snapshot
	progress := "The initial snapshot is still running."
	if b.State == model.BackupDifferential {
		progress = fmt.Sprintf("Current snapshot progress target is %3.2f%% (>100%% means the snapshot is supposed to be done)", s.Progress(db.VersionNow()))
	}
	var t strings.Builder
	fmt.Fprintf(&t, "Snapshot interval is %d seconds.  %s\n\nDetails:\n LogBytes written - %d\n RangeBytes written - %d\n",
		b.Interval, progress, b.Run.LogBytes(), b.RangeBytes)
	line := func(what string, version int64) {
		fmt.Fprintf(&t, " %-46s - %d, %s\n", what, version, moment(db, version).UTC().Format(backupTime))
	}
	line("Last complete log version and timestamp", b.Run.LogEnd)
	if b.LastSnapshotEnd > 0 {
		line("Last complete snapshot version and timestamp", b.LastSnapshotEnd)
	}
	line("Current Snapshot start version and timestamp", s.Begin)
	line("Expected snapshot end version and timestamp", s.End())
	stop := map[bool]string{true: "Yes", false: "No"}[b.StopAfter]
	fmt.Fprintf(&t, " Backup supposed to stop at next snapshot completion - %s\n", stop)
	return t.String()
}

func backupErrors(db *model.Database, b *model.Backup) string {
	if !b.Active() || b.FailedAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("Recent Errors (since initialization)\n%.2f minute(s) ago : 'Platform error' on 'file_backup_start_5.2'\n",
		db.Simulation.Now.Sub(b.Submitted).Minutes())
}
