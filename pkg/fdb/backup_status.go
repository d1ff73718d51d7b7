package fdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
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

// RestoreStatus is one restore, as `fdbrestore status` prints it. It stays listed after
// its end.
type RestoreStatus struct {
	Tag string
	UID string
	// State is one word; see the constants.
	State string
	// BlocksDone and BlocksTotal are both 0 before agents have read the backup.
	BlocksDone, BlocksTotal int64
	BytesWritten            int64
	// LastError is empty for none.
	LastError string
	// URL is the destination of the backup. It can contain credentials: see
	// WithoutSecrets.
	URL string
	// Version is the version to restore.
	Version int64
}

// The states of restores.
const (
	// RestoreUnknownTag is misspelled by FoundationDB; from 7.4 on it is restoreUnknownTag74.
	RestoreUnknownTag   = "unitialized"
	restoreUnknownTag74 = "uninitialized"

	RestoreQueued    = "queued"
	RestoreStarting  = "starting"
	RestoreRunning   = "running"
	RestoreCompleted = "completed"
	RestoreAborted   = "aborted"
)

// Active reports whether the restore has not ended yet. The database is locked until
// then. An unknown state counts as active.
func (r RestoreStatus) Active() bool {
	return r.State != RestoreCompleted && r.State != RestoreAborted && r.State != RestoreUnknownTag
}

// restoreLine matches a restore, including line breaks in its error. 7.4 prints two versions less.
var restoreLine = regexp.MustCompile(`(?s)^Tag: (.*?)  UID: ([0-9a-f]{32})  State: (\w+)  Blocks: (\d+)/(\d+)  BlocksInProgress: \d+  ` +
	`Files: \d+  BytesWritten: (\d+)  (?:CurrentVersion: -?\d+ FirstConsistentVersion: -?\d+  )?ApplyVersionLag: -?\d+  ` +
	`LastError: (.*?)\s*  URL: (.*?)  Range: .*  Version: (-?\d+)\s*$`)

// restoreStart matches the beginning of a restore.
var restoreStart = regexp.MustCompile(`(?m)^Tag: `)

// ParseRestoreStatus parses the list of restores: none for a database that never had
// one. Unexpected output is an error, never "no restore".
func ParseRestoreStatus(text []byte) ([]RestoreStatus, error) {
	whole := string(text)
	if blank := strings.TrimSpace(whole); blank == "" && strings.HasSuffix(whole, "\n") || blank == "No restores found." {
		return nil, nil
	}
	starts := restoreStart.FindAllStringIndex(whole, -1)
	if len(starts) == 0 || strings.TrimSpace(whole[:starts[0][0]]) != "" {
		return nil, fmt.Errorf("read the status of restores: unexpected output: %q", excerpt(whole))
	}
	var all []RestoreStatus
	for i, start := range starts {
		end := len(whole)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		r, err := parseRestore(whole[start[0]:end])
		if err != nil {
			return nil, err
		}
		if r.State != RestoreUnknownTag {
			all = append(all, r)
		}
	}
	return all, nil
}

// excerpt returns the beginning of an output to show.
func excerpt(text string) string { return redact.Excerpt(WithoutSecrets(text), 100) }

func parseRestore(text string) (RestoreStatus, error) {
	parts := restoreLine.FindStringSubmatch(text)
	if parts == nil || !strings.HasSuffix(text, "\n") {
		return RestoreStatus{}, fmt.Errorf("read the status of a restore: unexpected output: %q", excerpt(text))
	}
	r := RestoreStatus{Tag: parts[1], UID: parts[2], State: parts[3], LastError: parts[7], URL: parts[8]}
	if r.State == restoreUnknownTag74 {
		r.State = RestoreUnknownTag
	}
	if r.LastError == "None" {
		r.LastError = ""
	}
	for _, number := range []struct {
		into *int64
		text string
	}{{&r.BlocksDone, parts[4]}, {&r.BlocksTotal, parts[5]}, {&r.BytesWritten, parts[6]}, {&r.Version, parts[9]}} {
		n, err := strconv.ParseInt(number.text, 10, 64)
		if err != nil {
			return RestoreStatus{}, fmt.Errorf("read the status of a restore: %w", err)
		}
		*number.into = n
	}
	return r, nil
}
