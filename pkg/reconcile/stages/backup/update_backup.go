package backup

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// updateBackupAgents reconciles the Deployment of the agents. Other labels and annotations on it
// stay; because of them the operator rewrites the Deployment in every pass. A number of agents
// that was changed manually is reverted. A resource that is being deleted needs agents until its
// deletion policy is carried out.
var updateBackupAgents = plan.Stage{
	Name:  plan.StageUpdateBackupAgents,
	Reads: plan.Backup | plan.Agents,
	Decide: func(s plan.Snapshot) plan.Decision {
		have := s.Agents.Deployment
		carriesOut := slices.Contains(s.Backup.Finalizers, v1beta2.FinalizerBackup)
		if s.Backup.DeletionTimestamp != nil && (have != nil || !carriesOut) {
			return plan.Decision{} // existing agents carry out the deletion policy as they are
		}
		want, err := objects.AgentDeployment(s.Backup)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		switch {
		case have == nil && want == nil:
			return plan.Decision{}
		case have == nil:
			return plan.Decision{
				Why: "the Deployment of the agents does not exist", Actions: []plan.Action{plan.ApplyAgents{Name: want.Name, Create: true, Object: want}},
				Hold: agentsHold("no agent runs yet"),
			}
		case !metav1.IsControlledBy(have, s.Backup):
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAgentsNotOwned, Manual: true, Reason: fmt.Sprintf(
				"Deployment %s exists and does not belong to this backup; delete or rename it", have.Name)}}
		case want == nil:
			return plan.Decision{Why: "spec.agentCount is 0", Actions: []plan.Action{plan.DeleteAgents{Name: have.Name, UID: have.UID}}}
		case !agentsMatch(have, want):
			return plan.Decision{
				Why:     "the Deployment of the agents differs from the spec",
				Actions: []plan.Action{plan.ApplyAgents{Name: have.Name, Object: updatedAgents(have, want)}},
				Hold:    agentsHold("the agents restart"),
			}
		}
		return unreadyAgents(s, have)
	},
}

func agentsHold(reason string) *plan.Hold {
	return &plan.Hold{Code: plan.HoldAgentsStarting, Reason: reason, RetryAfter: backupDelay}
}

// updatedAgents returns the existing Deployment with the desired spec and metadata.
func updatedAgents(have, want *appsv1.Deployment) *appsv1.Deployment {
	updated := have.DeepCopy()
	want.Spec.DeepCopyInto(&updated.Spec)
	readings.MergeMetadata(&updated.ObjectMeta, want.ObjectMeta)
	return updated
}

// agentsMatch reports whether a Deployment matches the spec, whatever its pods do.
func agentsMatch(have, want *appsv1.Deployment) bool {
	return objects.ContainsMetadata(have.ObjectMeta, want.ObjectMeta) && ptr.Deref(have.Spec.Replicas, 1) == *want.Spec.Replicas
}

// agentsConfigured reports whether the Deployment matches and Kubernetes has observed it.
func agentsConfigured(s plan.Snapshot, want *appsv1.Deployment) bool {
	have := s.Agents.Deployment
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	return agentsMatch(have, want) && have.Status.ObservedGeneration == have.Generation
}

// unreadyAgents deletes pods of agents that have ended, and waits for the others.
func unreadyAgents(s plan.Snapshot, have *appsv1.Deployment) plan.Decision {
	var d plan.Decision
	ready, desired := have.Status.ReadyReplicas, ptr.Deref(have.Spec.Replicas, 1)
	if ready >= desired {
		return d
	}
	d.Hold = agentsHold(phrase.CountOf(ready, desired, "agent") + " ready")
	for _, name := range slices.Sorted(maps.Keys(s.Agents.Pods)) {
		pod := s.Agents.Pods[name]
		if readings.HasEnded(pod) && ownAgent(s.Backup, pod) && s.Now.Sub(pod.CreationTimestamp.Time) >= readings.MinTerminalPodAge {
			d.Why = "pods that have ended never restart"
			d.Actions = append(d.Actions, plan.DeleteAgentPod{Name: name, UID: pod.UID})
		}
	}
	return d
}

// ownAgent reports whether a pod is one of the backup's own agents.
func ownAgent(b *v1beta2.FoundationDBBackup, pod *corev1.Pod) bool {
	return pod.Labels[v1beta2.LabelDeploymentName] == b.DeploymentName()
}

