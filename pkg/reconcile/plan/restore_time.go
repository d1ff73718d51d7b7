package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// TimeFacts are the times of the versions that a restore can restore, or why they are unknown.
// They are read only where a time is about to be restored.
type TimeFacts struct {
	// Read is false when the times are unknown.
	Read bool
	// There is the backup at the source of the restore; nil for none.
	There *fdb.BackupDescription
	// Foreign is why the database has no times of the source's versions; empty where it wrote
	// them, and when unknown. It lasts.
	Foreign string
	// NotAsked is why no tool was run; empty when one was.
	NotAsked string
	// Unreachable is the error of the read; empty when it succeeded.
	Unreachable string
	// AsOf is the time of the read.
	AsOf time.Time
}

// Why returns why the times are unknown; empty when they are known.
func (f TimeFacts) Why() string {
	if f.Read {
		return ""
	}
	return whyNot(phrase.Or(f.Foreign, f.NotAsked), f.Unreachable)
}

// AnnotationRestoreTime is on a FoundationDBRestore whose version was chosen for a time: a
// RestoreTime as JSON.
const AnnotationRestoreTime = "kubectl-fdb/restore-time"

// RestoreTime records the version that was chosen for a time, so that later passes choose no other.
type RestoreTime struct {
	Time    time.Time `json:"time"`
	Version uint64    `json:"version"`
}

// RestoreTimeOf returns the choice that the spec of a restore still has, and false for none.
func RestoreTimeOf(r *v1beta2.FoundationDBRestore) (RestoreTime, bool) {
	var t RestoreTime
	text, ok := r.Annotations[AnnotationRestoreTime]
	if !ok || json.Unmarshal([]byte(text), &t) != nil || r.Spec.BackupVersion == nil || *r.Spec.BackupVersion != t.Version {
		return RestoreTime{}, false
	}
	return t, true
}

// Note is the choice as the value of the annotation.
func (t RestoreTime) Note() string {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // times of four-digit years and numbers always encode
	}
	return string(text)
}

// SetRestoreVersion sets spec.backupVersion of a FoundationDBRestore to the version of a time.
// No other field of the spec is written.
type SetRestoreVersion struct {
	Restore string      `json:"restore"`
	Chosen  RestoreTime `json:"chosen"`
	// Before is the version in the spec; nil for the latest restorable one.
	Before *uint64 `json:"before"`
	// Earlier is how much older than the time the version may be.
	Earlier time.Duration `json:"earlierNanoseconds" fingerprint:"-"`
}

// Describe implements Action.
func (a SetRestoreVersion) Describe() string {
	before := "unset"
	if a.Before != nil {
		before = fmt.Sprint(*a.Before)
	}
	return fmt.Sprintf("set spec.backupVersion of FoundationDBRestore %s: %s → %d, the version of %s", a.Restore, before, a.Chosen.Version, a.Chosen.Time.UTC().Format(time.RFC3339))
}

// Subject implements Action.
func (a SetRestoreVersion) Subject() string { return a.Restore }

func (SetRestoreVersion) effect() Effect { return Effect{Stale: Restore, Impact: NoImpact} }

// Apply implements Edit.
func (a SetRestoreVersion) Apply(s Snapshot) Snapshot {
	s.Restore = s.Restore.DeepCopy()
	s.Restore.Spec.BackupVersion = new(a.Chosen.Version)
	if s.Restore.Annotations == nil {
		s.Restore.Annotations = map[string]string{}
	}
	s.Restore.Annotations[AnnotationRestoreTime] = a.Chosen.Note()
	return s
}
