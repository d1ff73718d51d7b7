package fdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

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
