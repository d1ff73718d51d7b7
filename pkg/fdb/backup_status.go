package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// BackupStatus is the output of `fdbbackup status --json` for one tag.
type BackupStatus struct {
	// Tag is the requested tag, whether it has a backup or not.
	Tag string `json:"Tag"`
	// AgentsPaused is true if all agents of the database are paused.
	AgentsPaused bool `json:"BackupAgentsPaused"`
	// UID is the backup's ID; empty if the tag never had a backup.
	UID   string `json:"UID"`
	State struct {
		// Name is one word: Submitted, RunningDifferentially, …; see the constants.
		Name string `json:"Name"`
		// Running is true until the backup has ended, even before an agent runs it.
		Running   bool `json:"Running"`
		Completed bool `json:"Completed"`
	} `json:"Status"`
	// Restorable is nil when the tag never had a backup.
	Restorable *bool `json:"Restorable"`
	// LatestRestorable is nil when nothing can be restored.
	LatestRestorable *BackupMoment `json:"LatestRestorablePoint"`
	// URL is the destination. It can contain credentials: see WithoutSecrets.
	URL string `json:"DestinationURL"`
	// The following fields are nil unless agents have started the backup and it
	// still runs.
	StopAfterSnapshot *bool           `json:"StopAfterSnapshot"`
	SnapshotSeconds   *int64          `json:"SnapshotIntervalSeconds"`
	LogBytes          *int64          `json:"LogBytesWritten"`
	RangeBytes        *int64          `json:"RangeBytesWritten"`
	LatestSnapshotEnd *BackupMoment   `json:"LatestSnapshotEnd"`
	Snapshot          *BackupSnapshot `json:"CurrentSnapshot"`
}

// BackupMoment is a version with the database's estimate of its time.
type BackupMoment struct {
	Version int64 `json:"Version"`
	// EpochSeconds is an estimate: in a young cluster it can lie in the future.
	EpochSeconds *int64 `json:"EpochSeconds"`
	// LagSeconds is the age of the version; nil once the backup has ended.
	LagSeconds *int64 `json:"LagSeconds"`
}

// BackupSnapshot is the snapshot in progress.
type BackupSnapshot struct {
	Begin     BackupMoment `json:"Begin"`
	EndTarget BackupMoment `json:"EndTarget"`
	// IntervalSeconds is 0 for as fast as possible.
	IntervalSeconds int64 `json:"IntervalSeconds"`
	// ExpectedProgress is the expected progress in percent. The actual one is not
	// reported.
	ExpectedProgress float64 `json:"ExpectedProgress"`
}

// The names of backup states.
const (
	BackupSubmitted    = "Submitted"
	BackupRunning      = "Running"
	BackupDifferential = "RunningDifferentially"
	BackupCompleted    = "Completed"
	BackupAborted      = "Aborted"
	BackupErrored      = "Errored"
)

// Known reports whether the tag ever had a backup.
func (s *BackupStatus) Known() bool { return s.UID != "" }

// SnapshotPeriod returns how long one snapshot takes; false if not reported.
func (s *BackupStatus) SnapshotPeriod() (time.Duration, bool) {
	if s.SnapshotSeconds == nil {
		return 0, false
	}
	return time.Duration(*s.SnapshotSeconds) * time.Second, true
}

// CanBeRestored reports whether the database reports the backup as
// restorable.
func (s *BackupStatus) CanBeRestored() bool { return s.Restorable != nil && *s.Restorable }

// ParseBackupStatus parses the document. A truncated document, another schema version or
// a missing mandatory field is an error: nothing may be concluded from it.
func ParseBackupStatus(text []byte) (*BackupStatus, error) {
	var shape struct {
		SchemaVersion *string
		Paused        *bool   `json:"BackupAgentsPaused"`
		Tag           *string `json:"Tag"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, fmt.Errorf("read the status of a backup: %w", err)
	}
	if shape.SchemaVersion == nil || shape.Paused == nil || shape.Tag == nil {
		return nil, errors.New("read the status of a backup: SchemaVersion, Tag or BackupAgentsPaused is missing")
	}
	if *shape.SchemaVersion != "1.0.0" {
		return nil, fmt.Errorf("read the status of a backup: SchemaVersion must be 1.0.0, is %q", *shape.SchemaVersion)
	}
	status := &BackupStatus{}
	if err := json.Unmarshal(text, status); err != nil {
		return nil, fmt.Errorf("read the status of a backup: %w", err)
	}
	if status.Known() && status.State.Name == "" {
		return nil, errors.New("read the status of a backup: the backup has no state")
	}
	return status, nil
}
