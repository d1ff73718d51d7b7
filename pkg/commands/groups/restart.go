package groups

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// RestartOptions are the options of `kubectl fdb restart`.
type RestartOptions struct {
	session.ClusterFlag
	cmdutil.Selection
	apply.ChangeFlags
	Strategy string
	since    string
	sites    sites.Flags
}

// NewRestart returns the command `restart`.
func NewRestart(env *session.Env) *cobra.Command {
	var o RestartOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"restarts.md"},
		Needs: cmdutil.ChangingDatabase, With: cmdutil.OverSites(cmdutil.ChangingDatabase),
	}, &cobra.Command{
		Use:   "restart [CLUSTER] [ID...]",
		Short: "Restart the processes of process groups",
		Long: `Restart the processes of process groups. Pods and volumes stay and no data moves: the
processes exit and start again with the current configuration of their pods.

A wave is the storage or log processes of one fault domain, or all processes of a class
without data. Each wave waits until all processes of the previous wave are back, every
process and the last recovery are at least spec.minimumUptimeSecondsForBounce (10m) old,
and the database is fully fault tolerant; otherwise it stops. Without --wait one wave is
restarted, with --wait all of them.

Processes that started after --since count as restarted. With --wait the command to
continue an interrupted run is printed before the first change.

With --contexts or --sites, the process groups are those of a database with resources in
several Kubernetes clusters. Each is restarted at its own site, in turn, with one approval
and while this run holds the Leases of all sites.`,
		Example: `  # Preview the restart
  kubectl fdb restart sample-cluster --class storage --dry-run

  # Restart all storage processes, one fault domain at a time
  kubectl fdb restart sample-cluster --class storage --wait --yes

  # Restart one process group
  kubectl fdb restart sample-cluster log-1 --wait --yes

  # Restart the storage processes of several Kubernetes clusters, one fault domain at a time
  kubectl fdb restart --class storage --contexts dc1,dc2,dc3 --wait --yes

  # Continue an interrupted run that started at noon
  kubectl fdb restart sample-cluster --class storage --wait --yes --since 2026-11-21T12:00:00Z`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	Add(&o.Selection, cmd, env)
	flags.Change(cmd, &o.ChangeFlags, "all selected processes are restarted")
	flags.Sites(cmd, &o.sites, env)
	flags := cmd.Flags()
	flags.StringVar(&o.Strategy, "strategy", string(operations.RestartByWave), "order of restarts: wave restarts a class at once, or one fault domain of it if it has data; rolling restarts one process group at a time; all-at-once makes the database unavailable for some seconds")
	flags.StringVar(&o.since, "since", "", "time (2026-11-21T12:00:00Z) on the clock of the database; processes that started after it count as restarted. If empty, the current time")
	complete.Flag(cmd, "strategy", func() []string { return phrase.Strings(operations.RestartStrategies()) })
	return cmd
}

func (o RestartOptions) run(ctx context.Context, env *session.Env, args []string) error {
	named, err := o.sites.Sites(env, sites.Scope{})
	if err != nil {
		return err
	}
	o.OverSites = len(named) > 0
	if err := o.check(env); err != nil {
		return err
	}
	if o.OverSites {
		return acrossSites{
			ChangeFlags: o.ChangeFlags, Selection: o.Selection, named: named, verb: "restart", flag: o.Name,
			at: func(s cmdutil.Selection) preparing { o.Selection = s; return o.Prepare },
		}.run(ctx, env, args)
	}
	cluster, err := o.ReadIDs(ctx, env, args, o.Name)
	if err != nil {
		return err
	}
	if _, err := o.Filter(); err != nil {
		return err
	}
	_, err = carryOut(ctx, env, cluster, o.ClusterFlag, o.Intent(), func(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
		c, err := o.Prepare(ctx, env, key)
		if err == nil && o.Wait {
			env.Logf("to resume if interrupted: %s", env.Command(append(c.Args, c.Shared()...)...))
		}
		return c, err
	})
	return err
}

