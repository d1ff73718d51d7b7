package backups

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// restoreAbortOptions are the options of `kubectl fdb restore abort`.
type restoreAbortOptions struct{ apply.ChangeFlags }

func newRestoreAbort(env *session.Env) *cobra.Command {
	var o restoreAbortOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(apply.AbortPermissions()...), cmdutil.Operators(), cmdutil.Auditing())
		},
	}, &cobra.Command{
		Use:   "abort [NAME]",
		Short: "Abort a restore before it is complete",
		Long: `Abort a restore that was started by a FoundationDBRestore and is not complete. This cannot
be undone, and the restore cannot be continued. FoundationDB unlocks the database with
partially restored data: clients read and write it from then on, unless they are kept away.
The backup is not changed.

On a terminal this requires the typed name of the restore, elsewhere --yes --confirm NAME
--plan FILE --reason TEXT. A restore that this resource did not start, or that another one
may have started, is not aborted.

Afterwards the lock of the database is verified, and the status of the resource records the
abort, so that no pass starts the restore again. To restore again, empty the database and
recreate the resource.`,
		Example: `  # Preview the abort
  kubectl fdb restore abort nightly-again --dry-run

  # Abort, and confirm with the typed name
  kubectl fdb restore abort nightly-again

  # Abort without a terminal
  kubectl fdb restore abort nightly-again --dry-run -o json > plan.json
  kubectl fdb restore abort nightly-again --plan plan.json --yes --confirm nightly-again --reason "the wrong backup"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.Resource(env, session.RestoreKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Change(cmd, &o.ChangeFlags, "the restore is aborted")
	flags.Confirm(cmd, &o.ChangeFlags, session.RestoreKind)
	return cmd
}

func (o restoreAbortOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := changed(ctx, env, o.ChangeFlags, session.RestoreKind, args)
	if err != nil {
		return err
	}
	if err := o.ConfirmedAs(key.Name); err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Args: []string{"restore", "abort", key.Name}, ResourceKind: session.RestoreKind, Permissions: apply.AbortPermissions(),
		Stages: backup.AbortRestore(), Goal: &abortingRestore{},
	})
}

// abortingRestore is the goal of `restore abort`: the restore and the database, read back.
type abortingRestore struct{ target inspect.Target }

func (a *abortingRestore) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, plan.Restore|plan.RestoreStatus|plan.Database); err != nil {
		return nil, false, err
	}
	a.target = targets.RestoreAborted(seen, backup.OwnRestore(seen))
	return []inspect.Target{a.target}, a.target.Reached, nil
}

func (a *abortingRestore) Summary(to apply.Extent) string {
	if to != apply.Reached {
		return "the restore is " + a.target.Phase
	}
	return "the restore is aborted and will not continue; " + a.target.Note
}
