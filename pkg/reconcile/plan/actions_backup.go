package plan

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteBackupStatus replaces the status of a FoundationDBBackup.
type WriteBackupStatus struct {
	Backup string `json:"backup"`
	// Changes describes the differences from the current status.
	Changes []string                         `json:"changes" fingerprint:"-"`
	Status  v1beta2.FoundationDBBackupStatus `json:"-"`
	// Move is the value of AnnotationBackupMove; empty for none.
	Move string `json:"-"`
}

// Describe implements Action.
func (a WriteBackupStatus) Describe() string {
	return "update status: " + strings.Join(a.Changes, "; ")
}

// Subject implements Action.
func (a WriteBackupStatus) Subject() string { return a.Backup }

func (WriteBackupStatus) effect() Effect { return Effect{Stale: Backup, Impact: NoImpact} }

// Apply implements Edit.
func (a WriteBackupStatus) Apply(s Snapshot) Snapshot {
	s.Backup = s.Backup.DeepCopy()
	a.Status.DeepCopyInto(&s.Backup.Status)
	noteMove(s.Backup, a.Move)
	return s
}

// noteMove sets AnnotationBackupMove, or removes it when the note is empty.
func noteMove(b *v1beta2.FoundationDBBackup, note string) {
	if note == "" {
		delete(b.Annotations, AnnotationBackupMove)
		return
	}
	metav1.SetMetaDataAnnotation(&b.ObjectMeta, AnnotationBackupMove, note)
}

// SetBackupFinalizer adds the finalizer that keeps a FoundationDBBackup until its deletion
// policy was carried out, or removes it.
type SetBackupFinalizer struct {
	Backup  string `json:"backup"`
	Present bool   `json:"present"`
}

// Describe implements Action.
func (a SetBackupFinalizer) Describe() string {
	if a.Present {
		return "add the finalizer to FoundationDBBackup " + a.Backup
	}
	return "remove the finalizer from FoundationDBBackup " + a.Backup
}

// Subject implements Action.
func (a SetBackupFinalizer) Subject() string { return a.Backup }

func (SetBackupFinalizer) effect() Effect { return Effect{Stale: Backup, Impact: NoImpact} }

// ApplyAgents creates or updates the deployment of a backup's agents.
type ApplyAgents struct {
	Name   string             `json:"name"`
	Create bool               `json:"create"`
	Object *appsv1.Deployment `json:"-"`
}

// Describe implements Action.
func (a ApplyAgents) Describe() string {
	verb := "update"
	if a.Create {
		verb = "create"
	}
	return fmt.Sprintf("%s Deployment %s with %s", verb, a.Name, phrase.Count(agentsOf(a.Object), "agent"))
}

func agentsOf(d *appsv1.Deployment) int32 {
	if d == nil || d.Spec.Replicas == nil {
		return 0
	}
	return *d.Spec.Replicas
}

// Subject implements Action.
func (a ApplyAgents) Subject() string { return a.Name }

func (ApplyAgents) effect() Effect { return Effect{Stale: Agents | BackupStatus, Impact: NoImpact} }

// DeleteAgents deletes the deployment of a backup's agents.
type DeleteAgents struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Describe implements Action.
func (a DeleteAgents) Describe() string {
	return "delete Deployment " + a.Name + ": no agents are desired"
}

// Subject implements Action.
func (a DeleteAgents) Subject() string { return a.Name }

func (DeleteAgents) effect() Effect { return Effect{Stale: Agents | BackupStatus, Impact: NoImpact} }

// DeleteAgentPod deletes a terminated pod of a backup agent; its Deployment creates another
// one.
type DeleteAgentPod struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Describe implements Action.
func (a DeleteAgentPod) Describe() string { return "delete terminated pod " + a.Name }

// Subject implements Action.
func (a DeleteAgentPod) Subject() string { return a.Name }

func (DeleteAgentPod) effect() Effect { return Effect{Stale: Agents, Impact: NoImpact} }

// StartBackup starts a backup.
type StartBackup struct {
	Start   fdb.BackupStart `json:"start"`
	Version fdb.Version     `json:"-"` // of the tools
}

// Describe implements Action.
func (a StartBackup) Describe() string {
	mode := "one snapshot"
	if a.Start.Continuous {
		mode = "continuous, a snapshot every " + a.Start.Period.String()
	}
	text := fmt.Sprintf("start a backup on tag %s to %s: %s", a.Start.Tag, fdb.WithoutSecrets(a.Start.URL), mode)
	if a.Start.PartitionedLog {
		text += ", with partitioned logs"
	}
	return text + encryptedWith(a.Start.EncryptionKeyFile)
}

func encryptedWith(key string) string {
	if key == "" {
		return ", not encrypted"
	}
	return ", encrypted with " + key
}

// Subject implements Action.
func (a StartBackup) Subject() string { return tagSubject(a.Start.Tag) }

func (StartBackup) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

func tagSubject(tag string) string { return "backup tag " + tag }

// StopBackup ends a backup.
type StopBackup struct {
	Tag string `json:"tag"`
	// Abort ends it in its current state. Otherwise it ends once the database reports it restorable.
	Abort bool `json:"abort"`
	// NotRestorable is why nothing can be restored from its destination although the database
	// reports it restorable; empty where there is no such reason.
	NotRestorable string `json:"notRestorable,omitempty" fingerprint:"presence"`
}

