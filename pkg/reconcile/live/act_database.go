package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// databaseWriter changes the database, and what it holds for all control-plane instances.
type databaseWriter struct {
	*Options
	known  *known
	db     *database
	status *statusWriter
}

// configure creates or changes the database's configuration; success is read back.
func (w *databaseWriter) configure(ctx context.Context, a plan.Configure) error {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("configure the database: %w", err)
	}
	if !a.New {
		return cli.Configure(ctx, a.Configuration, changeOf(a.Part))
	}
	// The last read before the one command that could hide a database's data behind an empty
	// one: the snapshot may be minutes old.
	newest := &v1beta2.FoundationDBCluster{}
	if err := w.Client.Get(ctx, w.Key, newest); err != nil {
		return fmt.Errorf("verify that the database was never configured: %w", err)
	}
	if cluster.Status.Configured || newest.Status.Configured {
		return errors.New("create a database: status.configured is already true")
	}
	if err := w.db.verifyNeverConfigured(ctx, cli, newest); err != nil {
		return err
	}
	return cli.Configure(ctx, a.Configuration, admin.NewDatabase)
}

// changeOf is the change that sends one part of a configuration.
func changeOf(p fdb.Part) admin.ConfigureKind {
	switch p {
	case fdb.OnlyRegions:
		return admin.ChangeRegions
	case fdb.OnlyUsableRegions:
		return admin.ChangeUsableRegions
	case fdb.Whole:
	}
	return admin.ChangeDatabase
}

// changeCoordinators changes the coordinators and stores the connection string that results. A
// status without it is corrected from the status document, as long as one coordinator of the
// old connection string still answers.
func (w *databaseWriter) changeCoordinators(ctx context.Context, a plan.ChangeCoordinators) error {
	cli, _, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("change coordinators: %w", err)
	}
	connectionString, err := cli.ChangeCoordinators(ctx, a.Coordinators)
	if err != nil {
		return err
	}
	cluster := &v1beta2.FoundationDBCluster{}
	if err := w.Client.Get(ctx, w.Key, cluster); err != nil {
		return fmt.Errorf("store the new connection string %s: %w", connectionString, err)
	}
	cluster.Status.ConnectionString = connectionString.String()
	if err := w.Client.Status().Update(ctx, cluster); err != nil {
		return fmt.Errorf("store the new connection string %s: %w", connectionString, err)
	}
	w.known.remember(cluster)
	return nil
}

// changeLists writes entries of this control-plane instance, or removes those of its former
// prefix, and never those of another one.
func (w *databaseWriter) changeLists(ctx context.Context, a plan.ChangeLists) error {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return err
	}
	if err := ownFormer(cluster, a); err != nil {
		return err
	}
	change := admin.ListChange{
		Instance: a.Below(cluster), At: a.At,
		Add: groupTexts(a.Add), Remove: groupTexts(a.Remove), Addresses: map[string][]string{},
	}
	for group, addresses := range a.Addresses {
		change.Addresses[string(group)] = addresses
	}
	return admin.ChangeLists(ctx, cli, fdb.LockKeys{Prefix: cluster.LockKeyPrefix()}, change)
}

// ownFormer refuses changes below another prefix, unless they remove entries of process groups
// of this very cluster.
func ownFormer(cluster *v1beta2.FoundationDBCluster, a plan.ChangeLists) error {
	if a.Former == nil {
		return nil
	}
	of := slices.Collect(maps.Keys(a.Addresses))
	for _, groups := range a.Remove {
		of = append(of, groups...)
	}
	foreign := slices.ContainsFunc(of, func(id v1beta2.ProcessGroupID) bool {
		return cluster.ProcessGroup(id) == nil || !fdb.Member{Instance: *a.Former, Group: string(id)}.IsNamedForIt()
	})
	adds := len(a.Add) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(a.Addresses)), func(ips []string) bool { return len(ips) > 0 })
	if foreign || adds {
		return fmt.Errorf("entries below the prefix %q belong to another control-plane instance: only entries of this cluster's own process groups may be removed", *a.Former)
	}
	return nil
}

