package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Action is one change to the cluster state, as data. Only the actor knows how to carry it
// out.
//
//sumtype:decl
type Action interface {
	// Describe returns one imperative line about what the action does.
	Describe() string
	// Subject names what the action changes: a process group, an object, "database".
	Subject() string
	effect() Effect
}

// Effect is what the engine must know to run an action.
type Effect struct {
	// Stale are the facets that are out of date once the action has run.
	Stale Facet
	// Locked is true when the action may run only under the cluster lock.
	Locked bool
	// Cooldown is how long after the action no other control-plane instance may act, because
	// the database does not show yet which processes were stopped. Zero when it shows at once.
	Cooldown time.Duration
	// AtMost is how long the action may last, if that is more than minutes. The end of the run
	// interrupts such an action, and the same action later continues with the rest. Zero for an
	// action that is not interrupted.
	AtMost time.Duration
	// Parallel is true when actions of this kind may run at the same time.
	Parallel bool
	// Impact is what the action does to a running database.
	Impact Impact
}

// Impact is what an action does to a running database, for users who approve it.
type Impact string

// The impacts, from none to the worst.
const (
	NoImpact       Impact = "none"
	Recovery       Impact = "recovery"        // a short pause of all commits
	ProcessRestart Impact = "process-restart" // fdbserver processes restart
	DataMove       Impact = "data-move"       // data moves between processes
	DataLoss       Impact = "data-loss"       // replicas of data, or a backup, are deleted
	DataRestore    Impact = "data-restore"    // the database is locked until the restore is complete
)

// EffectOf returns the effect of running a.
func EffectOf(a Action) Effect { return a.effect() }

// LosesData reports whether an action deletes what cannot be recovered: a plain confirmation
// is not enough for it.
func LosesData(a Action) bool { return a.effect().Impact == DataLoss }

// KindOf returns the action's kind, the name of its type: "CreatePod".
func KindOf(a Action) string { return reflect.TypeOf(a).Name() }

// Records reports whether an action only writes what a pass observed. It differs in every
// snapshot, and needs no approval beside the approved actions.
func Records(a Action) bool { return RecordsKind(KindOf(a)) }

// RecordsKind is Records, by the kind of the action.
func RecordsKind(kind string) bool {
	return kind == KindOf(WriteStatus{}) || kind == KindOf(RecordTaints{}) || kind == KindOf(RecordFailures{}) ||
		kind == KindOf(WriteBackupStatus{}) || kind == KindOf(WriteRestoreStatus{})
}

// Edit is an action whose whole effect is a known change of the snapshot, so a
// preview can apply it without running it.
type Edit interface {
	Action
	// Apply returns the snapshot as it will be; it does not change s or what s points to.
	Apply(s Snapshot) Snapshot
}

// ClusterAction is an action of a pass over a cluster.
//
//sumtype:decl
type ClusterAction interface {
	Action
	ofCluster()
}

// BackupAction is an action of a pass over a backup.
//
//sumtype:decl
type BackupAction interface {
	Action
	ofBackup()
}

// RestoreAction is an action of a pass over a restore.
//
//sumtype:decl
type RestoreAction interface {
	Action
	ofRestore()
}

func (WriteStatus) ofCluster()            {}
func (AddGroups) ofCluster()              {}
func (SetConnectionString) ofCluster()    {}
func (MarkForRemoval) ofCluster()         {}
func (KeepGroups) ofCluster()             {}
func (SetExcluded) ofCluster()            {}
func (SetPriorities) ofCluster()          {}
func (SetSkip) ofCluster()                {}
func (RecordFailures) ofCluster()         {}
func (ApplyFailureDetector) ofCluster()   {}
func (DeleteFailureDetector) ofCluster()  {}
func (CordonNode) ofCluster()             {}
func (UncordonNode) ofCluster()           {}
func (ApplyConfigMap) ofCluster()         {}
func (ApplyService) ofCluster()           {}
func (CreatePVC) ofCluster()              {}
func (CreatePod) ofCluster()              {}
func (PatchMetadata) ofCluster()          {}
func (AdoptSpec) ofCluster()              {}
func (RecordTaints) ofCluster()           {}
func (SyncPodFiles) ofCluster()           {}
func (SetSidecarImage) ofCluster()        {}
func (DeletePods) ofCluster()             {}
func (DeleteService) ofCluster()          {}
func (DeleteGroupObjects) ofCluster()     {}
func (ApplyDisruptionBudget) ofCluster()  {}
func (DeleteDisruptionBudget) ofCluster() {}
func (SetTolerations) ofCluster()         {}
func (EvictAgent) ofCluster()             {}
func (Configure) ofCluster()              {}
func (ChangeCoordinators) ofCluster()     {}
func (Exclude) ofCluster()                {}
func (Include) ofCluster()                {}
func (IncludeAndForget) ofCluster()       {}
func (RestartProcesses) ofCluster()       {}
func (StartMaintenance) ofCluster()       {}
func (EndMaintenance) ofCluster()         {}
func (ForgetMaintenance) ofCluster()      {}
func (UpdateDenyList) ofCluster()         {}
func (HoldLock) ofCluster()               {}
func (ReleaseLock) ofCluster()            {}
func (AnnounceUpgrade) ofCluster()        {}
func (WithdrawUpgrade) ofCluster()        {}
func (ChangeLists) ofCluster()            {}

