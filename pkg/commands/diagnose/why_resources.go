package diagnose

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// runOn explains the state of one backup or restore.
func (o whyOptions) runOn(ctx context.Context, env *session.Env, kind *session.ResourceKind, name string) error {
	selected, err := apply.StageFlags{}.StagesOn(kind, name, o.Name)
	if err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	r := apply.Run{Env: env, StageList: selected, Seed: env.Random(), ResourceKind: kind}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if err := kind.MustExist(ctx, env, key); err != nil {
		return exit.CauseOf(ctx, err)
	}
	facts, err := aroundResource(ctx, env, kind, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := r.Open(ctx, key); err != nil {
		return err
	}
	env.Run.About = kind.Named(key)
	preview, _, err := r.Preview(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	facts.Now = env.Clock.Now()
	facts.Lease = env.Lookup().LeaseNamed(ctx, types.NamespacedName{Namespace: namespace, Name: r.Lease}).Of(r.LeaseUID())
	return o.printReport(env, why.NewResourceWhyReport(env.Metadata(kind.Named(key)), why.Input{Facts: facts, Plan: preview, Commands: env.Commands()}))
}

// aroundResource reads a backup alone. What a restore waits for and leaves behind is in the
// backups and the database of its cluster, so it reads them as `why` of the cluster does.
func aroundResource(ctx context.Context, e *session.Env, kind *session.ResourceKind, key types.NamespacedName) (inspect.Facts, error) {
	if kind == session.BackupKind {
		seen, err := readResource(ctx, e, kind, key, &inspect.RestoreHistory{})
		return inspect.Facts{Backups: &seen}, err
	}
	s, err := e.Lookup().ObserveResource(ctx, kind, key, plan.Restore)
	if err != nil {
		return inspect.Facts{}, err
	}
	cluster := types.NamespacedName{Namespace: key.Namespace, Name: s.Restore.Spec.DestinationClusterName}
	backups := session.BackupsReader{Env: e, Key: cluster}.Beside(ctx)
	facts := inspect.Facts{}
	facts.Database = databaseOf(ctx, e, cluster)
	found, err := backups()
	if err != nil {
		return facts, err
	}
	facts.Backups = &found
	if slices.ContainsFunc(found.Restores, func(r inspect.SeenRestore) bool { return r.Resource.Name == key.Name && r.View != nil }) {
		return facts, nil
	}
	alone, err := readResource(ctx, e, kind, key, &inspect.RestoreHistory{})
	found.Restores = alone.Restores
	return facts, err
}

// databaseOf returns what the database of a cluster reports. A failure to query it is a fact.
func databaseOf(ctx context.Context, e *session.Env, cluster types.NamespacedName) plan.DatabaseFacts {
	l, err := session.ClusterReader{Env: e, Key: cluster, Asks: plan.Database}.Read(ctx)
	if err != nil {
		return plan.DatabaseFacts{Unreachable: exit.Explain(err), Forbidden: apierrors.IsForbidden(err)}
	}
	return l.Database
}

// readResource reads one backup or restore alone, and adds the progress of a restore to the history.
func readResource(ctx context.Context, e *session.Env, kind *session.ResourceKind, key types.NamespacedName, h *inspect.RestoreHistory) (inspect.ClusterBackups, error) {
	found, metadata := inspect.ClusterBackups{}, e.Metadata(kind.Named(key))
	if kind == session.BackupKind {
		s, err := e.Lookup().ObserveResource(ctx, kind, key, plan.Backup|plan.Agents|plan.BackupStatus)
		if err != nil {
			return found, err
		}
		v := inspect.NewBackupStatusView(metadata, session.BackupFacts(s, inspect.DefaultMaxLag))
		found.Backups = []inspect.SeenBackup{{Resource: s.Backup, View: &v}}
		return found, nil
	}
	s, err := e.Lookup().ObserveResource(ctx, kind, key, plan.ClusterResource|plan.Restore|plan.RestoreStatus)
	if err != nil {
		return found, err
	}
	v := inspect.NewRestoreStatusView(metadata, session.RestoreFacts(s), h)
	found.Restores = []inspect.SeenRestore{{Resource: s.Restore, View: &v}}
	return found, nil
}
