package live

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live/priorities"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Begin implements reconcile.Actor.
func (w *Cluster) Begin(ctx context.Context) error {
	if err := w.leases.begin(ctx); err != nil {
		return err
	}
	w.db.takeLook()
	return nil
}

// Held returns an error once the Lease was lost: then nothing may be changed.
func (w *Cluster) Held(ctx context.Context) error { return w.leases.stillOurs(ctx) }

// Act implements reconcile.Actor.
func (w *Cluster) Act(ctx context.Context, a plan.Action) error {
	if err := w.leases.stillOurs(ctx); err != nil {
		return err
	}
	own, is := a.(plan.ClusterAction)
	if !is {
		return unsupported(a)
	}
	ctx, cancel := w.leases.during(ctx, a)
	defer cancel()
	w.locks.keepQuiet(a) // before it: the result of a failed deletion is unknown
	return notYet(w.carryOut(ctx, own))
}

// notYet marks the refusals of the database that end by themselves.
func notYet(err error) error {
	if admin.KindOf(err) == admin.KindNotYet {
		return &reconcile.NotYetError{Err: err}
	}
	return err
}

// carryOut lists every action of a pass over a cluster; the linter holds the list complete.
func (w *Cluster) carryOut(ctx context.Context, a plan.ClusterAction) error {
	switch a := a.(type) {
	case plan.WriteStatus:
		return w.status.writeStatus(ctx, a)
	case plan.AddGroups:
		return w.status.editStatus(ctx, a.Apply)
	case plan.SetConnectionString:
		return w.status.editStatus(ctx, a.Apply)
	case plan.MarkForRemoval:
		return w.status.editStatus(ctx, a.Apply)
	case plan.KeepGroups:
		return w.status.editStatus(ctx, a.Apply)
	case plan.SetExcluded:
		return w.status.editStatus(ctx, a.Apply)
	case plan.SetPriorities:
		return priorities.Set(ctx, w.Client, w.Key.Namespace, a, w.status.known.remember)
	case plan.SetSkip:
		return w.status.setSkip(ctx, a)
	case plan.RecordFailures:
		return w.status.recordFailures(ctx, a)
	case plan.ApplyFailureDetector:
		if a.Create {
			return w.objects.create(ctx, a.Object)
		}
		return w.objects.update(ctx, a.Object.DeepCopy())
	case plan.DeleteFailureDetector:
		return w.objects.deleteOne(ctx, &batchv1.CronJob{}, a.Name, a.UID)
	case plan.CordonNode:
		return w.objects.editNode(ctx, a.Node, a)
	case plan.UncordonNode:
		return w.objects.editNode(ctx, a.Node, a)
	case plan.ApplyConfigMap, plan.ApplyService, plan.CreatePVC, plan.CreatePod, plan.PatchMetadata, plan.AdoptSpec, plan.RecordTaints,
		plan.SyncPodFiles, plan.SetSidecarImage, plan.DeletePods, plan.DeleteService, plan.DeleteGroupObjects,
		plan.ApplyDisruptionBudget, plan.DeleteDisruptionBudget, plan.SetTolerations, plan.EvictAgent:
		return w.changeObjects(ctx, a)
	case plan.Configure, plan.ChangeCoordinators, plan.Exclude, plan.Include, plan.IncludeAndForget, plan.RestartProcesses,
		plan.StartMaintenance, plan.EndMaintenance, plan.ForgetMaintenance, plan.UpdateDenyList, plan.HoldLock, plan.ReleaseLock,
		plan.AnnounceUpgrade, plan.WithdrawUpgrade, plan.ChangeLists:
		return w.changeDatabase(ctx, a)
	}
	return unsupported(a)
}

func unsupported(a plan.Action) error { return fmt.Errorf("unsupported action: %s", a.Describe()) }

// changeObjects carries out actions on the Kubernetes objects of process groups.
func (w *Cluster) changeObjects(ctx context.Context, a plan.Action) error {
	switch a := a.(type) { //nolint:gochecksumtype // carryOut has all
	case plan.ApplyConfigMap:
		return w.objects.applyConfigMap(ctx, a)
	case plan.ApplyService:
		return w.objects.applyService(ctx, a)
	case plan.CreatePVC:
		return w.objects.create(ctx, a.Object)
	case plan.CreatePod:
		return w.objects.create(ctx, a.Object)
	case plan.PatchMetadata:
		return w.objects.patchMetadata(ctx, a)
	case plan.AdoptSpec:
		return w.objects.patchMetadata(ctx, a.Patch())
	case plan.RecordTaints:
		return w.objects.patchMetadata(ctx, a.Patch())
	case plan.SyncPodFiles:
		return w.files.syncPodFiles(ctx, a)
	case plan.SetSidecarImage:
		return w.objects.setSidecarImage(ctx, a)
	case plan.DeletePods:
		return w.objects.deletePods(ctx, a)
	case plan.DeleteService:
		return w.objects.deleteOne(ctx, &corev1.Service{}, a.Name, a.UID)
	case plan.DeleteGroupObjects:
		return w.objects.deleteGroupObjects(ctx, a)
	default:
		return w.objects.changeEvictions(ctx, a)
	}
}

// changeDatabase carries out actions on the database, and on what it holds for all control-plane
// instances.
func (w *Cluster) changeDatabase(ctx context.Context, a plan.Action) error {
	switch a := a.(type) { //nolint:gochecksumtype // carryOut has all
	case plan.Configure:
		return w.inDatabase.configure(ctx, a)
	case plan.ChangeCoordinators:
		return w.inDatabase.changeCoordinators(ctx, a)
	case plan.Exclude:
		return w.inDatabase.exclude(ctx, a)
	case plan.Include:
		return w.inDatabase.include(ctx, a)
	case plan.IncludeAndForget:
		return w.inDatabase.includeAndForget(ctx, a)
	case plan.RestartProcesses:
		return w.inDatabase.restartProcesses(ctx, a)
	case plan.StartMaintenance:
		return w.inDatabase.startMaintenance(ctx, a)
	case plan.EndMaintenance:
		return w.inDatabase.endMaintenance(ctx, a)
	case plan.ForgetMaintenance:
		return w.inDatabase.forgetMaintenance(ctx, a)
	case plan.UpdateDenyList:
		return w.inDatabase.updateDenyList(ctx, a)
	case plan.HoldLock:
		return w.inDatabase.holdLock(ctx, a)
	case plan.ReleaseLock:
		return w.inDatabase.releaseManually(ctx, a)
	case plan.AnnounceUpgrade:
		return w.inDatabase.announceUpgrade(ctx, a)
	case plan.WithdrawUpgrade:
		return w.inDatabase.withdrawUpgrade(ctx, a)
	case plan.ChangeLists:
		return w.inDatabase.changeLists(ctx, a)
	default:
		return unsupported(a)
	}
}
