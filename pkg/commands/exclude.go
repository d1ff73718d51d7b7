package commands

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// excludeOptions are the options of `kubectl fdb exclude`.
type excludeOptions struct {
	clusterFlag
	selection
	changeFlags
}

func newExclude(env *Env) *cobra.Command {
	var o excludeOptions
	cmd := &cobra.Command{
		Use:   "exclude [CLUSTER] [ID…]",
		Short: "Exclude process groups without removing them",
		Long: `Exclude process groups: the database moves all data and roles off them. The groups keep
running without data until they are included again. To remove a process group use replace:
it adds a new group first, excludes the old one, and removes it.

The redundancy mode limits the number of excluded processes, including earlier exclusions,
and enough fault domains for the data must remain. Coordinators are changed first. A
process that is already excluded is never excluded again, since this would restart data
distribution. With --wait, passes repeat until the database proves that nothing depends on
any of the groups.

A pass replaces a process group that stays excluded for longer than
automationOptions.replacements.failureDetectionTimeSeconds (2h).`,
		Example: `  # Preview the exclusion
  kubectl fdb exclude sample-cluster storage-3 --dry-run

  # Exclude a process group and wait until it is drained
  kubectl fdb exclude sample-cluster storage-3 --wait --yes

  # Revert the exclusion
  kubectl fdb include sample-cluster storage-3`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.selection.add(cmd, env)
	o.changeFlags.add(cmd, "the process groups are drained")
	return cmd
}

func (o excludeOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	if _, err := o.filter(); err != nil {
		return err // fail before reading
	}
	cluster, err := o.readIDs(env, args, o.name)
	if err != nil {
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
	if err := env.carryOut(ctx, key, c); err != nil {
		return err
	}
	if record.ReplacementsEnabled() && record.FailureDetectionTime() < v1beta2.Never {
		env.logf("process groups that stay excluded for %s are replaced by a pass (automationOptions.replacements)", record.FailureDetectionTime())
	}
	return nil
}

// prepare selects the groups, and builds the change.
func (o excludeOptions) prepare(ctx context.Context, env *Env, key types.NamespacedName) (change, error) {
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	if err != nil {
		return change{}, err
	}
	chosen, err := o.chooseFrom(env, key, facts)
	if err != nil {
		return change{}, err
	}
	c := o.change(key.Name, chosen)
	// Groups that were excluded before stay excluded when this is reverted.
	before := both(chosen, targets.ExcludedGroups(facts))
	ours := slices.DeleteFunc(slices.Clone(chosen), func(id v1beta2.ProcessGroupID) bool { return slices.Contains(before, id) })
	if len(ours) > 0 {
		c.undo = append([]string{"include", key.Name}, phrase.Strings(ours)...)
	}
	return c, nil
}

// change returns the stages that exclude the groups.
func (o excludeOptions) change(cluster string, chosen []v1beta2.ProcessGroupID) change {
	return change{
		changeFlags: o.changeFlags, words: append([]string{"exclude", cluster}, phrase.Strings(chosen)...), permissions: databasePermissions(),
		stages: stages.Excluding(chosen), goal: excluding(chosen),
	}
}
