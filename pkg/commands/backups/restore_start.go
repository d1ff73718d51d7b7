package backups

import (
	"context"
	"errors"
	"slices"
	"time"

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// restoreStartOptions are the options of `kubectl fdb restore start`.
type restoreStartOptions struct {
	apply.ChangeFlags
	at string
}

func newRestoreStart(env *session.Env) *cobra.Command {
	var o restoreStartOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.RestorePermissions()...),
				cmdutil.Optional("no time can be restored (--at)", session.RestoreAtPermissions()...), cmdutil.Operators(), cmdutil.Auditing())
		},
	}, &cobra.Command{
		Use:   "start [NAME]",
		Short: "Start a restore into an empty database",
		Long: `Start the restore of a FoundationDBRestore, like kubectl fdb reconcile fdbrestore/NAME. The
database is locked until the restore is done. Into a database with data nothing is
restored: FoundationDB refuses, and nothing is overwritten.

--at restores the data as it was at a time, without anything that was committed later. The
plan shows the version of that time, which spec.backupVersion is set to first, and the range
of times that can be restored; any other time is refused. Versions get their times from the
database that wrote the backup, which must be the one that is restored into. For another
cluster, set spec.backupVersion.

A restore is started once, regardless of its result: to restore again, delete and recreate
the resource. Without --wait the command ends when the restore has started; with --wait,
when it is done.`,
		Example: `  # Preview the restore
  kubectl fdb restore start nightly-again --dry-run

  # Restore the data as it was at a time
  kubectl fdb restore start nightly-again --at 2026-11-25T10:30:00Z --dry-run

  # Start it and wait until the data is restored
  kubectl fdb restore start nightly-again --yes --wait --timeout 2h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.Resource(env, session.RestoreKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Change(cmd, &o.ChangeFlags, "the restore is done")
	cmd.Flags().StringVar(&o.at, "at", "", "time to restore, in RFC 3339 (2026-11-25T10:30:00Z); empty for spec.backupVersion, or the latest restorable version")
	return cmd
}

// change returns the start of a restore as a change, without its goal.
func (o restoreStartOptions) change() (apply.Change, error) {
	c := apply.Change{
		ChangeFlags: o.ChangeFlags, Args: []string{"restore", "start", ""}, ResourceKind: session.RestoreKind,
		Permissions: session.RestorePermissions(), Stages: backup.Restore(),
	}
	if o.at == "" {
		return c, nil
	}
	at, err := time.Parse(time.RFC3339, o.at)
	if err != nil {
		return c, exit.Usagef("--at must be a time in RFC 3339, such as 2026-11-25T10:30:00Z: %q", o.at)
	}
	c.Args = append(c.Args, "--at", o.at)
	c.Permissions, c.Stages = append(c.Permissions, session.RestoreAtPermissions()...), backup.RestoreAt(at)
	return c, nil
}

func (o restoreStartOptions) run(ctx context.Context, env *session.Env, args []string) error {
	c, err := o.change()
	if err != nil {
		return err
	}
	key, err := changed(ctx, env, o.ChangeFlags, session.RestoreKind, args)
	if err != nil {
		return err
	}
	p := &startingRestore{wait: o.Wait, follow: env.Command("restore", "status", key.Name, "-w")}
	c.Args[2], c.Goal = key.Name, p
	return p.withHint(env, apply.CarryOut(ctx, env, key, c))
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

func (p *startingRestore) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, plan.Restore|plan.RestoreStatus|plan.RestoreTarget); err != nil {
		return nil, false, err
	}
	p.cluster = seen.Restore.Spec.DestinationClusterName
	p.occupied = len(seen.RestoreTarget.Occupied) > 0
	progress := targets.RestoreStarted
	if p.wait {
		progress = targets.RestoreCompleted
	}
	p.target = progress(seen, backup.OwnRestore(seen))
	return []inspect.Target{p.target}, p.target.Reached, nil
}

func (p *startingRestore) Summary(apply.Extent) string {
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
func (p *startingRestore) withHint(env *session.Env, err error) error {
	var f *exit.Error
	if errors.As(err, &f) && f.Code == exit.ExitRefused && p.occupied {
		f.Hints = append(f.Hints, "show the data: "+env.Command("cli", p.cluster, "--", `getrangekeys "" \xff 10`))
	}
	return err
}
