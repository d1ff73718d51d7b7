package session

import (
	"context"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// parallelBackups bounds how many backups of a cluster are queried concurrently.
const parallelBackups = 4

// BackupsReader reads the backups of a cluster and the restores into it. A failure to read one is
// a fact and does not keep the others from being read. Agents' pods are only queried if there
// is a backup or a restore.
type BackupsReader struct {
	Env *Env
	Key types.NamespacedName
	// Histories are earlier observations of restores, by name; nil for a single read.
	Histories map[string]*inspect.RestoreHistory
}

// Read reads once, within ViewLimit. Only the context's end is an error.
func (l BackupsReader) Read(ctx context.Context) (inspect.ClusterBackups, error) {
	ctx, done := LimitedView(ctx)
	defer done()
	records, err := l.Resources(ctx)
	if err != nil || records.Unread != "" {
		return ptr.Deref(records, inspect.ClusterBackups{}), err
	}
	found := *records
	var group errgroup.Group
	group.SetLimit(parallelBackups)
	read := func(one func()) {
		group.Go(func() error { return reconcile.Guarded(func() error { one(); return nil }) })
	}
	read(func() { l.readRestores(ctx, found.Restores) })
	for i := range found.Backups {
		read(func() { l.readBackup(ctx, &found.Backups[i]) })
	}
	if fault := group.Wait(); fault != nil { // other errors are in the result
		return found, fault
	}
	if err := live.Interrupted(ctx); err != nil {
		return found, exit.CauseOf(ctx, err)
	}
	return found, nil
}

// Beside starts reading. The returned function waits for the result, and reports progress while
// it takes long.
func (l BackupsReader) Beside(ctx context.Context) func() (inspect.ClusterBackups, error) {
	var found inspect.ClusterBackups
	requested := beside(func() (err error) {
		found, err = l.Read(ctx)
		return err
	})
	return func() (inspect.ClusterBackups, error) {
		err := ClusterReader{Env: l.Env}.Await(requested, func() { l.Env.Logf("waiting for the state of backups…") })
		return found, err
	}
}

// Resources lists the resources without querying agents. Only the context's end is an error.
func (l BackupsReader) Resources(ctx context.Context) (*inspect.ClusterBackups, error) {
	found, err := l.list(ctx)
	if ctx.Err() != nil {
		return nil, exit.CauseOf(ctx, ctx.Err())
	}
	if err != nil {
		found.Unread, found.Forbidden = exit.Explain(err), apierrors.IsForbidden(err)
	}
	return &found, nil
}

// list lists the resources. A Kubernetes cluster without these resource types has none.
func (l BackupsReader) list(ctx context.Context) (inspect.ClusterBackups, error) {
	found := inspect.ClusterBackups{}
	c, err := l.Env.Client()
	if err != nil {
		return found, err
	}
	if found.All, err = resourcesOf[v1beta2.FoundationDBBackup](ctx, c, BackupKind, l.Key.Namespace); err != nil {
		return found, err
	}
	if found.AllRestores, err = resourcesOf[v1beta2.FoundationDBRestore](ctx, c, RestoreKind, l.Key.Namespace); err != nil {
		return found, err
	}
	for i := range found.All {
		if found.All[i].Spec.ClusterName == l.Key.Name {
			found.Backups = append(found.Backups, inspect.SeenBackup{Resource: &found.All[i]})
		}
	}
	for i := range found.AllRestores {
		if found.AllRestores[i].Spec.DestinationClusterName == l.Key.Name {
			found.Restores = append(found.Restores, inspect.SeenRestore{Resource: &found.AllRestores[i]})
		}
	}
	if len(found.All)+len(found.AllRestores) == 0 {
		return found, nil
	}
	clusters, err := ClustersIn(ctx, c, l.Key.Namespace)
	if err != nil {
		found.ClustersUnread = exit.Explain(err)
	}
	for _, cluster := range clusters {
		found.Clusters = append(found.Clusters, cluster.Name)
	}
	return found, nil
}

// resourcesOf returns the backups and restores of a namespace by type.
func resourcesOf[T any](ctx context.Context, c client.Client, kind *ResourceKind, namespace string) ([]T, error) {
	objects, err := kind.Resources(ctx, c, namespace)
	if exit.IsMissingKind(err) {
		return nil, nil
	}
	var all []T
	for _, o := range objects {
		if cluster, ok := any(o).(*T); ok {
			all = append(all, *cluster)
		}
	}
	return all, err
}

func (l BackupsReader) readBackup(ctx context.Context, b *inspect.SeenBackup) {
	key := types.NamespacedName{Namespace: l.Key.Namespace, Name: b.Resource.Name}
	s, err := l.observe(ctx, BackupKind, key, plan.Backup|plan.Agents|plan.BackupStatus)
	if err != nil {
		b.Unread, b.Forbidden = exit.Explain(err), apierrors.IsForbidden(err)
		return
	}
	b.View = new(inspect.NewBackupStatusView(l.Env.Metadata(BackupKind.Named(key)), BackupFacts(s, inspect.DefaultMaxLag)))
}

// readRestores queries all restores at once: the database lists them together.
func (l BackupsReader) readRestores(ctx context.Context, restores []inspect.SeenRestore) {
	var reported *plan.RestoreFacts
	for i := range restores {
		r := &restores[i]
		key := types.NamespacedName{Namespace: l.Key.Namespace, Name: r.Resource.Name}
		facets := plan.ClusterResource | plan.Restore
		if reported == nil {
			facets |= plan.RestoreStatus
		}
		s, err := l.observe(ctx, RestoreKind, key, facets)
		if err != nil {
			r.Unread, r.Forbidden = exit.Explain(err), apierrors.IsForbidden(err)
			continue
		}
		if reported == nil {
			reported = new(s.RestoreStatus)
		}
		s.RestoreStatus = *reported
		r.View = new(inspect.NewRestoreStatusView(l.Env.Metadata(RestoreKind.Named(key)), RestoreFacts(s), l.history(r.Resource.Name)))
	}
}

func (l BackupsReader) history(name string) *inspect.RestoreHistory {
	if l.Histories == nil {
		return &inspect.RestoreHistory{}
	}
	if l.Histories[name] == nil {
		l.Histories[name] = &inspect.RestoreHistory{}
	}
	return l.Histories[name]
}

func (l BackupsReader) observe(ctx context.Context, kind *ResourceKind, key types.NamespacedName, facets plan.Facet) (plan.Snapshot, error) {
	s := plan.Snapshot{}
	conn, err := kind.Connect(l.Env, key)
	if err != nil {
		return s, err
	}
	if err := conn.Observe(ctx, &s, facets); err != nil {
		return s, exit.CauseOf(ctx, err)
	}
	return s, nil
}
