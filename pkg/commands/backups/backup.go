package backups

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewBackup is the parent of the backup commands. It does nothing by itself.
func NewBackup(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"backup.md"}}, &cobra.Command{
		Use:   "backup",
		Short: "Manage backups and their data",
	})
	cmd.AddCommand(newBackupList(env), newBackupStatus(env), newBackupDescribe(env), newBackupExpire(env), newBackupDelete(env))
	for _, verb := range backupVerbs {
		cmd.AddCommand(newBackupChange(env, verb))
	}
	cmdutil.AsParent(cmd, "backup command")
	return cmd
}

// backupStatusOptions are the options of `kubectl fdb backup status`.
type backupStatusOptions struct {
	cmdutil.ResourceViewOptions
	maxLag time.Duration
}

func newBackupStatus(env *session.Env) *cobra.Command {
	var o backupStatusOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbbackups") },
	}, &cobra.Command{
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

  # Print the newest restorable version, for scripts
  kubectl fdb backup status nightly -o jsonpath={.latestRestorable.version}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Display(cmd.Context(), env, session.BackupKind, args, plan.Backup|plan.Agents|plan.BackupStatus, func(key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
				return o.view(cmd.Context(), env, key, s)
			})
		},
	})
	o.Add(cmd, env, session.BackupKind)
	o.AddWatch(cmd)
	cmd.Flags().DurationVar(&o.maxLag, "max-lag", inspect.DefaultMaxLag, "maximum age of the newest restorable point")
	flags.AtLeast(cmd, "max-lag", flags.Positive)
	return cmd
}

func (o backupStatusOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
	v := inspect.NewBackupStatusView(env.Metadata(session.BackupKind.Named(key)), session.BackupFacts(s, o.maxLag))
	code := session.VerdictCode(v.Reconciled)
	hint(ctx, o.ResourceViewOptions, env, session.BackupKind, key, code)
	return cmdutil.Output{
		Printable: format.Printable{
			Document: v, Names: []string{"foundationdbbackup/" + key.Name},
			Table: func(w io.Writer) error {
				return ui.WriteBackupStatus(w, v, statusOptions(o.ResourceViewOptions, env, w))
			},
		},
		Code: code,
	}
}

func statusOptions(o cmdutil.ResourceViewOptions, env *session.Env, w io.Writer) ui.StatusOptions {
	return ui.StatusOptions{Paint: env.Paint(w), Absolute: o.Absolute, Now: env.Clock.Now()}
}

// hint prints the command that reconciles the resource.
func hint(ctx context.Context, o cmdutil.ResourceViewOptions, env *session.Env, kind *session.ResourceKind, key types.NamespacedName, code int) {
	if code == exit.ExitNo && o.IsTable() && !o.Watch && ctx.Err() == nil {
		env.Logf("hint: %s", env.Command("reconcile", kind.Named(key).Name, "--dry-run"))
	}
}

// backupDescribeOptions are the options of `kubectl fdb backup describe`.
type backupDescribeOptions struct{ cmdutil.ResourceViewOptions }

func newBackupDescribe(env *session.Env) *cobra.Command {
	var o backupDescribeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbbackups") },
	}, &cobra.Command{
		Use:   "describe [NAME]",
		Short: "Describe the stored data of a backup",
		Long: `Describe the stored data of a backup: its snapshots, the range of its log, the restorable
versions, and the version up to which it was expired. The backup tools scan the store in a
pod of the backup agents; for a large backup this takes a minute. Use backup status to see
whether the backup runs and how far it is behind the database.

Exit code 0: restorable. 1: not restorable, or the store has no data. 8: unknown.`,
		Example: `  # Describe the stored data
  kubectl fdb backup describe nightly

  # Print the oldest restorable version, for scripts
  kubectl fdb backup describe nightly -o jsonpath={.restorableFrom.version}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Display(cmd.Context(), env, session.BackupKind, args, plan.Backup|plan.BackupStore, func(key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
				return o.view(env, key, s)
			})
		},
	})
	o.Add(cmd, env, session.BackupKind)
	return cmd
}

func (o backupDescribeOptions) view(env *session.Env, key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
	v := lists.NewBackupDescriptionView(env.Metadata(session.BackupKind.Named(key)), s)
	return cmdutil.Output{
		Printable: format.Printable{
			Document: v, Names: []string{"foundationdbbackup/" + key.Name},
			Table: func(w io.Writer) error {
				return ui.WriteBackupDescription(w, v, statusOptions(o.ResourceViewOptions, env, w))
			},
		},
		Code: session.VerdictCode(v.Restorable),
	}
}

// changed checks the flags of a change, and returns the backup or restore that args name.
func changed(ctx context.Context, env *session.Env, f apply.ChangeFlags, kind *session.ResourceKind, args []string) (types.NamespacedName, error) {
	if err := f.Check(env); err != nil {
		return types.NamespacedName{}, err
	}
	key, err := kind.Key(ctx, env, args, f.Intent())
	if err != nil {
		return key, exit.CauseOf(ctx, err)
	}
	return key, nil
}
