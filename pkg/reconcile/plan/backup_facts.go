package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// AgentFacts are what there is of backup agents.
type AgentFacts struct {
	// Deployment is the backup's; nil when there is none, and in a pass for a restore.
	Deployment *appsv1.Deployment
	// Pods are the agents' pods by name.
	Pods map[string]*corev1.Pod
}

// BackupFacts are the answer, or the lack of one, to a question about a tag.
type BackupFacts struct {
	// Status is the answer; nil when there is none.
	Status *fdb.BackupStatus
	// Errors are what agents met lately. They are asked for only where the backup runs and
	// cannot be restored, or is behind; nil for none, and where nobody could tell.
	Errors []string
	// NotAsked says why nobody could be asked; empty when the database was asked.
	NotAsked string
	// Unreachable says why an asked database gave no answer that can be used.
	Unreachable string
	// AsOf is when the answer came.
	AsOf time.Time
}

// Why explains in a few words why there is no answer; it is empty when there is one.
func (f BackupFacts) Why() string { return whyNot(f.Status != nil, f.NotAsked, f.Unreachable) }

// StoreFacts are the answer, or the lack of one, to a question about a place in a store.
type StoreFacts struct {
	// Read is false when there is no answer.
	Read bool
	// URL is the place that was asked about, without secrets.
	URL string
	// There is what is there; nil for nothing.
	There *fdb.BackupDescription
	// NotAsked says why nobody could be asked; empty when a tool was.
	NotAsked string
	// Unreachable says why there is no answer that can be used.
	Unreachable string
	// AsOf is when the answer came.
	AsOf time.Time
}

// Why explains in a few words why there is no answer; it is empty when there is one.
func (f StoreFacts) Why() string {
	return orUnasked(f.Read, f.NotAsked, f.Unreachable, "the store was not asked")
}

// UseFacts are the answer, or the lack of one, to who uses stores for the database.
type UseFacts struct {
	// Read is false when there is no answer about both.
	Read bool
	// Backups are those of all tags that run, and Restores those that are not over.
	Backups  []fdb.BackupStatus
	Restores []fdb.RestoreStatus
	// RestoresRead is true where there is an answer about restores, whatever is known of
	// backups.
	RestoresRead bool
	// NotRead says why there is no answer, and what a person can do about it where there is
	// anything; empty when there is one, or nobody asked.
	NotRead string
	// Lasting is true when there will be no answer later either.
	Lasting bool
}

// KnowsRestores reports whether Restores is an answer.
func (f UseFacts) KnowsRestores() bool { return f.Read || f.RestoresRead }

// OtherFacts are the other records of a kind in the namespace, or the lack of an answer.
type OtherFacts[T any] struct {
	// Read is false when there is no answer.
	Read bool
	// All are in the order of their names.
	All []T
	// NotRead says why there is no answer; empty when there is one, or nobody asked.
	NotRead string
}

// OtherBackupFacts are read with the record of a backup.
type OtherBackupFacts = OtherFacts[v1beta2.FoundationDBBackup]

// OtherRestoreFacts are read where a restore is about to be ended.
type OtherRestoreFacts = OtherFacts[v1beta2.FoundationDBRestore]

// SourceFacts are the backup that begins at the place which a restore names. They are empty
// where there is none, and where nobody could tell: then FoundationDB decides.
type SourceFacts struct {
	// Backup names its record; Status is what the database says of its tag.
	Backup string
	Status *fdb.BackupStatus
	// Restorable says whether the backup can be restored from where it goes.
	Restorable Restorability
	// There is what is at the place by now; nil for nothing, and where nobody could tell.
	There *fdb.BackupDescription
}

// Begins reports whether the backup runs to a place, and is not restorable yet.
func (f SourceFacts) Begins(url string) bool {
	return f.Status != nil && f.Status.State.Running && !f.Restorable.OK && fdb.SameBackupURL(f.Status.URL, url)
}

// RestoreFacts are the answer, or the lack of one, to a question about restores.
type RestoreFacts struct {
	// Read is false when there is no answer.
	Read bool
	// All are the restores of all tags, those that are over with them.
	All []fdb.RestoreStatus
	// NotAsked says why nobody could be asked; empty when the database was asked.
	NotAsked string
	// Unreachable says why an asked database gave no answer that can be used.
	Unreachable string
	// AsOf is when the answer came.
	AsOf time.Time
}

// Why explains in a few words why there is no answer; it is empty when there is one.
func (f RestoreFacts) Why() string { return whyNot(f.Read, f.NotAsked, f.Unreachable) }

func whyNot(answered bool, notAsked, unreachable string) string {
	return orUnasked(answered, notAsked, unreachable, "the database was not asked")
}

func orUnasked(answered bool, notAsked, unreachable, otherwise string) string {
	switch {
	case answered:
		return ""
	case notAsked != "":
		return notAsked
	case unreachable != "":
		return unreachable
	default:
		return otherwise
	}
}
