package commands

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// excludeOptions is what `kubectl fdb exclude` was asked to do.
type excludeOptions struct {
	clusterFlag
	selection
	changeFlags
}

func newExclude(env *Env) *cobra.Command {
	var o excludeOptions
	cmd := &cobra.Command{
		Use:   "exclude [CLUSTER] [ID…]",
		Short: "Have the database move data and roles off process groups",
		Long: `Have the database move data and roles off process groups, which then stay as they are,
empty, until they are included again. To get rid of a process group use replace: it brings
a new one first, excludes the old one, and removes it.

No more are excluded than the redundancy mode allows, with those that are excluded already
counted, and none without which the data would have too few fault domains. Coordinators
move first. What is excluded is never excluded again: that would only begin data
distribution anew. With --wait passes follow until the database proves that nothing depends
on any of them.

A pass replaces a process group that stays excluded for as long as
automationOptions.replacements.failureDetectionTimeSeconds says (2h).`,
		Example: `  # What would it do?
  kubectl fdb exclude sample-cluster storage-3 --dry-run

  # Empty one and wait until it is empty
  kubectl fdb exclude sample-cluster storage-3 --wait --yes

  # Take it back
  kubectl fdb include sample-cluster storage-3`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.selection.add(cmd, env)
	o.changeFlags.add(cmd, "nothing depends on the process groups any more")
	return cmd
}

func (o excludeOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	if _, err := o.filter(); err != nil {
		return err // before anything is read
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
	if record.ReplacementsEnabled() {
		env.talk("a pass replaces what stays excluded for %s; automationOptions.replacements says so", record.FailureDetectionTime())
	}
	return nil
}

// prepare chooses the groups, and makes the change of them.
func (o excludeOptions) prepare(ctx context.Context, env *Env, key types.NamespacedName) (change, error) {
	facts, err := observation{env: env, key: key}.facts(ctx)
	if err != nil {
		return change{}, err
	}
	chosen, err := o.chooseFrom(env, key, facts)
	if err != nil {
		return change{}, err
	}
	c := o.change(key.Name, chosen)
	// What somebody else had excluded before stays so when this is taken back.
	before := both(chosen, ui.ExcludedGroups(facts))
	ours := slices.DeleteFunc(slices.Clone(chosen), func(id v1beta2.ProcessGroupID) bool { return slices.Contains(before, id) })
	if len(ours) > 0 {
		c.undo = append([]string{"include", key.Name}, texts(ours)...)
	}
	return c, nil
}

// change is the list of stages that excludes the groups.
func (o excludeOptions) change(cluster string, chosen []v1beta2.ProcessGroupID) change {
	return change{
		changeFlags: o.changeFlags, words: append([]string{"exclude", cluster}, texts(chosen)...), needs: databasePowers(),
		stages: stages.Excluding(chosen), purpose: excluding(chosen),
	}
}
