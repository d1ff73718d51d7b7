package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// restartOptions are the options of `kubectl fdb restart`.
type restartOptions struct {
	clusterFlag
	selection
	changeFlags
	strategy string
	since    string
}

func newRestart(env *Env) *cobra.Command {
	var o restartOptions
	cmd := &cobra.Command{
		Use:   "restart [CLUSTER] [ID…]",
		Short: "Restart the processes of process groups",
		Long: `Restart the processes of process groups. Pods and volumes stay and no data moves: the
processes exit and start again with the current configuration of their pods.

A wave is the storage or log processes of one fault domain, or all processes of a class
without data. Each wave waits until all processes of the previous wave are back, every
process and the last recovery are at least spec.minimumUptimeSecondsForBounce (10m) old,
and the database is fully fault tolerant; otherwise it stops. Without --wait one wave is
restarted, with --wait all of them.

Processes that started after --since count as restarted. With --wait the command to
continue an interrupted run is printed before the first change.`,
		Example: `  # Preview the restart
  kubectl fdb restart sample-cluster --class storage --dry-run

  # Restart all storage processes, one fault domain at a time
  kubectl fdb restart sample-cluster --class storage --wait --yes

  # Restart one process group
  kubectl fdb restart sample-cluster log-1 --wait --yes

  # Continue an interrupted run that started at noon
  kubectl fdb restart sample-cluster --class storage --wait --yes --since 2026-11-21T12:00:00Z`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.selection.add(cmd, env)
	o.changeFlags.add(cmd, "all selected processes are restarted")
	flags := cmd.Flags()
	flags.StringVar(&o.strategy, "strategy", string(operations.RestartByWave), "order of restarts: wave restarts a class at once, or one fault domain of it if it has data; rolling restarts one process group at a time; all-at-once makes the database unavailable for some seconds")
	flags.StringVar(&o.since, "since", "", "time (2026-11-21T12:00:00Z) on the clock of the database; processes that started after it count as restarted. If empty, the current time")
	complete(cmd, "strategy", func() []string { return phrase.Strings(operations.RestartStrategies()) })
	return cmd
}

func (o restartOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	cluster, err := o.readIDs(env, args, o.name)
	if err != nil {
		return err
	}
	if _, err := o.filter(); err != nil {
		return err
	}
	record, err := env.cluster(ctx, cluster, o.name, o.intent())
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	c, err := o.prepare(ctx, env, key)
	if err != nil {
		return causeOf(ctx, err)
	}
	if o.wait {
		env.logf("to resume if interrupted: %s", env.command(append(c.words, c.shared()...)...))
	}
	return env.carryOut(ctx, key, c)
}

// prepare selects the groups, and builds the change.
func (o restartOptions) prepare(ctx context.Context, env *Env, key types.NamespacedName) (change, error) {
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	if err != nil {
		return change{}, err
	}
	chosen, err := o.chooseFrom(env, key, facts)
	if err != nil {
		return change{}, err
	}
	if env.planned != nil && o.since == "" {
		o.since = sinceOf(env.planned.Command)
	}
	since, err := o.begin(facts)
	if err != nil {
		return change{}, err
	}
	return o.change(key.Name, chosen, since), nil
}

// check validates the flags before anything is read.
func (o restartOptions) check(env *Env) error {
	if !anyOf(phrase.Strings(operations.RestartStrategies()), o.strategy) {
		return usagef("--strategy must be wave, rolling or all-at-once, not %q", o.strategy)
	}
	if _, err := o.sinceFlag(); err != nil {
		return err
	}
	return o.changeFlags.check(env)
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
func (o restartOptions) sinceFlag() (time.Time, error) {
	if o.since == "" {
		return time.Time{}, nil
	}
	since, err := time.Parse(time.RFC3339, o.since)
	if err != nil {
		return time.Time{}, usagef("--since must be a time such as 2026-11-21T12:00:00Z, not %q", o.since)
	}
	return since, nil
}

// begin returns the time after which a started process counts as restarted, on the clock of the
// database: process uptimes are measured by no other, so that a restart requires an answer from
// it.
func (o restartOptions) begin(facts inspect.Facts) (time.Time, error) {
	since, err := o.sinceFlag()
	if err != nil {
		return time.Time{}, err
	}
	status := facts.Database.Status
	if status == nil {
		return time.Time{}, &failure{code: ExitUnreachable, err: fmt.Errorf("cannot determine the age of processes: %s (nothing was changed)", facts.Database.Why())}
	}
	now, told := status.Time()
	switch {
	case !told:
		return time.Time{}, &failure{code: ExitUnreachable, err: errors.New("cannot determine the age of processes: the database reports no time (nothing was changed)")}
	case o.since == "":
		return now, nil
	case since.After(now):
		return time.Time{}, usagef("--since %s must not be in the future: the database time is %s", o.since, now.Format(time.RFC3339))
	default:
		return since, nil
	}
}

// change returns the stages that restart the groups.
func (o restartOptions) change(cluster string, chosen []v1beta2.ProcessGroupID, since time.Time) change {
	words := append([]string{"restart", cluster}, phrase.Strings(chosen)...)
	if o.strategy != string(operations.RestartByWave) {
		words = append(words, "--strategy="+o.strategy)
	}
	words = append(words, "--since="+since.UTC().Format(time.RFC3339))
	restart := operations.Restart{Groups: chosen, Since: since, Strategy: operations.RestartStrategy(o.strategy)}
	return change{
		changeFlags: o.changeFlags, words: words, permissions: databasePermissions(),
		stages: stages.Marking(operations.RestartGroups(restart)), goal: restarting{groups: chosen, since: since},
	}
}