// Prepare selects the groups, and builds the change.
func (o RestartOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return apply.Change{}, err
	}
	chosen, err := o.ChooseFrom(key, facts)
	if err != nil {
		return apply.Change{}, err
	}
	if env.Run.Planned != nil && o.since == "" {
		o.since = sinceOf(env.Run.Planned.Command)
	}
	since, err := o.begin(facts)
	if err != nil {
		return apply.Change{}, err
	}
	return o.change(key.Name, chosen, since), nil
}

// check validates the flags before anything is read.
func (o RestartOptions) check(env *session.Env) error {
	if !cmdutil.AnyOf(phrase.Strings(operations.RestartStrategies()), o.Strategy) {
		return exit.Usagef("--strategy must be wave, rolling or all-at-once, not %q", o.Strategy)
	}
	if _, err := o.sinceFlag(); err != nil {
		return err
	}
	return o.Check(env)
}

// sinceOf returns the --since of a plan: restarts count from the time when it was made.
func sinceOf(command []string) string {
	for _, word := range command {
		if since, found := strings.CutPrefix(word, "--since="); found {
			return since
		}
	}
	return ""
}

// sinceFlag parses --since; zero if it is empty.
func (o RestartOptions) sinceFlag() (time.Time, error) {
	if o.since == "" {
		return time.Time{}, nil
	}
	since, err := time.Parse(time.RFC3339, o.since)
	if err != nil {
		return time.Time{}, exit.Usagef("--since must be a time such as 2026-11-21T12:00:00Z, not %q", o.since)
	}
	return since, nil
}

// begin returns the time after which a started process counts as restarted, on the clock of the
// database: process uptimes are measured by no other, so that a restart requires an answer from
// it.
func (o RestartOptions) begin(facts inspect.Facts) (time.Time, error) {
	since, err := o.sinceFlag()
	if err != nil {
		return time.Time{}, err
	}
	status := facts.Database.Status
	if status == nil {
		return time.Time{}, &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("cannot determine the age of processes: %s (nothing was changed)", facts.Database.Why())}
	}
	now, reported := status.Time()
	switch {
	case !reported:
		return time.Time{}, &exit.Error{Code: exit.ExitUnreachable, Err: errors.New("cannot determine the age of processes: the database reports no time (nothing was changed)")}
	case o.since == "":
		return now, nil
	case since.After(now):
		return time.Time{}, exit.Usagef("--since %s must not be in the future: the database time is %s", o.since, now.Format(time.RFC3339))
	default:
		return since, nil
	}
}

// change returns the stages that restart the groups.
func (o RestartOptions) change(cluster string, chosen []v1beta2.ProcessGroupID, since time.Time) apply.Change {
	words := append([]string{"restart", cluster}, phrase.Strings(chosen)...)
	if o.Strategy != string(operations.RestartByWave) {
		words = append(words, "--strategy="+o.Strategy)
	}
	words = append(words, "--since="+since.UTC().Format(time.RFC3339))
	restart := operations.Restart{Groups: chosen, Since: since, Strategy: operations.RestartStrategy(o.Strategy)}
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: words, Permissions: session.DatabasePermissions(),
		Stages: stages.Marking(operations.RestartGroups(restart)), Goal: restarting{groups: chosen, since: since},
	}
}

// restarting is the goal of `restart`: process groups whose processes all started after the
// command.
type restarting struct {
	groups []v1beta2.ProcessGroupID
	since  time.Time
}

func (r restarting) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	targets := targets.Restarts(facts, r.groups, r.since)
	return targets, inspect.AllReached(targets), nil
}

func (r restarting) Summary(to apply.Extent) string {
	names := phrase.List(r.groups)
	if to == apply.Reached {
		return "restarted: " + names
	}
	return "restart requested: " + names + "; use --wait to wait for them to report again"
}
