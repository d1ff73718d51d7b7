package commands

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// replaceOptions are the options of `kubectl fdb replace`.
type replaceOptions struct {
	clusterFlag
	selection
	changeFlags
	most    int
	perZone bool
	undo    bool
	include bool
	skip    bool
}

func newReplace(env *Env) *cobra.Command {
	var o replaceOptions
	cmd := &cobra.Command{
		Use:   "replace [CLUSTER] [ID…]",
		Short: "Replace process groups",
		Long: `Replace process groups. Each is marked for removal and a new group is added for it. The
database moves data and roles away; once it proves that nothing depends on the old group
any more, its pod, PVC and entry in the status are removed. No data is lost, and at most
--max-concurrent groups are marked for removal at once.

ID is a process group ID, a pod name, an address, or - for stdin; the flags select by
class, condition, node, zone or label. Without --wait the groups are only marked, and the
next pass continues. With --wait, passes repeat until they are removed; these passes make
no other changes of the spec. --undo removes the marks, as long as no data was moved;
--undo --include also includes excluded groups first, which fill with data again.

--skip-exclusion removes groups that cannot be drained together with the data on them.
On a terminal it requires the typed name of the cluster, elsewhere --yes --confirm CLUSTER
--plan FILE --reason TEXT. It is refused unless other copies of all data remain, the
database has its full fault tolerance, and the remaining processes can hold the data.
Groups are removed one fault domain at a time. This cannot be undone.`,
		Example: `  # Preview the replacement
  kubectl fdb replace sample-cluster storage-3 --dry-run

  # Replace a process group and wait for its removal
  kubectl fdb replace sample-cluster storage-3 --wait --yes

  # Replace all groups that have been failing for half an hour, one at a time
  kubectl fdb replace sample-cluster --condition PodFailing,MissingProcesses --older-than 30m --wait --yes

  # Remove a group that cannot be drained, with its data, after an approval
  kubectl fdb replace sample-cluster storage-3 --skip-exclusion --dry-run -o json > plan.json
  kubectl fdb replace sample-cluster storage-3 --skip-exclusion --plan plan.json --yes --confirm sample-cluster --reason "its disk is lost"

  # Remove the mark again
  kubectl fdb replace sample-cluster storage-3 --undo --yes

  # Include the group and remove the mark, although it is excluded
  kubectl fdb replace sample-cluster storage-3 --undo --include --wait --yes`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.selection.add(cmd, env)
	o.addRemoving(cmd, "the process groups are removed")
	flags := cmd.Flags()
	flags.IntVar(&o.most, "max-concurrent", 1, "maximum number of process groups marked for removal at once, including those marked by others")
	flags.BoolVar(&o.perZone, "per-zone", false, "If true, --max-concurrent counts fault domains instead of process groups")
	flags.BoolVar(&o.undo, "undo", false, "If true, remove the marks, as long as no data was moved")
	flags.BoolVar(&o.include, "include", false, "If true, --undo also includes process groups that are excluded, ten minutes after the last recovery at the earliest")
	flags.BoolVar(&o.skip, "skip-exclusion", false, "If true, remove the groups with the data on them, provided that other copies of all of it remain; this cannot be undone")
	flags.StringVar(&o.confirmed, "confirm", "", "name of the cluster, to confirm --skip-exclusion")
	completeWith(cmd, "confirm", env.clusterNames)
	return cmd
}

func (o replaceOptions) run(ctx context.Context, env *Env, args []string) error {
	o.dangerous = o.skip
	if err := o.check(env); err != nil {
		return err
	}
	cluster, err := o.readIDs(env, args, o.name)
	if err != nil {
		return err
	}
	record, err := env.cluster(ctx, cluster, o.name, o.intent())
	if err != nil {
		return err
	}
	if err := o.confirmedAs(record.Name); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	chosen, err := o.choose(ctx, env, key)
	if err != nil {
		return causeOf(ctx, err)
	}
	err = env.carryOut(ctx, key, o.change(key.Name, chosen))
	if o.undo && !o.dry() {
		o.hintAfterUndo(env, record, chosen, err)
	}
	return err
}

// hintAfterUndo prints how to include what is excluded, or how to keep the process groups from being
// marked again: the next pass marks those that still have a reason.
func (o replaceOptions) hintAfterUndo(env *Env, record *v1beta2.FoundationDBCluster, chosen []v1beta2.ProcessGroupID, err error) {
	if normalized, invalid := record.Normalized(); invalid == nil {
		record = normalized // with the list of the annotation
	}
	words := phrase.Strings(chosen)
	listed := slices.Concat(record.KeptProcessGroups(), chosen)
	switch {
	case err == nil && !slices.ContainsFunc(chosen, func(id v1beta2.ProcessGroupID) bool { return !record.KeepsFromReplacement(id) }): // they are kept
	case err == nil:
		env.logf("hint: to keep them from being marked again: %s", env.patchCommand(record, []byte(inspect.KeepPatch(record, listed))))
	case ExitCode(err) == ExitRefused && !o.include:
		env.logf("hint: to include excluded ones first: %s", env.command(slices.Concat([]string{"replace", record.Name}, words, []string{"--undo", "--include"})...))
	}
}

// choose selects the process groups, and keeps those that were already removed: repeating the
// command reports them, with the same meaning.
func (o replaceOptions) choose(ctx context.Context, env *Env, key types.NamespacedName) ([]v1beta2.ProcessGroupID, error) {
	if o.undo {
		return o.selection.choose(ctx, env, key)
	}
	if _, err := o.filter(); err != nil {
		return nil, err // fail before reading
	}
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	if err != nil {
		return nil, err
	}
	var gone []v1beta2.ProcessGroupID
	o.ids, gone = env.splitReplaced(ctx, key, facts.Snapshot, o.ids)
	if len(gone) > 0 && len(o.ids) == 0 {
		return gone, nil
	}
	chosen, err := o.chooseFrom(env, key, facts)
	if err != nil {
		return nil, err
	}
	return append(chosen, gone...), nil
}

// check validates the flags before anything is read.
func (o replaceOptions) check(env *Env) error {
	switch {
	case o.most < 1:
		return usagef("--max-concurrent must be at least 1")
	case o.skip && (o.undo || o.most > 1 || o.perZone):
		return usagef("--skip-exclusion conflicts with --undo, --max-concurrent and --per-zone: it removes one fault domain at a time, and cannot be undone")
	case o.confirmed != "" && !o.skip:
		return usagef("--confirm requires --skip-exclusion")
	case o.undo && o.wait && !o.include:
		return usagef("--undo conflicts with --wait: it completes at once")
	case o.include && !o.undo:
		return usagef("--include requires --undo")
	}
	return o.changeFlags.check(env)
}

// change returns the stages that replace the groups, or unmark them.
func (o replaceOptions) change(cluster string, chosen []v1beta2.ProcessGroupID) change {
	words := []string{"replace", cluster}
	for _, id := range chosen {
		words = append(words, string(id))
	}
	c := change{changeFlags: o.changeFlags, permissions: reconcilePermissions(), goal: replacing(chosen)}
	switch {
	case o.undo && o.include:
		c.words, c.stages, c.goal = append(words, "--undo", "--include"), stages.KeepingExcluded(chosen), keeping(chosen)
		return c
	case o.undo:
		c.words, c.stages, c.goal = append(words, "--undo"), stages.Keeping(chosen), keeping(chosen)
		return c
	}
	if o.most > 1 {
		words = append(words, fmt.Sprintf("--max-concurrent=%d", o.most))
	}
	if o.perZone {
		words = append(words, "--per-zone")
	}
	first := operations.ReplaceGroups(operations.Replacement{Groups: chosen, Most: o.most, ByZone: o.perZone})
	if o.skip {
		first, words = operations.SkipExclusion(chosen), append(words, "--skip-exclusion")
	}
	c.words, c.stages = words, stages.MarkingForRemoval(first)
	if o.wait {
		c.stages = stages.Replacing(first)
	}
	return c
}
