package commands

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// parallelBackups bounds how many backups of a cluster are queried concurrently.
const parallelBackups = 4

// backupsReader reads the backups of a cluster and the restores into it. A failure to read one is
// a fact and does not keep the others from being read. Agents' pods are only queried if there
// is a backup or a restore.
type backupsReader struct {
	env *Env
	key types.NamespacedName
	// histories are earlier observations of restores, by name; nil for a single read.
	histories map[string]*inspect.RestoreHistory
}

// read reads once. Only the context's end is an error.
func (l backupsReader) read(ctx context.Context) (inspect.ClusterBackups, error) {
	records, err := l.records(ctx)
	if err != nil || records.Unread != "" {
		return ptr.Deref(records, inspect.ClusterBackups{}), err
	}
	found := *records
	var group errgroup.Group
	group.SetLimit(parallelBackups)
	group.Go(func() error { l.readRestores(ctx, found.Restores); return nil })
	for i := range found.Backups {
		group.Go(func() error { l.readBackup(ctx, &found.Backups[i]); return nil })
	}
	_ = group.Wait() // errors are in the result
	if ctx.Err() != nil {
		return found, causeOf(ctx, ctx.Err())
	}
	return found, nil
}

// beside starts reading. The returned function waits for the result, and reports progress while
// it takes long.
func (l backupsReader) beside(ctx context.Context) func() (inspect.ClusterBackups, error) {
	var found inspect.ClusterBackups
	asked := make(chan error, 1)
	go func() {
		var err error
		found, err = l.read(ctx)
		asked <- err
	}()
	return func() (inspect.ClusterBackups, error) {
		err := clusterReader{env: l.env}.await(asked, func() { l.env.logf("waiting for the state of backups…") })
		return found, err
	}
}

// records lists the resources without querying agents. Only the context's end is an error.
func (l backupsReader) records(ctx context.Context) (*inspect.ClusterBackups, error) {
	found, err := l.list(ctx)
	if ctx.Err() != nil {
		return nil, causeOf(ctx, ctx.Err())
	}
	if err != nil {
		found.Unread = explain(err)
	}
	return &found, nil
}

// list lists the resources. A Kubernetes cluster without these resource types has none.
func (l backupsReader) list(ctx context.Context) (inspect.ClusterBackups, error) {
	found := inspect.ClusterBackups{}
	c, err := l.env.Client()
	if err != nil {
		return found, err
	}
	if found.All, err = recordsOf[v1beta2.FoundationDBBackup](ctx, c, backupKind, l.key.Namespace); err != nil {
		return found, err
	}
	if found.AllRestores, err = recordsOf[v1beta2.FoundationDBRestore](ctx, c, restoreKind, l.key.Namespace); err != nil {
		return found, err
	}
	for i := range found.All {
		if found.All[i].Spec.ClusterName == l.key.Name {
			found.Backups = append(found.Backups, inspect.SeenBackup{Record: &found.All[i]})
		}
	}
	for i := range found.AllRestores {
		if found.AllRestores[i].Spec.DestinationClusterName == l.key.Name {
			found.Restores = append(found.Restores, inspect.SeenRestore{Record: &found.AllRestores[i]})
		}
	}
	if len(found.All)+len(found.AllRestores) == 0 {
		return found, nil
	}
	clusters, err := clustersIn(ctx, c, l.key.Namespace)
	if err != nil {
		found.ClustersUnread = explain(err)
	}
	for _, cluster := range clusters {
		found.Clusters = append(found.Clusters, cluster.Name)
	}
	return found, nil
}

// recordsOf returns the backups and restores of a namespace by type.
func recordsOf[T any](ctx context.Context, c client.Client, kind *recordKind, namespace string) ([]T, error) {
	objects, err := kind.records(ctx, c, namespace)
	if isMissingKind(err) {
		return nil, nil
	}
	var all []T
	for _, o := range objects {
		if record, ok := any(o).(*T); ok {
			all = append(all, *record)
		}
	}
	return all, err
}

func (l backupsReader) readBackup(ctx context.Context, b *inspect.SeenBackup) {
	key := types.NamespacedName{Namespace: l.key.Namespace, Name: b.Record.Name}
	s, err := l.observe(ctx, backupKind, key, plan.Backup|plan.Agents|plan.BackupStatus)
	if err != nil {
		b.Unread = explain(err)
		return
	}
	b.View = new(inspect.NewBackupStatusView(l.env.metadata(backupKind.named(key)), backupFacts(s, inspect.DefaultMaxLag)))
}

// readRestores queries all restores at once: the database lists them together.
func (l backupsReader) readRestores(ctx context.Context, restores []inspect.SeenRestore) {
	var told *plan.RestoreFacts
	for i := range restores {
		r := &restores[i]
		key := types.NamespacedName{Namespace: l.key.Namespace, Name: r.Record.Name}
		facets := plan.Record | plan.Restore
		if told == nil {
			facets |= plan.RestoreStatus
		}
		s, err := l.observe(ctx, restoreKind, key, facets)
		if err != nil {
			r.Unread = explain(err)
			continue
		}
		if told == nil {
			told = new(s.RestoreStatus)
		}
		s.RestoreStatus = *told
		r.View = new(inspect.NewRestoreStatusView(l.env.metadata(restoreKind.named(key)), restoreFacts(s), l.history(r.Record.Name)))
	}
}

func (l backupsReader) history(name string) *inspect.RestoreHistory {
	if l.histories == nil {
		return &inspect.RestoreHistory{}
	}
	if l.histories[name] == nil {
		l.histories[name] = &inspect.RestoreHistory{}
	}
	return l.histories[name]
}

func (l backupsReader) observe(ctx context.Context, kind *recordKind, key types.NamespacedName, facets plan.Facet) (plan.Snapshot, error) {
	s := plan.Snapshot{}
	session, err := kind.connect(l.env, key)
	if err != nil {
		return s, err
	}
	return s, session.Observe(ctx, &s, facets)
}