func groupTexts(lists map[fdb.SharedList][]v1beta2.ProcessGroupID) map[fdb.SharedList][]string {
	named := map[fdb.SharedList][]string{}
	for list, groups := range lists {
		named[list] = texts(groups)
	}
	return named
}

// statusWriter changes the custom resource.
type statusWriter struct {
	*Options
	known *known
}

// writeStatus writes the status of the cluster version that was read. If it has changed since,
// the API server refuses, and the next pass decides on the new one.
func (w *statusWriter) writeStatus(ctx context.Context, a plan.WriteStatus) error {
	return w.editStatus(ctx, func(s plan.Snapshot) plan.Snapshot { return a.Apply(s) })
}

// editStatus applies an edit to the cluster as the API server has it. The spec is not changed:
// the normalized one is never written.
func (w *statusWriter) editStatus(ctx context.Context, edit func(plan.Snapshot) plan.Snapshot) error {
	cluster := w.known.cluster()
	if cluster == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	edited := edit(plan.Snapshot{Cluster: cluster.DeepCopy()}).Cluster
	if err := w.Client.Status().Update(ctx, edited); err != nil {
		return fmt.Errorf("write the status of FoundationDBCluster %s: %w", cluster.Name, err)
	}
	w.known.remember(edited)
	return nil
}

func (k *known) remember(cluster *v1beta2.FoundationDBCluster) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.resource = cluster
}

// setSkip patches spec.skip and the annotations of the pause. The patch has no other field, so
// that the spec stays as its owner wrote it, without defaults.
func (w *statusWriter) setSkip(ctx context.Context, a plan.SetSkip) error {
	cluster := w.known.cluster()
	if cluster == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": a.Annotations()},
		"spec":     map[string]any{"skip": a.Skip},
	})
	if err != nil {
		return err
	}
	changed := cluster.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("set spec.skip of FoundationDBCluster %s: %w", cluster.Name, err)
	}
	if changed.Spec.Skip != a.Skip {
		return fmt.Errorf("set spec.skip of FoundationDBCluster %s: the API server accepted the patch, but returned %t", cluster.Name, changed.Spec.Skip)
	}
	w.known.remember(changed)
	return nil
}

// readDetector reads the CronJob of the failure detector. Missing permission is a fact: most
// clusters have no failure detector, and their users need no permission for CronJobs.
func (r *reader) readDetector(ctx context.Context, c *v1beta2.FoundationDBCluster) (plan.DetectorFacts, error) {
	job, name := &batchv1.CronJob{}, objects.FailureDetectorName(c)
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return plan.DetectorFacts{}, nil
	case hidden(err):
		return plan.DetectorFacts{Hidden: "reading CronJobs is forbidden; manifests/rbac/reconcile.yaml allows it"}, nil
	case err != nil:
		return plan.DetectorFacts{}, fmt.Errorf("read CronJob %s: %w", name, err)
	default:
		return plan.DetectorFacts{Job: job}, nil
	}
}

// recordFailures patches one annotation of the cluster, and nothing of its spec.
func (w *statusWriter) recordFailures(ctx context.Context, a plan.RecordFailures) error {
	cluster := w.known.cluster()
	if cluster == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta2.AnnotationFailuresSeen: a.Value()}}})
	if err != nil {
		return err
	}
	changed := cluster.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("record failures on FoundationDBCluster %s: %w", cluster.Name, err)
	}
	if got := changed.Annotations[v1beta2.AnnotationFailuresSeen]; got != a.Value() {
		return fmt.Errorf("record failures on FoundationDBCluster %s: the API server accepted the annotation, but returned %q", cluster.Name, got)
	}
	w.known.remember(changed)
	return nil
}
