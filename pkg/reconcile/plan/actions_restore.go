package plan

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteRestoreStatus replaces the status of a restore's record.
type WriteRestoreStatus struct {
	Restore string `json:"restore"`
	// Changes says in words what differs from the status that is there.
	Changes []string                          `json:"changes" fingerprint:"-"`
	Status  v1beta2.FoundationDBRestoreStatus `json:"-"`
}

// Describe implements Action.
func (a WriteRestoreStatus) Describe() string {
	return "record what was observed: " + strings.Join(a.Changes, "; ")
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

// RestoreNoted is what the record says right before its restore is started. Nothing else
// is recorded like this: a restore that is seen to be queued is running as well.
func RestoreNoted() v1beta2.FoundationDBRestoreStatus {
	return v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateQueued}
}

// RestoreBegun is what the record says once the restore was seen in the database.
func RestoreBegun() v1beta2.FoundationDBRestoreStatus {
	return v1beta2.FoundationDBRestoreStatus{Running: true, State: v1beta2.RestoreStateQueued}
}

// StartRestore starts a restore into an empty database, which it locks. The record says
// that it is about to be before it is, so nothing is ever restored a second time.
type StartRestore struct {
	Restore string           `json:"restore"`
	Cluster string           `json:"cluster"`
	Start   fdb.RestoreStart `json:"start"`
}

// Describe implements Action. It says all that matters: what was approved is known by its
// words.
func (a StartRestore) Describe() string {
	what := rangesWords(a.Start.Ranges)
	version := "the latest version there is"
	if a.Start.Version != nil {
		version = fmt.Sprintf("version %d", *a.Start.Version)
	}
	if key := a.Start.EncryptionKeyFile; key != "" {
		version += ", decrypted with " + key + ","
	}
	return fmt.Sprintf("restore %s as of %s from %s into %s, which is locked until it is done", what, version, fdb.WithoutSecrets(a.Start.URL), a.Cluster)
}

// rangesShown is how many key ranges are said in full. The rest is known by a digest.
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

// AbortRestore ends a restore that is not done. FoundationDB unlocks the database, with
// whatever was written so far in it.
type AbortRestore struct {
	Restore string `json:"restore"`
	Cluster string `json:"cluster"`
	Tag     string `json:"tag"`
	// UID is the restore's own in the database: another one on the tag is left alone.
	UID string `json:"uid"`
	// URL is where it restores from, without secrets, and Version what it restores.
	URL     string `json:"url"`
	Version int64  `json:"version"`
}

// Describe implements Action.
func (a AbortRestore) Describe() string {
	return fmt.Sprintf("abort the restore %s of tag %s, as of version %d from %s: %s is unlocked half restored, with whatever was written so far in it",
		a.UID, a.Tag, a.Version, a.URL, a.Cluster)
}

// Subject implements Action.
func (a AbortRestore) Subject() string { return a.Cluster }

func (AbortRestore) effect() Effect {
	return Effect{Stale: Restore | RestoreStatus | Database, Impact: DataLoss}
}