// updateBackupStatus records the observed state of agents and backup, and what the spec waits for,
// and waits until a desired backup can be restored. While the database does not answer, its last
// state stays. A URL is recorded without secrets, which the operator writes. Nothing is recorded
// about a foreign backup on the tag: the status describes the resource's own backup, which may be
// stopped, moved or deleted. A changed tag ends the pass: the backup on the old one would
// otherwise run unmanaged.
var updateBackupStatus = plan.Stage{
	Name:  plan.StageUpdateBackupStatus,
	Reads: plan.Backup | plan.Agents | plan.BackupStatus,
	Decide: func(s plan.Snapshot) plan.Decision {
		if s.Backup.DeletionTimestamp != nil {
			return plan.Decision{}
		}
		if old := formerTag(s.Backup); old != "" {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldTagChanged, Manual: true, Then: plan.EndPass, Reason: fmt.Sprintf(
				"spec.tag is %s, and this backup runs on tag %s: a tag cannot be changed; create another FoundationDBBackup for the new one",
				s.Backup.Tag(), old)}}
		}
		fresh, err := backupStatus(s)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		var d plan.Decision
		note := noteOfMove(s)
		if !reflect.DeepEqual(fresh, s.Backup.Status) || note != s.Backup.Annotations[plan.AnnotationBackupMove] {
			d.Why = "the status differs from the observed state"
			d.Actions = []plan.Action{plan.WriteBackupStatus{
				Backup: s.Backup.Name, Changes: backupChanges(s, fresh, note), Status: fresh, Move: note,
			}}
		}
		why := s.BackupStatus.Why()
		switch {
		case why == "" && s.Backup.IsManaged() && isRunning(s) && isForeign(s):
			d.Hold = foreignBackup(OwnBackup(s)).Hold
		case why != "":
			d.Hold = &plan.Hold{Code: plan.HoldBackupStateUnknown, Reason: "the status keeps the last known state of the backup: " + why, RetryAfter: backupDelay}
		case begins(s):
			d.Hold = firstSnapshotHold(s)
		}
		return d
	},
}

// begins reports whether the resource's own backup runs as desired and is not restorable yet. A
// paused one makes no progress, and StopBackup waits for one that ends.
func begins(s plan.Snapshot) bool {
	return s.Backup.IsManaged() && orRunning(s.Backup.Spec.BackupState) == v1beta2.BackupStateRunning &&
		isRunning(s) && !restorable(s).OK
}

// firstSnapshotHold waits for the first snapshot, or the first after a move, with the errors that
// prevent agents from writing it.
func firstSnapshotHold(s plan.Snapshot) *plan.Hold {
	reason, delay := notRestorableYet, backupDelay
	if r := restorable(s); r.Move != nil {
		reason, delay = r.Why, moveDelay
	}
	if found := s.BackupStatus.Errors; len(found) > 0 {
		reason += "; errors of agents: " + strings.Join(found, ", ")
	}
	return &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: reason, RetryAfter: delay}
}

// formerTag returns the tag that the resource's backup was last observed on, if its spec now has
// another one; empty otherwise.
func formerTag(b *v1beta2.FoundationDBBackup) string {
	if old := b.Status.BackupDetails; old != nil && old.Tag != string(b.Tag()) {
		return old.Tag
	}
	return ""
}

// backupStatus returns the status that the resource should have.
func backupStatus(s plan.Snapshot) (v1beta2.FoundationDBBackupStatus, error) {
	want, err := objects.AgentDeployment(s.Backup)
	if err != nil {
		return v1beta2.FoundationDBBackupStatus{}, err
	}
	fresh := v1beta2.FoundationDBBackupStatus{
		DeploymentConfigured: agentsConfigured(s, want),
		BackupDetails:        backupDetails(s),
	}
	if have := s.Agents.Deployment; have != nil {
		fresh.AgentCount = int(min(have.Status.ReadyReplicas, have.Status.UpdatedReplicas))
	}
	fresh.Generations = Generations(s, fresh)
	return fresh, nil
}

