package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// restoreStartOptions are the options of `kubectl fdb restore start`.
type restoreStartOptions struct{ changeFlags }

func newRestoreStart(env *Env) *cobra.Command {
	var o restoreStartOptions
	cmd := &cobra.Command{
		Use:   "start [NAME]",
		Short: "Start a restore into an empty database",
		Long: `Start the restore of a FoundationDBRestore, like kubectl fdb reconcile fdbrestore/NAME. The
database is locked until the restore is done. Into a database with data nothing is
restored: FoundationDB refuses, and nothing is overwritten.

A restore is started once, regardless of its result: to restore again, delete and recreate
the resource. Without --wait the command ends when the restore has started; with --wait,
when it is done.`,
		Example: `  # Preview the restore
  kubectl fdb restore start nightly-again --dry-run

  # Start it and wait until the data is restored
  kubectl fdb restore start nightly-again --yes --wait --timeout 2h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: restoreKind.complete(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, "the restore is done")
	return cmd
}

func (o restoreStartOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	key, err := restoreKind.key(ctx, env, args, o.intent())
	if err != nil {
		return causeOf(ctx, err)
	}
	p := &startingRestore{wait: o.wait, follow: env.command("restore", "wait", key.Name)}
	err = env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, words: []string{"restore", "start", key.Name}, record: restoreKind, permissions: restorePermissions(),
		stages: backup.Restore(), goal: p,
	})
	return p.withHint(env, err)
}

// startingRestore is the goal of `restore start`: a running restore, or with --wait a completed
// one.
type startingRestore struct {
	wait bool
	// follow is the command that shows its progress.
	follow  string
	cluster string
	// occupied is true if the restore was not started because the database holds data.
	occupied bool
	target   inspect.Target
}

func (p *startingRestore) progress(ctx context.Context, s Session) ([]inspect.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, plan.Restore|plan.RestoreStatus|plan.RestoreTarget); err != nil {
		return nil, false, err
	}
	p.cluster = seen.Restore.Spec.DestinationClusterName
	p.occupied = len(seen.RestoreTarget.Occupied) > 0
	p.target = targets.RestoreStarted(seen, backup.OwnRestore(seen), p.wait)
	return []inspect.Target{p.target}, p.target.Reached, nil
}

func (p *startingRestore) summary(bool) string {
	text := "the restore is " + p.target.Phase
	if p.target.Note != "" {
		text += ", " + p.target.Note
	}
	if !p.target.Reached || p.wait || p.target.Phase == targets.RestoreDone {
		return text
	}
	return text + "; show its progress: " + p.follow
}

// withHint adds to the refusal of a database with data how to see the data. How to delete it is
// no hint.
func (p *startingRestore) withHint(env *Env, err error) error {
	var f *failure
	if errors.As(err, &f) && f.code == ExitRefused && p.occupied {
		f.hints = append(f.hints, "show the data: "+env.command("cli", p.cluster, "--", `getrangekeys "" \xff 10`))
	}
	return err
}
