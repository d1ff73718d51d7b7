package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// restoreStartOptions is what `kubectl fdb restore start` was asked to do.
type restoreStartOptions struct{ changeFlags }

func newRestoreStart(env *Env) *cobra.Command {
	var o restoreStartOptions
	cmd := &cobra.Command{
		Use:   "start [NAME]",
		Short: "Start a restore, into a database without data",
		Long: `Start the restore that a FoundationDBRestore asks for, as kubectl fdb reconcile
fdbrestore/NAME does. The database is locked until it is done. Into one that has data
nothing is restored: FoundationDB refuses, and nothing is overwritten.

A restore is started once, whatever became of it: to restore once more, delete the resource
and create it anew. Without --wait the command ends when the restore has begun; with it,
when it is done.`,
		Example: `  # What would be restored?
  kubectl fdb restore start nightly-again --dry-run

  # Do it, and wait until the data is there
  kubectl fdb restore start nightly-again --yes --wait --timeout 2h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: restoreKind.complete(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, "it is done")
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
		changeFlags: o.changeFlags, words: []string{"restore", "start", key.Name}, record: restoreKind, needs: restorePowers(),
		stages: stages.Restore(), purpose: p,
	})
	return p.withHint(env, err)
}

// startingRestore is the purpose of `restore start`: a restore that runs, or with --wait one
// that is done.
type startingRestore struct {
	wait bool
	// follow is the command that follows it.
	follow  string
	cluster string
	target  ui.Target
}

func (p *startingRestore) look(ctx context.Context, s Session) ([]ui.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, plan.Restore|plan.RestoreStatus); err != nil {
		return nil, false, err
	}
	p.cluster = seen.Restore.Spec.DestinationClusterName
	p.target = ui.RestoreStarted(seen, stages.OwnRestore(seen), p.wait)
	return []ui.Target{p.target}, p.target.Reached, nil
}

func (p *startingRestore) did(bool) string {
	text := "it is " + p.target.Phase
	if p.target.Note != "" {
		text += ", " + p.target.Note
	}
	if !p.target.Reached || p.wait || p.target.Phase == ui.RestoreDone {
		return text
	}
	return text + "; follow it: " + p.follow
}

// withHint adds to the refusal of a database with data how to see what is in it. How to lose
// that is no hint.
func (p *startingRestore) withHint(env *Env, err error) error {
	var f *failure
	if errors.As(err, &f) && p.cluster != "" && strings.Contains(f.err.Error(), admin.NotEmpty) {
		f.hints = append(f.hints, "see what is in it: "+env.command("cli", p.cluster, "--", `getrangekeys "" \xff 10`))
	}
	return err
}
