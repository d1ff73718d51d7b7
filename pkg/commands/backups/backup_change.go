package backups

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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

// backupVerb is a command that changes the state of a backup.
type backupVerb struct {
	name, short, long string
	state             v1beta2.BackupState
	// requiresActive is true for a verb that requires a backup that is not stopped.
	requiresActive bool
	// done describes the reached state, begun a change in progress.
	done, begun string
	// until completes the sentence "repeat passes until …".
	until string
	// undo is the verb that reverts it; empty if there is none.
	undo string
}

const carriesOut = `

spec.backupState is set, and nothing else of the spec; then a pass reconciles the backup
with its whole spec, like kubectl fdb reconcile fdbbackup/NAME.`

var backupVerbs = []backupVerb{
	{
		name: "start", state: v1beta2.BackupStateRunning, until: "the backup runs and is restorable",
		short: "Start a backup and its agents",
		long:  "Start a backup and its agents. A stopped backup starts again with a new full snapshot." + carriesOut,
		done:  "the backup runs and is restorable", begun: "the backup is starting; it is restorable once its first snapshot is complete",
	},
	{
		name: "stop", state: v1beta2.BackupStateStopped, until: "the backup is stopped",
		short: "Stop a backup once it is restorable",
		long:  "Stop a backup once it is restorable. Its data and its agents stay: restores need them." + carriesOut,
		done:  "the backup is stopped; its data remains", begun: "the backup is stopping; it ends once it is restorable",
	},
	{
		name: "pause", state: v1beta2.BackupStatePaused, requiresActive: true, until: "the backup is paused", undo: "resume",
		short: "Pause all backup agents of the database",
		long:  "Pause all backup agents of the database: one switch for all its backups and restores. While\nthey are paused, the database stores all changes that are not backed up yet, which takes\nspace." + carriesOut,
		done:  "the backup and all other agents of the database are paused", begun: "the backup agents are pausing",
	},
	{
		name: "resume", state: v1beta2.BackupStateRunning, requiresActive: true, until: "the backup runs", undo: "pause",
		short: "Resume all backup agents of the database",
		long:  "Resume all backup agents of the database, for all its backups and restores." + carriesOut,
		done:  "the backup runs", begun: "the backup agents are resuming",
	},
}

// backupChangeOptions are the options of `kubectl fdb backup start`, stop, pause and resume.
type backupChangeOptions struct{ apply.ChangeFlags }

func newBackupChange(env *session.Env, verb backupVerb) *cobra.Command {
	var o backupChangeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  changingBackups,
	}, &cobra.Command{
		Use:   verb.name + " [NAME]",
		Short: verb.short,
		Long:  verb.long,
		Example: `  # Preview the changes
  kubectl fdb backup ` + verb.name + ` nightly --dry-run

  # Apply them and wait
  kubectl fdb backup ` + verb.name + ` nightly --yes --wait --timeout 10m`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.Resource(env, session.BackupKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, verb, args)
		},
	})
	flags.Change(cmd, &o.ChangeFlags, verb.until)
	return cmd
}

func (o backupChangeOptions) run(ctx context.Context, env *session.Env, verb backupVerb, args []string) error {
	key, err := changed(ctx, env, o.ChangeFlags, session.BackupKind, args)
	if err != nil {
		return err
	}
	return apply.CarryOut(ctx, env, key, o.change(key.Name, verb))
}

// ChangeOf returns the change of a backup by a verb: start, stop, pause or resume.
func ChangeOf(flags apply.ChangeFlags, name, verb string) (apply.Change, error) {
	i := slices.IndexFunc(backupVerbs, func(v backupVerb) bool { return v.name == verb })
	if i < 0 {
		return apply.Change{}, fmt.Errorf("unknown change of a backup: %q", verb)
	}
	return backupChangeOptions{flags}.change(name, backupVerbs[i]), nil
}

func (o backupChangeOptions) change(name string, verb backupVerb) apply.Change {
	set := backup.SetBackupState
	if verb.requiresActive {
		set = backup.SetActiveBackupState
	}
	c := apply.Change{
		ChangeFlags: o.ChangeFlags, Args: []string{"backup", verb.name, name}, ResourceKind: session.BackupKind, Permissions: session.BackupPermissions(),
		Stages: slices.Concat([]plan.Stage{set(verb.state)}, backup.Backup()), Goal: &changingBackup{backupVerb: verb},
	}
	if verb.undo != "" {
		c.Undo = []string{"backup", verb.undo, name}
	}
	return c
}

// changingBackup is the goal of a verb, and the last observed state of the backup.
type changingBackup struct {
	backupVerb
	observed inspect.Target
}

func (c *changingBackup) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	seen := plan.Snapshot{}
	if err := s.Observe(ctx, &seen, plan.Backup|plan.Agents|plan.BackupStatus); err != nil {
		return nil, false, err
	}
	c.observed = targets.BackupTo(session.BackupFacts(seen, inspect.DefaultMaxLag), c.state)
	return []inspect.Target{c.observed}, c.observed.Reached, nil
}

func (c *changingBackup) Summary(to apply.Extent) string {
	switch {
	case to == apply.Reached && c.observed.Phase == targets.BackupComplete:
		return "the backup is complete (a single snapshot) and restorable"
	case to == apply.Reached:
		return c.done
	default:
		return c.begun
	}
}

// changingBackups returns what passes over a backup require, including to find it.
func changingBackups() []declare.Requirement {
	list := session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbbackups"}
	return slices.Concat(cmdutil.Required(session.BackupPermissions()...), cmdutil.Optional("its name is required", list), cmdutil.Operators(), cmdutil.Auditing())
}