func (WriteBackupStatus) ofBackup()  {}
func (SetBackupState) ofBackup()     {}
func (SetBackupFinalizer) ofBackup() {}
func (ApplyAgents) ofBackup()        {}
func (DeleteAgents) ofBackup()       {}
func (DeleteAgentPod) ofBackup()     {}
func (StartBackup) ofBackup()        {}
func (StopBackup) ofBackup()         {}
func (PauseAgents) ofBackup()        {}
func (ModifyBackup) ofBackup()       {}
func (DeleteBackupData) ofBackup()   {}
func (ExpireBackup) ofBackup()       {}
func (ClearBackupData) ofBackup()    {}
func (SetTolerations) ofBackup()     {}

func (WriteRestoreStatus) ofRestore() {}
func (StartRestore) ofRestore()       {}
func (AbortRestore) ofRestore()       {}
func (SetRestoreVersion) ofRestore()  {}

// Repeated is an action of which a stage decides one for each object. Several are reported as one,
// where only their objects differ.
type Repeated interface {
	Action
	// What identifies what is done, whatever the object: actions of one kind with the same What
	// are reported together.
	What() string
	// Each names the object without the words around it: "storage-1".
	Each() string
	// Together returns an imperative description of n such actions, without their objects.
	Together(n int) string
}

// What implements Repeated.
func (CreatePVC) What() string { return "" }

// Each implements Repeated.
func (a CreatePVC) Each() string { return string(a.Group) }

// Together implements Repeated.
func (CreatePVC) Together(n int) string { return "create " + phrase.Count(n, "PVC") }

// What implements Repeated.
func (CreatePod) What() string { return "" }

// Each implements Repeated.
func (a CreatePod) Each() string { return string(a.Group) }

// Together implements Repeated.
func (CreatePod) Together(n int) string { return "create " + phrase.Count(n, "pod") }

// What implements Repeated.
func (a ApplyService) What() string { return string(a.Verb) }

// Each implements Repeated.
func (a ApplyService) Each() string { return a.Name }

// Together implements Repeated.
func (a ApplyService) Together(n int) string {
	return string(a.Verb) + " " + phrase.Count(n, "service")
}

// What implements Repeated.
func (a SyncPodFiles) What() string { return strings.Join(a.Files, ",") }

// Each implements Repeated.
func (a SyncPodFiles) Each() string { return string(a.Group) }

// Together implements Repeated.
func (a SyncPodFiles) Together(n int) string {
	return fmt.Sprintf("copy %s in the sidecars of %s", strings.Join(a.Files, ", "), phrase.Count(n, "pod"))
}

// What implements Repeated.
func (a PatchMetadata) What() string { return string(a.Kind) + " " + strings.Join(a.keys(), ",") }

// Each implements Repeated.
func (a PatchMetadata) Each() string { return phrase.Or(string(a.Group), a.Name) }

// Together implements Repeated.
func (a PatchMetadata) Together(n int) string {
	noun := "pod"
	if a.Kind == KindPVC {
		noun = "PVC"
	}
	return fmt.Sprintf("set on %s: %s", phrase.Count(n, noun), strings.Join(a.keys(), ", "))
}

// keys are the labels and annotations that change; those that are removed begin with "-".
func (a PatchMetadata) keys() []string {
	keys := slices.Sorted(maps.Keys(a.Labels))
	keys = append(keys, slices.Sorted(maps.Keys(a.Annotations))...)
	for _, key := range a.Remove {
		keys = append(keys, "-"+key)
	}
	return keys
}

// What implements Repeated.
func (a SetSidecarImage) What() string { return a.Container + " " + a.Image }

// Each implements Repeated.
func (a SetSidecarImage) Each() string { return string(a.Group) }

// Together implements Repeated.
func (a SetSidecarImage) Together(n int) string {
	return fmt.Sprintf("set the image of container %s of %s to %s", a.Container, phrase.Count(n, "pod"), a.Image)
}
