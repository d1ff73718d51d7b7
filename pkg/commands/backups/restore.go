package backups

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewRestore is the parent of the restore commands. It does nothing by itself.
func NewRestore(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"backup.md#restore"}}, &cobra.Command{
		Use:   "restore",
		Short: "Start, inspect and abort restores",
	})
	cmd.AddCommand(newRestoreStatus(env), newRestoreStart(env), newRestoreAbort(env))
	cmdutil.AsParent(cmd, "restore command")
	return cmd
}

// restoreStatusOptions are the options of `kubectl fdb restore status`.
type restoreStatusOptions struct{ cmdutil.ResourceViewOptions }

func newRestoreStatus(env *session.Env) *cobra.Command {
	var o restoreStatusOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbrestores") },
	}, &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show the progress of a restore",
		Long: `Show the progress of a restore.

The progress is reported by the backup tools, which run in a pod of the backup agents. The
database is locked until the restore is done. RATE and ETA need three observations, so
--watch. Nothing is started: use kubectl fdb restore start. kubectl fdb wait --for=done
waits for its end.

Exit code 0: done. 1: not done, or aborted. 8: unknown.`,
		Example: `  # Show the progress
  kubectl fdb restore status nightly-again

  # Repeat every 5 s, with rate and ETA
  kubectl fdb restore status nightly-again -w`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	})
	o.Add(cmd, env, session.RestoreKind)
	o.AddWatch(cmd)
	return cmd
}

func (o restoreStatusOptions) run(ctx context.Context, env *session.Env, args []string) error {
	history := &inspect.RestoreHistory{}
	return o.Display(ctx, env, session.RestoreKind, args, plan.ClusterResource|plan.Restore|plan.RestoreStatus, func(key types.NamespacedName, s plan.Snapshot) cmdutil.Output {
		return o.view(ctx, env, key, s, history)
	})
}

func (o restoreStatusOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName, s plan.Snapshot, h *inspect.RestoreHistory) cmdutil.Output {
	facts := session.RestoreFacts(s)
	v := inspect.NewRestoreStatusView(env.Metadata(session.RestoreKind.Named(key)), facts, h)
	code := session.VerdictCode(v.Done)
	if !facts.Started {
		hint(ctx, o.ResourceViewOptions, env, session.RestoreKind, key, code)
	}
	return cmdutil.Output{
		Printable: format.Printable{
			Document: v, Names: []string{"foundationdbrestore/" + key.Name},
			Table: func(w io.Writer) error {
				return ui.WriteRestoreStatus(w, v, statusOptions(o.ResourceViewOptions, env, w))
			},
		},
		Code: code,
	}
}

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
