package commands

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// runOn tells why one backup or restore is as it is.
func (o whyOptions) runOn(ctx context.Context, env *Env, kind *recordKind, name string) error {
	steps, err := stepFlags{}.stepsOn(kind, name, o.name)
	if err != nil {
		return err
	}
	namespace, err := env.namespace()
	if err != nil {
		return err
	}
	r := run{env: env, steps: steps, seed: env.Random(), record: kind}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	seen, err := env.seenRecord(ctx, kind, key)
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
	facts := ui.Facts{Backups: &seen}
	facts.Now = env.Clock.Now()
	facts.Lease = env.leaseNamed(ctx, types.NamespacedName{Namespace: namespace, Name: r.lease})
	return o.tell(env, ui.NewRecordWhyReport(env.metadata(kind.named(key)), ui.WhyInput{Facts: facts, Plan: preview, Commands: env.commands()}))
}

// seenRecord looks at one backup or restore alone.
func (e *Env) seenRecord(ctx context.Context, kind *recordKind, key types.NamespacedName) (ui.ClusterBackups, error) {
	found, metadata := ui.ClusterBackups{}, e.metadata(kind.named(key))
	if kind == backupKind {
		s, err := e.sightOf(ctx, kind, key, plan.Backup|plan.Agents|plan.BackupStatus)
		if err != nil {
			return found, err
		}
		v := ui.NewBackupStatusView(metadata, backupFacts(s, ui.DefaultMaxLag))
		found.Backups = []ui.SeenBackup{{Record: s.Backup, View: &v}}
		return found, nil
	}
	s, err := e.sightOf(ctx, kind, key, plan.Record|plan.Restore|plan.RestoreStatus)
	if err != nil {
		return found, err
	}
	v := ui.NewRestoreStatusView(metadata, restoreFacts(s), &ui.RestoreHistory{})
	found.Restores = []ui.SeenRestore{{Record: s.Restore, View: &v}}
	return found, nil
}
