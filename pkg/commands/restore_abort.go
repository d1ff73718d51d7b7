package commands

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// restoreAbortOptions is what `kubectl fdb restore abort` was asked to do.
type restoreAbortOptions struct{ changeFlags }

func newRestoreAbort(env *Env) *cobra.Command {
	var o restoreAbortOptions
	cmd := &cobra.Command{
		Use:   "abort [NAME]",
		Short: "Abort a restore, and leave the database half restored",
		Long: `Abort the restore that a FoundationDBRestore started, and that is not done. It cannot be
undone, or gone on with. FoundationDB unlocks the database with whatever was written so far
in it: from then on clients read and write half of the data, unless they are kept away. The
backup is not touched.

It takes more than a yes: on a terminal the name of the restore is to be typed;
elsewhere --yes --confirm NAME --plan FILE --reason TEXT. A restore that this resource did
not start, or that another one may have started, is left alone.

Afterwards the database is asked whether it is locked, and the resource's status says that
the restore was aborted: no pass starts it again. To restore once more the database has to
be empty, and the resource made anew.`,
		Example: `  # What would it abort?
  kubectl fdb restore abort nightly-again --dry-run

  # Do it; the name is to be typed
  kubectl fdb restore abort nightly-again

  # Where nobody can type
  kubectl fdb restore abort nightly-again --dry-run -o json > plan.json
  kubectl fdb restore abort nightly-again --plan plan.json --yes --confirm nightly-again --reason "the wrong backup"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: restoreKind.complete(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, "it is aborted")
	o.addConfirm(cmd, restoreKind)
	return cmd
}

func (o restoreAbortOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	key, err := restoreKind.key(ctx, env, args, o.intent())
	if err != nil {
		return causeOf(ctx, err)
	}
	if err := o.confirmedAs(key.Name); err != nil {
		return err
	}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, words: []string{"restore", "abort", key.Name}, record: restoreKind, needs: abortPowers(),
		stages: stages.AbortRestore(), purpose: &abortingRestore{},
	})
}

// abortingRestore is the purpose of `restore abort`: the restore and the database, read back.
type abortingRestore struct{ target ui.Target }

func (a *abortingRestore) look(ctx context.Context, s Session) ([]ui.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, plan.Restore|plan.RestoreStatus|plan.Database); err != nil {
		return nil, false, err
	}
	a.target = ui.RestoreAborted(seen, stages.OwnRestore(seen))
	return []ui.Target{a.target}, a.target.Reached, nil
}

func (a *abortingRestore) did(reached bool) string {
	if !reached {
		return "it is " + a.target.Phase
	}
	return "it is aborted, and nothing goes on with it; " + a.target.Note
}
