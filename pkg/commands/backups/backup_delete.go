package backups

import (
	"context"
	"fmt"
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

const confirmationHelp = `

On a terminal this requires the typed name of the backup, elsewhere --yes --confirm NAME
--plan FILE --reason TEXT. It is refused for a destination that this FoundationDBBackup was
not observed to write to, that another FoundationDBBackup of the namespace writes or may
write to, or that a restore reads from. Users of the store outside the namespace cannot be
detected.`

// backupExpireOptions are the options of `kubectl fdb backup expire`.
type backupExpireOptions struct {
	apply.ChangeFlags
	before    int64
	olderThan time.Duration
	force     bool
}

func newBackupExpire(env *session.Env) *cobra.Command {
	var o backupExpireOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.StorePermissions()...), cmdutil.Operators(), cmdutil.Auditing())
		},
	}, &cobra.Command{
		Use:   "expire [NAME]",
		Short: "Delete old data of a backup",
		Long: `Delete old data of a backup permanently. --older-than keeps the data that is required to
restore any version of the given duration, and deletes older data. --before-version deletes
as much data before that version as possible, and is refused if nothing would be restorable
afterwards. The plan shows the number of deleted snapshots and what remains restorable. The
backup may be running.

--older-than counts 1,000,000 versions as one second. Versions jump ahead at every recovery
of the database, so a version from before a recovery is younger than calculated, and less
time is kept. To keep more, use a longer duration, or a version shown by backup describe.` + confirmationHelp,
		Example: `  # Preview the deletion, with the last 30 days to stay restorable
  kubectl fdb backup expire nightly --older-than 720h --dry-run

  # Delete, and confirm with the typed name
  kubectl fdb backup expire nightly --older-than 720h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.Resource(env, session.BackupKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, cmd.Flags().Changed, args)
		},
	})
	flags.Change(cmd, &o.ChangeFlags, "the data is deleted")
	flags.Confirm(cmd, &o.ChangeFlags, session.BackupKind)
	cmd.Flags().Int64Var(&o.before, "before-version", 0, "oldest version to keep")
	cmd.Flags().DurationVar(&o.olderThan, "older-than", 0, "duration to stay restorable, such as 720h; 1,000,000 versions count as one second")
	flags.AtLeast(cmd, "older-than", flags.Positive)
	cmd.Flags().BoolVar(&o.force, "force", false, "If true, --before-version deletes data even if nothing is restorable afterwards")
	declare.NotInSteps(cmd, "force")
	return cmd
}

func (o backupExpireOptions) run(ctx context.Context, env *session.Env, given func(string) bool, args []string) error {
	expiry, words, err := o.expiry(given)
	if err != nil {
		return err
	}
	return carryOut(ctx, o.ChangeFlags, env, args, "expire", words, backup.ExpireBackup(expiry))
}

// expiry returns what to delete, and the flags that select it.
func (o backupExpireOptions) expiry(given func(string) bool) (backup.Expiry, []string, error) {
	e := backup.Expiry{OlderThan: o.olderThan, Force: o.force}
	switch {
	case given("before-version") == given("older-than"):
		return e, nil, exit.Usagef("exactly one of --older-than and --before-version is required")
	case given("older-than") && o.force:
		return e, nil, exit.Usagef("--force requires --before-version: --older-than never deletes data that a restore needs")
	case given("older-than"):
		return e, []string{"--older-than", o.olderThan.String()}, nil
	case o.before <= 0:
		return e, nil, exit.Usagef("--before-version must be positive")
	}
	e.Before = &o.before
	words := []string{"--before-version", fmt.Sprint(o.before)}
	if o.force {
		words = append(words, "--force")
	}
	return e, words, nil
}

// backupDeleteOptions are the options of `kubectl fdb backup delete`.
type backupDeleteOptions struct{ apply.ChangeFlags }

func newBackupDelete(env *session.Env) *cobra.Command {
	var o backupDeleteOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.StorePermissions()...), cmdutil.Operators(), cmdutil.Auditing())
		},
	}, &cobra.Command{
		Use:   "delete [NAME]",
		Short: "Delete all data of a stopped backup",
		Long: `Delete all data of a stopped backup from its store permanently. The FoundationDBBackup stays
and can start a new backup. It is refused while a backup writes to the store, and while the
spec has one running: stop it first. Afterwards the store is read to verify that nothing is
left. The database continues to report the backup as restorable; backup describe shows the
actual content of the store.` + confirmationHelp,
		Example: `  # Preview the deletion
  kubectl fdb backup delete nightly --dry-run

  # Delete, and confirm with the typed name
  kubectl fdb backup delete nightly`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.Resource(env, session.BackupKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return carryOut(cmd.Context(), o.ChangeFlags, env, args, "delete", nil, backup.ClearBackup)
		},
	})
	flags.Change(cmd, &o.ChangeFlags, "the store is empty")
	flags.Confirm(cmd, &o.ChangeFlags, session.BackupKind)
	return cmd
}

// carryOut deletes data of a backup, as the stage decides.
func carryOut(ctx context.Context, f apply.ChangeFlags, env *session.Env, args []string, verb string, flags []string, stage plan.Stage) error {
	key, err := changed(ctx, env, f, session.BackupKind, args)
	if err != nil {
		return err
	}
	if err := f.ConfirmedAs(key.Name); err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: f, Args: append([]string{"backup", verb, key.Name}, flags...), ResourceKind: session.BackupKind, Permissions: session.StorePermissions(),
		Stages: []plan.Stage{stage}, Goal: &backupDeletion{stage: stage},
	})
}

// backupDeletion is the goal of `backup expire` and `delete`: the remaining content of the
// store, read back.
type backupDeletion struct {
	stage  plan.Stage
	target inspect.Target
}

func (d *backupDeletion) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, d.stage.Reads); err != nil {
		return nil, false, err
	}
	d.target = targets.BackupWithout(seen, d.stage.Decide(seen))
	return []inspect.Target{d.target}, d.target.Reached, nil
}

func (d *backupDeletion) Summary(to apply.Extent) string {
	switch {
	case to != apply.Reached:
		return d.target.Note
	case d.stage.Name == backup.ClearBackup.Name:
		return d.target.Note + "; the database still reports the backup as restorable, but it is not"
	default:
		return "nothing left to delete; " + d.target.Note
	}
}
