package commands

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// newBackup is the parent of the backup commands. It does nothing by itself.
func newBackup(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Manage backups and their data",
	}
	cmd.AddCommand(newBackupList(env), newBackupStatus(env), newBackupDescribe(env), newBackupExpire(env), newBackupDelete(env))
	for _, verb := range backupVerbs {
		cmd.AddCommand(newBackupChange(env, verb))
	}
	asParent(cmd, "backup command")
	return cmd
}

// backupStatusOptions are the options of `kubectl fdb backup status`.
type backupStatusOptions struct {
	recordViewOptions
	maxLag time.Duration
}

func newBackupStatus(env *Env) *cobra.Command {
	var o backupStatusOptions
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show the state of a backup",
		Long: `Show the state of a backup, as a summary sentence and in detail: the report of the backup
tools, which run in a pod of the backup agents, the agents, and the desired state of the
FoundationDBBackup.

The restorable point is the newest version that the backup can be restored to, and AGE is
its distance from the current version of the database. If the backup tools cannot be
queried, only the last recorded state is shown.

Exit code 0: the backup matches its spec. 1: it does not. 8: unknown.`,
		Example: `  # Show the state of a backup
  kubectl fdb backup status nightly

  # Wait until it is restorable
  kubectl fdb backup status nightly --wait --timeout 10m

  # Print the newest restorable version, for scripts
  kubectl fdb backup status nightly -o jsonpath={.latestRestorable.version}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.maxLag <= 0 {
				return usagef("--max-lag must be positive")
			}
			return o.display(cmd.Context(), env, backupKind, args, plan.Backup|plan.Agents|plan.BackupStatus, func(key types.NamespacedName, s plan.Snapshot) output {
				return o.view(cmd.Context(), env, key, s)
			})
		},
	}
	o.add(cmd, env, backupKind)
	o.addWatch(cmd)
	o.addWait(cmd, "the backup matches its spec")
	cmd.Flags().DurationVar(&o.maxLag, "max-lag", inspect.DefaultMaxLag, "maximum age of the newest restorable point")
	return cmd
}

func (o backupStatusOptions) view(ctx context.Context, env *Env, key types.NamespacedName, s plan.Snapshot) output {
	v := inspect.NewBackupStatusView(env.metadata(backupKind.named(key)), backupFacts(s, o.maxLag))
	code := verdictCode(v.Reconciled)
	o.hint(ctx, env, backupKind, key, code)
	return output{
		printable: printable{
			document: v, names: []string{"foundationdbbackup/" + key.Name},
			table: func(w io.Writer) error { return ui.WriteBackupStatus(w, v, o.screen(env, w)) },
		},
		code: code, reason: v.Summary,
	}
}

// backupFacts returns the facts that the view of a backup is built from.
func backupFacts(s plan.Snapshot, maxLag time.Duration) inspect.BackupFacts {
	facts := inspect.BackupFacts{Snapshot: s, MaxLag: maxLag}
	facts.URL, _ = objects.BackupURL(s.Backup) // shown as unknown if empty
	if s.BackupStatus.Status != nil {
		facts.Own, facts.Outstanding = backup.OwnBackup(s), backup.OutstandingOfBackup(s)
	}
	return facts
}

func (o recordViewOptions) screen(env *Env, w io.Writer) ui.StatusOptions {
	return ui.StatusOptions{Paint: env.paint(w), Absolute: o.absolute, Now: env.Clock.Now()}
}

// hint prints the command that reconciles the resource.
func (o recordViewOptions) hint(ctx context.Context, env *Env, kind *recordKind, key types.NamespacedName, code int) {
	if code == ExitNo && o.isTable() && !o.watch && !o.wait && ctx.Err() == nil {
		env.logf("hint: %s", env.command("reconcile", kind.named(key).Name, "--dry-run"))
	}
}
