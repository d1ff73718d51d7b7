package plan

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteRestoreStatus replaces the status of a FoundationDBRestore.
type WriteRestoreStatus struct {
	Restore string `json:"restore"`
	// Changes describes the differences from the current status.
	Changes []string                          `json:"changes" fingerprint:"-"`
	Status  v1beta2.FoundationDBRestoreStatus `json:"-"`
}

// Describe implements Action.
func (a WriteRestoreStatus) Describe() string {
	return "update status: " + strings.Join(a.Changes, "; ")
}

// Subject implements Action.
func (a WriteRestoreStatus) Subject() string { return a.Restore }

func (WriteRestoreStatus) effect() Effect { return Effect{Stale: Restore, Impact: NoImpact} }

// Apply implements Edit.
func (a WriteRestoreStatus) Apply(s Snapshot) Snapshot {
	s.Restore = s.Restore.DeepCopy()
	s.Restore.Status = a.Status
	return s
}

// RestoreNoted is the status right before the restore is started. No other status equals
// it: a restore that was observed in the queue is running as well.
func RestoreNoted() v1beta2.FoundationDBRestoreStatus {
	return v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateQueued}
}

// RestoreBegun is the status once the restore was observed in the database.
func RestoreBegun() v1beta2.FoundationDBRestoreStatus {
	return v1beta2.FoundationDBRestoreStatus{Running: true, State: v1beta2.RestoreStateQueued}
}

// StartRestore starts a restore into an empty database, which it locks. The status is written
// before the start, so the same restore is never started twice.
type StartRestore struct {
	Restore string           `json:"restore"`
	Cluster string           `json:"cluster"`
	Start   fdb.RestoreStart `json:"start"`
}

// Describe implements Action.
func (a StartRestore) Describe() string {
	what := rangesWords(a.Start.Ranges)
	version := "the latest restorable version"
	if a.Start.Version != nil {
		version = fmt.Sprintf("version %d", *a.Start.Version)
	}
	if key := a.Start.EncryptionKeyFile; key != "" {
		version += ", decrypted with " + key + ","
	}
	return fmt.Sprintf("restore %s as of %s from %s into %s, which is locked until the restore is complete", what, version, fdb.WithoutSecrets(a.Start.URL), a.Cluster)
}

// rangesShown is how many key ranges are listed. The rest is identified by a digest.
const rangesShown = 8

func rangesWords(ranges [][2]string) string {
	if len(ranges) == 0 {
		return "everything"
	}
	var words []string
	for _, keys := range ranges[:min(len(ranges), rangesShown)] {
		words = append(words, fmt.Sprintf("%q to %q", keys[0], keys[1]))
	}
	if len(ranges) > rangesShown {
		rest := ranges[rangesShown:]
		words = append(words, fmt.Sprintf("and %d more with the digest %x", len(rest), sha256.Sum256(fmt.Appendf(nil, "%q", rest))))
	}
	return fmt.Sprintf("%s (%s)", phrase.Count(len(ranges), "key range"), strings.Join(words, ", "))
}

// Subject implements Action.
func (a StartRestore) Subject() string { return a.Cluster }

func (StartRestore) effect() Effect {
	return Effect{Stale: Restore | RestoreStatus | RestoreTarget | Database, Impact: DataRestore}
}

// AbortRestore ends an incomplete restore. FoundationDB unlocks the database with whatever
// was written so far.
type AbortRestore struct {
	Restore string `json:"restore"`
	Cluster string `json:"cluster"`
	Tag     string `json:"tag"`
	// UID identifies the restore in the database: another one on the same tag is not aborted.
	UID string `json:"uid"`
	// URL is where it restores from, without secrets, and Version what it restores.
	URL     string `json:"url"`
	Version int64  `json:"version"`
}

// Describe implements Action.
func (a AbortRestore) Describe() string {
	return fmt.Sprintf("abort the restore %s of tag %s, as of version %d from %s: %s is unlocked with partially restored data",
		a.UID, a.Tag, a.Version, a.URL, a.Cluster)
}

// Subject implements Action.
func (a AbortRestore) Subject() string { return a.Cluster }

func (AbortRestore) effect() Effect {
	return Effect{Stale: Restore | RestoreStatus | Database, Impact: DataLoss}
}
