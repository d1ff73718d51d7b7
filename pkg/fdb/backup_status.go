package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// BackupStatus is what `fdbbackup status --json` says of one tag.
type BackupStatus struct {
	// Tag is the tag that was asked about, whether anything is known of it or not.
	Tag string `json:"Tag"`
	// AgentsPaused says that all agents of the database pause.
	AgentsPaused bool `json:"BackupAgentsPaused"`
	// UID is the backup's; empty when the tag never had one.
	UID   string `json:"UID"`
	State struct {
		// Name is one word: Submitted, RunningDifferentially, …; see the constants.
		Name string `json:"Name"`
		// Running is true until the backup has ended, also before anything runs it.
		Running   bool `json:"Running"`
		Completed bool `json:"Completed"`
	} `json:"Status"`
	// Restorable is nil when the tag never had a backup.
	Restorable *bool `json:"Restorable"`
	// LatestRestorable is nil when nothing can be restored.
	LatestRestorable *BackupMoment `json:"LatestRestorablePoint"`
	// URL is where the backup goes. It can hold credentials: see WithoutSecrets.
	URL string `json:"DestinationURL"`
	// What follows is nil unless agents have taken the backup up and it still runs.
	StopAfterSnapshot *bool           `json:"StopAfterSnapshot"`
	SnapshotSeconds   *int64          `json:"SnapshotIntervalSeconds"`
	LogBytes          *int64          `json:"LogBytesWritten"`
	RangeBytes        *int64          `json:"RangeBytesWritten"`
	LatestSnapshotEnd *BackupMoment   `json:"LatestSnapshotEnd"`
	Snapshot          *BackupSnapshot `json:"CurrentSnapshot"`
}

// BackupMoment is a version with the database's guess of when it was.
type BackupMoment struct {
	Version int64 `json:"Version"`
	// EpochSeconds is an estimate: in a young cluster it can lie in the future.
	EpochSeconds *int64 `json:"EpochSeconds"`
	// LagSeconds is how old the moment is; nil once the backup has ended.
	LagSeconds *int64 `json:"LagSeconds"`
}

// BackupSnapshot is the snapshot that is being made.
type BackupSnapshot struct {
	Begin     BackupMoment `json:"Begin"`
	EndTarget BackupMoment `json:"EndTarget"`
	// IntervalSeconds is 0 for as fast as possible.
	IntervalSeconds int64 `json:"IntervalSeconds"`
	// ExpectedProgress is how far it should be, in percent. Nothing tells how far it is.
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

// SnapshotPeriod is how long one snapshot takes; false when the database does not say.
func (s *BackupStatus) SnapshotPeriod() (time.Duration, bool) {
	if s.SnapshotSeconds == nil {
		return 0, false
	}
	return time.Duration(*s.SnapshotSeconds) * time.Second, true
}

// CanBeRestored reports whether the database calls the backup restorable.
func (s *BackupStatus) CanBeRestored() bool { return s.Restorable != nil && *s.Restorable }

// ParseBackupStatus reads the document. One that was cut short, is of another version or
// lacks what every version has is an error: nothing may be concluded from it.
func ParseBackupStatus(text []byte) (*BackupStatus, error) {
	var shape struct {
		SchemaVersion *string
		Paused        *bool   `json:"BackupAgentsPaused"`
		Tag           *string `json:"Tag"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, fmt.Errorf("reading the status of a backup: %w", err)
	}
	if shape.SchemaVersion == nil || shape.Paused == nil || shape.Tag == nil {
		return nil, errors.New("reading the status of a backup: it lacks its version, its tag, or whether agents pause")
	}
	if *shape.SchemaVersion != "1.0.0" {
		return nil, fmt.Errorf("reading the status of a backup: its version is %q, not 1.0.0", *shape.SchemaVersion)
	}
	status := &BackupStatus{}
	if err := json.Unmarshal(text, status); err != nil {
		return nil, fmt.Errorf("reading the status of a backup: %w", err)
	}
	if status.Known() && status.State.Name == "" {
		return nil, errors.New("reading the status of a backup: it has a backup without a state")
	}
	return status, nil
}
