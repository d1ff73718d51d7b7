package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// AgentFacts are the Deployment and the pods of backup agents.
type AgentFacts struct {
	// Deployment is the backup's; nil when not found, and in a pass for a restore or a cluster.
	Deployment *appsv1.Deployment
	// Pods are the agents' pods by name.
	Pods map[string]*corev1.Pod
	// Hidden is why the agents of a cluster cannot be read; empty when they can, and in passes
	// over backups and restores, which need them.
	Hidden string
}

// BackupFacts are the status of a backup tag, or why it is unknown.
type BackupFacts struct {
	// Status is nil when unknown.
	Status *fdb.BackupStatus
	// Errors are the latest errors of agents. They are read only while the backup runs and is
	// not restorable, or lags; nil for none, and when unknown.
	Errors []string
	// NotQueried is why the database was not queried; empty when it was.
	NotQueried string
	// Unreachable is the error of the query; empty when it succeeded.
	Unreachable string
	// AsOf is the time of the read.
	AsOf time.Time
}

// Why returns why the status is unknown; empty when it is known.
func (f BackupFacts) Why() string {
	if f.Status != nil {
		return ""
	}
	return whyNot(f.NotQueried, f.Unreachable)
}

// StoreFacts are the contents of a backup destination, or why they are unknown.
type StoreFacts struct {
	// Read is false when the contents are unknown.
	Read bool
	// URL is the destination that was read, without secrets.
	URL string
	// There is the backup at the destination; nil for none.
	There *fdb.BackupDescription
	// NotQueried is why no tool was run; empty when one was.
	NotQueried string
	// Unreachable is the error of the read; empty when it succeeded.
	Unreachable string
	// AsOf is the time of the read.
	AsOf time.Time
}

// Why returns why the contents are unknown; empty when they are known.
func (f StoreFacts) Why() string {
	if f.Read {
		return ""
	}
	return cmp.Or(f.NotQueried, f.Unreachable, "the store was not read")
}

// UseFacts are the backups and restores that use stores, or why they are unknown.
type UseFacts struct {
	// Read is false when either is unknown.
	Read bool
	// Backups are the running backups of all tags, and Restores the unfinished restores.
	Backups  []fdb.BackupStatus
	Restores []fdb.RestoreStatus
	// RestoresRead is true where Restores is known, even if Backups is not.
	RestoresRead bool
	// NotRead is why these are unknown, and how to fix that where it is known; empty when they
	// are known, or were not read.
	NotRead string
	// Lasting is true when a later read fails as well.
	Lasting bool
}

// KnowsRestores reports whether Restores is known.
func (f UseFacts) KnowsRestores() bool { return f.Read || f.RestoresRead }

// OtherFacts are the other resources of a kind in the namespace, or why they are unknown.
type OtherFacts[T any] struct {
	// Read is false when they are unknown.
	Read bool
	// All are in the order of their names.
	All []T
	// NotRead is why they are unknown; empty when they are known, or were not read.
	NotRead string
}

// OtherClusterFacts are read where something has to agree in all resources of a database.
type OtherClusterFacts = OtherFacts[v1beta2.FoundationDBCluster]

// OtherBackupFacts are read with a FoundationDBBackup.
type OtherBackupFacts = OtherFacts[v1beta2.FoundationDBBackup]

// OtherRestoreFacts are read where a restore is about to be aborted.
type OtherRestoreFacts = OtherFacts[v1beta2.FoundationDBRestore]

// SourceFacts are the backup that writes to the destination which a restore names. They are
// empty where there is none, and where it is unknown: then FoundationDB decides.
type SourceFacts struct {
	// Backup is the name of its resource; Status is that of its tag.
	Backup string
	Status *fdb.BackupStatus
	// Restorable is whether the backup can be restored from its destination.
	Restorable Restorability
	// There is the backup at the destination; nil for none, and when unknown.
	There *fdb.BackupDescription
}

// Begins reports whether the backup runs to a destination, and is not restorable yet.
func (f SourceFacts) Begins(url string) bool {
	return f.Status != nil && f.Status.State.Running && !f.Restorable.OK && fdb.SameBackupURL(f.Status.URL, url)
}

// RestoreFacts are the restores of the database, or why they are unknown.
type RestoreFacts struct {
	// Read is false when they are unknown.
	Read bool
	// All are the restores of all tags, finished ones included.
	All []fdb.RestoreStatus
	// NotQueried is why the database was not queried; empty when it was.
	NotQueried string
	// Unreachable is the error of the query; empty when it succeeded.
	Unreachable string
	// AsOf is the time of the read.
	AsOf time.Time
}

// Why returns why the restores are unknown; empty when they are known.
func (f RestoreFacts) Why() string {
	if f.Read {
		return ""
	}
	return whyNot(f.NotQueried, f.Unreachable)
}

// whyNot returns why the database did not answer.
func whyNot(notQueried, unreachable string) string {
	return cmp.Or(notQueried, unreachable, "the database was not queried")
}

// SetBackupState sets spec.backupState of a FoundationDBBackup. No other field of the spec is
// written.
type SetBackupState struct {
	Backup string              `json:"backup"`
	State  v1beta2.BackupState `json:"state"`
}

// Describe implements Action.
func (a SetBackupState) Describe() string {
	return fmt.Sprintf("set spec.backupState of FoundationDBBackup %s to %s", a.Backup, a.State)
}

// Subject implements Action.
func (a SetBackupState) Subject() string { return a.Backup }

func (SetBackupState) effect() Effect { return Effect{Stale: Backup, Impact: NoImpact} }

// Apply implements Edit.
func (a SetBackupState) Apply(s Snapshot) Snapshot {
	s.Backup = s.Backup.DeepCopy()
	s.Backup.Spec.BackupState = a.State
	return s
}

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