func backupDetails(s plan.Snapshot) *v1beta2.FoundationDBBackupStatusBackupDetails {
	live := s.BackupStatus.Status
	if live == nil {
		return s.Backup.Status.BackupDetails.DeepCopy()
	}
	if isForeign(s) {
		return detailsBesideForeign(s.Backup.Status.BackupDetails, live)
	}
	return &v1beta2.FoundationDBBackupStatusBackupDetails{
		URL: fdb.WithoutSecrets(live.URL), Running: live.State.Running, Paused: live.AgentsPaused,
		SnapshotTime: int(ptr.Deref(live.SnapshotSeconds, 0)), Restorable: restorable(s).OK, Tag: live.Tag,
	}
}

// noteOfMove returns the note about a move of the backup. Nothing changes while the database does
// not answer, and nothing is noted about a foreign backup.
func noteOfMove(s plan.Snapshot) string {
	if s.BackupStatus.Status == nil || isForeign(s) || !s.Backup.IsManaged() {
		return s.Backup.Annotations[plan.AnnotationBackupMove]
	}
	return plan.NoteOfMove(s.Backup, s.BackupStatus.Status)
}

// detailsBesideForeign returns the recorded details of the resource's own backup, which does not
// run while the tag has a foreign one. Its destination and restorability stay valid.
func detailsBesideForeign(old *v1beta2.FoundationDBBackupStatusBackupDetails, live *fdb.BackupStatus) *v1beta2.FoundationDBBackupStatusBackupDetails {
	kept := old.DeepCopy()
	if kept != nil {
		kept.Running, kept.Paused, kept.SnapshotTime = false, live.AgentsPaused, 0
	}
	return kept
}

// Generations returns what the spec waits for. While the database does not answer that stays
// unchanged, and no generation counts as reconciled.
func Generations(s plan.Snapshot, fresh v1beta2.FoundationDBBackupStatus) v1beta2.BackupGenerationStatus {
	old, generation := s.Backup.Status.Generations, s.Backup.Generation
	g := v1beta2.BackupGenerationStatus{Reconciled: old.Reconciled}
	wait := func(needed bool, into *int64) {
		if needed {
			*into = generation
		}
	}
	wait(fresh.AgentCount != s.Backup.AgentCount() || !fresh.DeploymentConfigured, &g.NeedsBackupAgentUpdate)
	switch {
	case s.Backup.IsManaged() && s.BackupStatus.Status == nil:
		agents := g.NeedsBackupAgentUpdate
		g = old
		g.NeedsBackupAgentUpdate = agents
		return g
	case s.Backup.IsManaged():
		wait(needsStart(s), &g.NeedsBackupStart)
		wait(needsStop(s), &g.NeedsBackupStop)
		wait(needsToggle(s), &g.NeedsBackupPauseToggle)
		wait(needsModification(s), &g.NeedsBackupModification)
	}
	if (g == v1beta2.BackupGenerationStatus{Reconciled: old.Reconciled}) {
		g.Reconciled = generation
	}
	return g
}

// backupChanges describes the differences between two statuses.
func backupChanges(s plan.Snapshot, fresh v1beta2.FoundationDBBackupStatus, note string) []string {
	old := s.Backup.Status
	var changes []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			changes = append(changes, fmt.Sprintf(format, args...))
		}
	}
	add(old.AgentCount != fresh.AgentCount, "%s ready", phrase.Count(fresh.AgentCount, "agent"))
	add(old.DeploymentConfigured != fresh.DeploymentConfigured, "deployment configured: %t", fresh.DeploymentConfigured)
	before, now := ptr.Deref(old.BackupDetails, v1beta2.FoundationDBBackupStatusBackupDetails{}), ptr.Deref(fresh.BackupDetails, v1beta2.FoundationDBBackupStatusBackupDetails{})
	add(before.Running != now.Running, "running: %t", now.Running)
	add(before.Paused != now.Paused, "paused: %t", now.Paused)
	add(before.Restorable != now.Restorable, "restorable: %t", now.Restorable)
	add(before.SnapshotTime != now.SnapshotTime, "a snapshot every %d s", now.SnapshotTime)
	add(before.URL != now.URL, "destination: %s", now.URL)
	noted := s.Backup.Annotations[plan.AnnotationBackupMove]
	add(noted != note && note != "", "progress of its move")
	add(noted != "" && note == "", "its move is over")
	add(old.Generations.Reconciled != fresh.Generations.Reconciled, "generation %d reconciled", fresh.Generations.Reconciled)
	add(len(changes) == 0, "what the spec waits for")
	return changes
}