// Describe implements Action.
func (a StopBackup) Describe() string {
	if a.Abort {
		return "abort the backup on tag " + a.Tag
	}
	if a.NotRestorable != "" {
		return "end the backup on tag " + a.Tag + " before it is restorable from its destination: " + a.NotRestorable
	}
	return "end the backup on tag " + a.Tag + " once it is restorable"
}

// Subject implements Action.
func (a StopBackup) Subject() string { return tagSubject(a.Tag) }

func (StopBackup) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

// PauseAgents pauses or resumes all backup agents of the database.
type PauseAgents struct {
	Pause bool `json:"pause"`
	// Tag is the one whose status is read afterwards.
	Tag string `json:"tag"`
}

// Describe implements Action.
func (a PauseAgents) Describe() string {
	if a.Pause {
		return "pause all backup agents of the database"
	}
	return "resume all backup agents of the database"
}

// Subject implements Action.
func (a PauseAgents) Subject() string { return "backup agents" }

func (PauseAgents) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

// ModifyBackup changes the snapshot period or the destination of a running backup.
type ModifyBackup struct {
	Change fdb.BackupChange `json:"change"`
	// Move is written to AnnotationBackupMove before the backup is moved; nil where its destination stays.
	Move *BackupMove `json:"-"`
}

// Describe implements Action.
func (a ModifyBackup) Describe() string {
	text := fmt.Sprintf("change the backup on tag %s: a snapshot every %s", a.Change.Tag, a.Change.Period)
	if a.Change.URL != "" {
		text += ", to " + fdb.WithoutSecrets(a.Change.URL) + encryptedWith(a.Change.EncryptionKeyFile) +
			"; not restorable from there before the next full snapshot is complete"
	}
	return text
}

// Subject implements Action.
func (a ModifyBackup) Subject() string { return tagSubject(a.Change.Tag) }

func (ModifyBackup) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

// DeleteBackupData deletes all that a backup wrote, and removes the finalizer once nothing is
// left: nothing else keeps the fact that it was deleted.
type DeleteBackupData struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
}

// Describe implements Action.
func (a DeleteBackupData) Describe() string {
	return "delete all data of the backup at " + fdb.WithoutSecrets(a.URL) + ", then remove the finalizer from FoundationDBBackup " + a.Backup
}

// Subject implements Action.
func (a DeleteBackupData) Subject() string { return a.Backup }

func (DeleteBackupData) effect() Effect {
	return Effect{Stale: Backup | BackupStatus | Database, Impact: DataLoss, AtMost: deletionAtMost}
}

// deletionAtMost bounds deletions from a store: files are deleted one by one, and a backup can
// have very many.
const deletionAtMost = time.Hour

// ExpireBackup deletes the data of a backup before a version.
type ExpireBackup struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
	// Before is the first version that stays.
	Before int64 `json:"before"`
	// Snapshots are deleted, with Bytes of data.
	Snapshots int   `json:"snapshots"`
	Bytes     int64 `json:"bytes"`
	// RestorableFrom is the first version that can be restored afterwards; nil for none.
	RestorableFrom *int64 `json:"restorableFrom"`
	// Force expires even if nothing is restorable afterwards.
	Force bool `json:"force"`
}

// Describe implements Action.
func (a ExpireBackup) Describe() string {
	after := "not restorable afterwards, until another snapshot is complete"
	if a.RestorableFrom != nil {
		after = fmt.Sprintf("restorable from version %d afterwards", *a.RestorableFrom)
	}
	text := fmt.Sprintf("delete the data of the backup at %s before version %d: %s with %s, and the log; %s",
		fdb.WithoutSecrets(a.URL), a.Before, phrase.Count(a.Snapshots, "snapshot"), phrase.Count(a.Bytes, "byte"), after)
	if a.Force {
		text += "; forced"
	}
	return text
}

// Subject implements Action.
func (a ExpireBackup) Subject() string { return a.Backup }

func (ExpireBackup) effect() Effect {
	return Effect{Stale: BackupStore | Database, Impact: DataLoss, AtMost: deletionAtMost}
}

// ClearBackupData deletes all that a backup wrote, and keeps its FoundationDBBackup.
type ClearBackupData struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
	// Snapshots are deleted, with Bytes of data.
	Snapshots int   `json:"snapshots"`
	Bytes     int64 `json:"bytes"`
	// RestorableFrom and RestorableTo are the restorable versions before the deletion; nil for none.
	RestorableFrom *int64 `json:"restorableFrom"`
	RestorableTo   *int64 `json:"restorableTo"`
	// UpTo is the newest version of anything in the store; 0 for none.
	UpTo int64 `json:"upTo"`
}

// Describe implements Action.
func (a ClearBackupData) Describe() string {
	lost := "not restorable now"
	if a.RestorableFrom != nil && a.RestorableTo != nil {
		lost = fmt.Sprintf("restorable now from version %d to %d", *a.RestorableFrom, *a.RestorableTo)
	}
	return fmt.Sprintf("permanently delete all data of the backup at %s: %s with %s, and the log, up to version %d, %s",
		fdb.WithoutSecrets(a.URL), phrase.Count(a.Snapshots, "snapshot"), phrase.Count(a.Bytes, "byte"), a.UpTo, lost)
}

// Subject implements Action.
func (a ClearBackupData) Subject() string { return a.Backup }

func (ClearBackupData) effect() Effect {
	return Effect{Stale: BackupStore | Database, Impact: DataLoss, AtMost: deletionAtMost}
}
