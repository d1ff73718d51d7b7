package live

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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

// restartProcesses restarts processes. Announcements for the restart are removed first: if the
// restart fails, the control-plane instances announce again what is ready then. The other way
// round, a run that dies in between would leave announcements for a restart that has happened.
func (w *databaseWriter) restartProcesses(ctx context.Context, a plan.RestartProcesses) error {
	cli, keys, err := w.sharedKeys(ctx, "restart processes")
	if err != nil {
		return err
	}
	if a.UpgradeTo == "" {
		if len(a.Announced) > 0 {
			if err := admin.ClearRestarts(ctx, cli, keys, a.Announced); err != nil {
				return err
			}
		}
		return cli.Kill(ctx, a.Addresses)
	}
	if err := admin.ClearUpgrades(ctx, cli, keys); err != nil {
		return err
	}
	return cli.KillForUpgrade(ctx, a.Addresses)
}

// startMaintenance writes the entries first: maintenance without entries would last until it
// expires.
func (w *databaseWriter) startMaintenance(ctx context.Context, a plan.StartMaintenance) error {
	cli, keys, err := w.sharedKeys(ctx, "start maintenance")
	if err != nil {
		return err
	}
	if len(a.Groups) > 0 {
		if err := admin.NoteMaintenance(ctx, cli, keys, texts(a.Groups), a.At); err != nil {
			return err
		}
	}
	return cli.MaintenanceOn(ctx, a.Zone, a.Duration)
}

// endMaintenance ends the maintenance of the action's zone only: the zone may have changed
// since.
func (w *databaseWriter) endMaintenance(ctx context.Context, a plan.EndMaintenance) error {
	cli, _, err := w.sharedKeys(ctx, "end maintenance")
	if err != nil {
		return err
	}
	now, err := cli.Maintenance(ctx)
	if err != nil {
		return err
	}
	if now.Active() && now.Zone != a.Zone {
		return fmt.Errorf("end the maintenance of zone %s: zone %s is under maintenance now", a.Zone, now.Zone)
	}
	return cli.MaintenanceOff(ctx)
}

func (w *databaseWriter) forgetMaintenance(ctx context.Context, a plan.ForgetMaintenance) error {
	cli, keys, err := w.sharedKeys(ctx, "remove maintenance entries")
	if err != nil {
		return err
	}
	return admin.ForgetMaintenance(ctx, cli, keys, texts(a.Groups))
}

func (w *databaseWriter) updateDenyList(ctx context.Context, a plan.UpdateDenyList) error {
	cli, keys, err := w.sharedKeys(ctx, "change the deny list")
	if err != nil {
		return err
	}
	denied := map[string]bool{}
	for _, owner := range a.Deny {
		denied[owner] = true
	}
	for _, owner := range a.Allow {
		if denied[owner] {
			return errors.New("change the deny list: " + owner + " is both denied and allowed")
		}
		denied[owner] = false
	}
	return admin.UpdateDenyList(ctx, cli, keys, denied, a.Note)
}

func (w *databaseWriter) announceUpgrade(ctx context.Context, a plan.AnnounceUpgrade) error {
	cli, keys, err := w.sharedKeys(ctx, "announce the upgrade")
	if err != nil {
		return err
	}
	return admin.AnnounceUpgrade(ctx, cli, keys, a.Version, texts(a.Groups))
}

func (w *databaseWriter) withdrawUpgrade(ctx context.Context, a plan.WithdrawUpgrade) error {
	cli, keys, err := w.sharedKeys(ctx, "withdraw announcements")
	if err != nil {
		return err
	}
	return admin.WithdrawUpgrade(ctx, cli, keys, a.Version, texts(a.Groups))
}

// sharedKeys is a client and the keys that all control-plane instances share.
func (w *databaseWriter) sharedKeys(ctx context.Context, operation string) (admin.Client, fdb.LockKeys, error) {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return nil, fdb.LockKeys{}, fmt.Errorf("%s: %w", operation, err)
	}
	return cli, fdb.LockKeys{Prefix: cluster.LockKeyPrefix()}, nil
}

func texts(groups []v1beta2.ProcessGroupID) []string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = string(g)
	}
	return all
}

// Try sends the write of an action to the API server as a dry run, with all its validation. It
// skips changes of the database, and objects that exist only after earlier actions. The cluster
// must have been observed.
func (w *Cluster) Try(ctx context.Context, a plan.Action) (tried bool, err error) {
	own, is := a.(plan.ClusterAction)
	if !is || !canBeTried(a) {
		return false, nil
	}
	dry := New(Options{Client: client.NewDryRunClient(w.Client), Key: w.Key, Clock: w.Clock})
	dry.known.remember(w.known.cluster())
	return true, dry.carryOut(ctx, own)
}

// canBeTried reports whether an action is one write or several that do not build on each
// other, and to the API server alone.
func canBeTried(a plan.Action) bool {
	switch a := a.(type) { //nolint:gochecksumtype // all others are not tried
	case plan.CreatePVC, plan.CreatePod, plan.ApplyConfigMap, plan.AddGroups, plan.MarkForRemoval, plan.KeepGroups, plan.WriteStatus,
		plan.CordonNode, plan.UncordonNode, plan.SetSkip, plan.SetPriorities, plan.AdoptSpec, plan.RecordTaints, plan.RecordFailures,
		plan.ApplyFailureDetector, plan.DeleteFailureDetector,
		plan.ApplyDisruptionBudget, plan.SetTolerations:
		return true
	case plan.ApplyService:
		return a.Verb != plan.ReplaceService
	default:
		return false
	}
}
