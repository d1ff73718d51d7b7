package plan

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteBackupStatus replaces the status of a backup's record.
type WriteBackupStatus struct {
	Backup string `json:"backup"`
	// Changes says in words what differs from the status that is there.
	Changes []string                         `json:"changes" fingerprint:"-"`
	Status  v1beta2.FoundationDBBackupStatus `json:"-"`
	// Move is what is noted beside it of a move of the backup; empty for nothing.
	Move string `json:"-"`
}

// Describe implements Action.
func (a WriteBackupStatus) Describe() string {
	return "record what was observed: " + strings.Join(a.Changes, "; ")
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

// noteMove has a record say what is noted of a move of its backup; empty for nothing.
func noteMove(b *v1beta2.FoundationDBBackup, note string) {
	if note == "" {
		delete(b.Annotations, AnnotationBackupMove)
		return
	}
	metav1.SetMetaDataAnnotation(&b.ObjectMeta, AnnotationBackupMove, note)
}

// SetBackupFinalizer adds the finalizer that keeps a backup's record until its deletion
// policy was carried out, or takes it away.
type SetBackupFinalizer struct {
	Backup  string `json:"backup"`
	Present bool   `json:"present"`
}

// Describe implements Action.
func (a SetBackupFinalizer) Describe() string {
	if a.Present {
		return "add the finalizer to FoundationDBBackup " + a.Backup
	}
	return "take the finalizer off FoundationDBBackup " + a.Backup
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
	return "delete Deployment " + a.Name + ": no agents are wanted"
}

// Subject implements Action.
func (a DeleteAgents) Subject() string { return a.Name }

func (DeleteAgents) effect() Effect { return Effect{Stale: Agents | BackupStatus, Impact: NoImpact} }

// DeleteAgentPod deletes a pod of an agent that has ended for good; its deployment makes
// another one.
type DeleteAgentPod struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Describe implements Action.
func (a DeleteAgentPod) Describe() string { return "delete pod " + a.Name + ", which has ended" }

// Subject implements Action.
func (a DeleteAgentPod) Subject() string { return a.Name }

func (DeleteAgentPod) effect() Effect { return Effect{Stale: Agents, Impact: NoImpact} }

// StartBackup starts a backup.
type StartBackup struct {
	Start   fdb.BackupStart `json:"start"`
	Version fdb.Version     `json:"-"` // of the tools
}

// Describe implements Action. It says all that matters: what was approved is known by its
// words.
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
	// Abort ends it as it is. Without, it ends once the database calls it restorable.
	Abort bool `json:"abort"`
	// NotRestorable says why nothing can be restored from where it goes although the database
	// says so; empty where that is not known of it.
	NotRestorable string `json:"notRestorable,omitempty" fingerprint:"presence"`
}

// Describe implements Action.
func (a StopBackup) Describe() string {
	if a.Abort {
		return "abort the backup on tag " + a.Tag
	}
	if a.NotRestorable != "" {
		return "end the backup on tag " + a.Tag + " before anything can be restored from where it goes: " + a.NotRestorable
	}
	return "end the backup on tag " + a.Tag + " once it is restorable"
}

// Subject implements Action.
func (a StopBackup) Subject() string { return tagSubject(a.Tag) }

func (StopBackup) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

// PauseAgents has all backup agents of the database pause, or go on.
type PauseAgents struct {
	Pause bool `json:"pause"`
	// Tag is the one to look at afterwards.
	Tag string `json:"tag"`
}

// Describe implements Action.
func (a PauseAgents) Describe() string {
	if a.Pause {
		return "pause all backup agents of the database"
	}
	return "have all backup agents of the database go on"
}

// Subject implements Action.
func (a PauseAgents) Subject() string { return "backup agents" }

func (PauseAgents) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

// ModifyBackup changes the snapshot period or the place of a running backup.
type ModifyBackup struct {
	Change fdb.BackupChange `json:"change"`
	// Move is what is noted on the record before the backup is moved; nil where it stays.
	Move *BackupMove `json:"-"`
}

// Describe implements Action.
func (a ModifyBackup) Describe() string {
	text := fmt.Sprintf("change the backup on tag %s: a snapshot every %s", a.Change.Tag, a.Change.Period)
	if a.Change.URL != "" {
		text += ", to " + fdb.WithoutSecrets(a.Change.URL) + encryptedWith(a.Change.EncryptionKeyFile) +
			"; from there nothing can be restored before the next whole snapshot is complete"
	}
	return text
}

// Subject implements Action.
func (a ModifyBackup) Subject() string { return tagSubject(a.Change.Tag) }

func (ModifyBackup) effect() Effect { return Effect{Stale: BackupStatus, Impact: NoImpact} }

// DeleteBackupData deletes all that a backup wrote, and takes the finalizer off once
// nothing is left: nothing else remembers that it is gone.
type DeleteBackupData struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
}

// Describe implements Action.
func (a DeleteBackupData) Describe() string {
	return "delete all data of the backup at " + fdb.WithoutSecrets(a.URL) + ", then take the finalizer off FoundationDBBackup " + a.Backup
}

// Subject implements Action.
func (a DeleteBackupData) Subject() string { return a.Backup }

func (DeleteBackupData) effect() Effect {
	return Effect{Stale: Backup | BackupStatus | Database, Impact: DataLoss, AtMost: deletionAtMost}
}
