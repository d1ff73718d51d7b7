package commands

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// runOn explains the state of one backup or restore.
func (o whyOptions) runOn(ctx context.Context, env *Env, kind *recordKind, name string) error {
	selected, err := stageFlags{}.stagesOn(kind, name, o.name)
	if err != nil {
		return err
	}
	namespace, err := env.namespace()
	if err != nil {
		return err
	}
	r := run{env: env, stageList: selected, seed: env.Random(), record: kind}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	facts, err := env.aroundRecord(ctx, kind, key)
	if err != nil {
		return causeOf(ctx, err)
	}
	if err := r.open(ctx, key); err != nil {
		return err
	}
	env.about = kind.named(key)
	preview, _, err := r.preview(ctx)
	if err != nil {
		return causeOf(ctx, err)
	}
	facts.Now = env.Clock.Now()
	facts.Lease = env.leaseNamed(ctx, types.NamespacedName{Namespace: namespace, Name: r.lease})
	return o.printReport(env, why.NewRecordWhyReport(env.metadata(kind.named(key)), why.Input{Facts: facts, Plan: preview, Commands: env.commands()}))
}

// aroundRecord reads a backup alone. What a restore waits for and leaves behind is in the
// backups and the database of its cluster, so it reads them as `why` of the cluster does.
func (e *Env) aroundRecord(ctx context.Context, kind *recordKind, key types.NamespacedName) (inspect.Facts, error) {
	if kind == backupKind {
		seen, err := e.readRecord(ctx, kind, key)
		return inspect.Facts{Backups: &seen}, err
	}
	s, err := e.observeRecord(ctx, kind, key, plan.Restore)
	if err != nil {
		return inspect.Facts{}, err
	}
	cluster := types.NamespacedName{Namespace: key.Namespace, Name: s.Restore.Spec.DestinationClusterName}
	backups := backupsReader{env: e, key: cluster}.beside(ctx)
	facts := inspect.Facts{}
	facts.Database = e.databaseOf(ctx, cluster)
	found, err := backups()
	if err != nil {
		return facts, err
	}
	facts.Backups = &found
	if slices.ContainsFunc(found.Restores, func(r inspect.SeenRestore) bool { return r.Record.Name == key.Name && r.View != nil }) {
		return facts, nil
	}
	alone, err := e.readRecord(ctx, kind, key)
	found.Restores = alone.Restores
	return facts, err
}

// databaseOf returns what the database of a cluster reports. A failure to query it is a fact.
func (e *Env) databaseOf(ctx context.Context, cluster types.NamespacedName) plan.DatabaseFacts {
	l, err := clusterReader{env: e, key: cluster, asks: plan.Database}.read(ctx)
	if err != nil {
		return plan.DatabaseFacts{Unreachable: explain(err)}
	}
	return l.Database
}

// readRecord reads one backup or restore alone.
func (e *Env) readRecord(ctx context.Context, kind *recordKind, key types.NamespacedName) (inspect.ClusterBackups, error) {
	found, metadata := inspect.ClusterBackups{}, e.metadata(kind.named(key))
	if kind == backupKind {
		s, err := e.observeRecord(ctx, kind, key, plan.Backup|plan.Agents|plan.BackupStatus)
		if err != nil {
			return found, err
		}
		v := inspect.NewBackupStatusView(metadata, backupFacts(s, inspect.DefaultMaxLag))
		found.Backups = []inspect.SeenBackup{{Record: s.Backup, View: &v}}
		return found, nil
	}
	s, err := e.observeRecord(ctx, kind, key, plan.Record|plan.Restore|plan.RestoreStatus)
	if err != nil {
		return found, err
	}
	v := inspect.NewRestoreStatusView(metadata, restoreFacts(s), &inspect.RestoreHistory{})
	found.Restores = []inspect.SeenRestore{{Record: s.Restore, View: &v}}
	return found, nil
}
