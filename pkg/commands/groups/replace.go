package groups

import (
	"context"
	"fmt"
	"slices"

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

// ReplaceOptions are the options of `kubectl fdb replace`.
type ReplaceOptions struct {
	session.ClusterFlag
	cmdutil.Selection
	apply.ChangeFlags
	// Max limits how many process groups, or with --per-zone fault domains, are marked at once.
	Max     int
	perZone bool
	// Undo reverts the marks instead; with Include, excluded process groups are included first.
	Undo, Include bool
	skip          bool
	sites         sites.Flags
}

// NewReplace returns the command `replace`.
func NewReplace(env *session.Env) *cobra.Command {
	var o ReplaceOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"replacements.md"},
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Reconciling(), cmdutil.Optional("already replaced process groups are only known from the audit file", session.Permission{Verb: "list", Resource: "events"}))
		},
		With: map[string]func() []declare.Requirement{
			"--contexts": cmdutil.OverSites(cmdutil.Reconciling)["--contexts"],
			"--respect-pdb": func() []declare.Requirement {
				return slices.Concat(cmdutil.Reconciling(), cmdutil.Required(session.EvictPermissions()...))
			},
		},
	}, &cobra.Command{
		Use:   "replace [CLUSTER] [ID...]",
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
Groups are removed one fault domain at a time. This cannot be undone.

With --contexts or --sites, the process groups are those of a database with resources in
several Kubernetes clusters. Each is replaced at its own site, in turn, with one approval
and while this run holds the Leases of all sites.`,
		Example: `  # Preview the replacement
  kubectl fdb replace sample-cluster storage-3 --dry-run

  # Replace a process group and wait for its removal
  kubectl fdb replace sample-cluster storage-3 --wait --yes

  # Replace all groups that have been failing for half an hour, one at a time
  kubectl fdb replace sample-cluster --condition PodFailing,MissingProcesses --older-than 30m --wait --yes

  # Remove a group that cannot be drained, with its data, after an approval
  kubectl fdb replace sample-cluster storage-3 --skip-exclusion --dry-run -o json > plan.json
  kubectl fdb replace sample-cluster storage-3 --skip-exclusion --plan plan.json --yes --confirm sample-cluster --reason "its disk is lost"

  # Replace process groups of two Kubernetes clusters
  kubectl fdb replace dc1-storage-3 dc2-log-7 --contexts dc1,dc2,dc3 --wait --yes

  # Remove the mark again
  kubectl fdb replace sample-cluster storage-3 --undo --yes

  # Include the group and remove the mark, although it is excluded
  kubectl fdb replace sample-cluster storage-3 --undo --include --wait --yes`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	Add(&o.Selection, cmd, env)
	flags.Removing(cmd, &o.ChangeFlags, "the process groups are removed")
	flags.Sites(cmd, &o.sites, env)
	flags := cmd.Flags()
	flags.IntVar(&o.Max, "max-concurrent", 1, "maximum number of process groups marked for removal at once, including those marked by others")
	flags.BoolVar(&o.perZone, "per-zone", false, "If true, --max-concurrent counts fault domains instead of process groups")
	flags.BoolVar(&o.Undo, "undo", false, "If true, remove the marks, as long as no data was moved")
	flags.BoolVar(&o.Include, "include", false, "If true, --undo also includes process groups that are excluded, ten minutes after the last recovery at the earliest")
	flags.BoolVar(&o.skip, "skip-exclusion", false, "If true, remove the groups with the data on them, provided that other copies of all of it remain; this cannot be undone")
	flags.StringVar(&o.Confirmed, "confirm", "", "name of the cluster, to confirm --skip-exclusion")
	complete.FlagWith(cmd, "confirm", complete.From(env).ClusterNames)
	return cmd
}

func (o ReplaceOptions) run(ctx context.Context, env *session.Env, args []string) error {
	o.Dangerous = o.skip
	named, err := o.sites.Sites(env, sites.Scope{Other: o.skip, Words: "--skip-exclusion"})
	if err != nil {
		return err
	}
	o.OverSites = len(named) > 0
	if err := o.check(env); err != nil {
		return err
	}
	if o.OverSites {
		return acrossSites{
			ChangeFlags: o.ChangeFlags, Selection: o.Selection, named: named, verb: "replace", flag: o.Name,
			at: func(s cmdutil.Selection) preparing { o.Selection = s; return o.Prepare },
		}.run(ctx, env, args)
	}
	cluster, err := o.ReadIDs(ctx, env, args, o.Name)
	if err != nil {
		return err
	}
	record, err := env.Cluster(ctx, cluster, o.Name, o.Intent())
	if err != nil {
		return err
	}
	if err := o.ConfirmedAs(record.Name); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	chosen, err := o.Choose(ctx, env, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	err = apply.CarryOut(ctx, env, key, o.Change(key.Name, chosen))
	if o.Undo && o.DryRun == apply.DryRunNone {
		o.HintAfterUndo(env, record, chosen, err)
	}
	return err
}

// HintAfterUndo prints how to include what is excluded, or how to keep the process groups from being
// marked again: the next pass marks those that still have a reason.
func (o ReplaceOptions) HintAfterUndo(env *session.Env, record *v1beta2.FoundationDBCluster, chosen []v1beta2.ProcessGroupID, err error) {
	if normalized, invalid := record.Normalized(); invalid == nil {
		record = normalized // with the list of the annotation
	}
	words := phrase.Strings(chosen)
	listed := slices.Concat(record.KeptProcessGroups(), chosen)
	switch {
	case err == nil && !slices.ContainsFunc(chosen, func(id v1beta2.ProcessGroupID) bool { return !record.KeepsFromReplacement(id) }): // they are kept
	case err == nil:
		env.Logf("hint: to keep them from being marked again: %s", apply.PatchCommand(env, record, []byte(inspect.KeepPatch(record, listed))))
	case exit.Code(err) == exit.ExitRefused && !o.Include:
		env.Logf("hint: to include excluded ones first: %s", env.Command(slices.Concat([]string{"replace", record.Name}, words, []string{"--undo", "--include"})...))
	}
}

// Choose selects the process groups, and keeps those that were already removed: repeating the
// command reports them, with the same meaning.
func (o ReplaceOptions) Choose(ctx context.Context, env *session.Env, key types.NamespacedName) ([]v1beta2.ProcessGroupID, error) {
	if o.Undo {
		return o.Selection.Choose(ctx, env, key)
	}
	if _, err := o.Filter(); err != nil {
		return nil, err // fail before reading
	}
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return nil, err
	}
	var removed []v1beta2.ProcessGroupID
	o.IDs, removed = apply.SplitReplaced(ctx, env, key, facts.Snapshot, o.IDs)
	if len(removed) > 0 && len(o.IDs) == 0 {
		return removed, nil
	}
	chosen, err := o.ChooseFrom(key, facts)
	if err != nil {
		return nil, err
	}
	return append(chosen, removed...), nil
}

// Prepare selects the groups, and builds the change.
func (o ReplaceOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
	chosen, err := o.Choose(ctx, env, key)
	if err != nil {
		return apply.Change{}, err
	}
	return o.Change(key.Name, chosen), nil
}

// check validates the flags before anything is read.
func (o ReplaceOptions) check(env *session.Env) error {
	switch {
	case o.Max < 1:
		return exit.Usagef("--max-concurrent must be at least 1")
	case o.skip && (o.Undo || o.Max > 1 || o.perZone):
		return exit.Usagef("--skip-exclusion conflicts with --undo, --max-concurrent and --per-zone: it removes one fault domain at a time, and cannot be undone")
	case o.Confirmed != "" && !o.skip:
		return exit.Usagef("--confirm requires --skip-exclusion")
	case o.Undo && o.Wait && !o.Include:
		return exit.Usagef("--undo conflicts with --wait: it completes at once")
	case o.Include && !o.Undo:
		return exit.Usagef("--include requires --undo")
	}
	return o.Check(env)
}

// Change returns the stages that replace the groups, or unmark them.
func (o ReplaceOptions) Change(cluster string, chosen []v1beta2.ProcessGroupID) apply.Change {
	words := []string{"replace", cluster}
	for _, id := range chosen {
		words = append(words, string(id))
	}
	c := apply.Change{ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: replacing(chosen)}
	switch {
	case o.Undo && o.Include:
		c.Args, c.Stages, c.Goal = append(words, "--undo", "--include"), stages.KeepingExcluded(chosen), keeping(chosen)
		return c
	case o.Undo:
		c.Args, c.Stages, c.Goal = append(words, "--undo"), stages.Keeping(chosen), keeping(chosen)
		return c
	}
	if o.Max > 1 {
		words = append(words, fmt.Sprintf("--max-concurrent=%d", o.Max))
	}
	if o.perZone {
		words = append(words, "--per-zone")
	}
	first := operations.ReplaceGroups(operations.Replacement{Groups: chosen, Max: o.Max, ByZone: o.perZone})
	if o.skip {
		first, words = operations.SkipExclusion(chosen), append(words, "--skip-exclusion")
	}
	c.Args, c.Stages, c.Begins = words, stages.MarkingForRemoval(first), !o.Wait
	if o.Wait {
		c.Stages = stages.Replacing(first)
	}
	return c
}

// replacing is the goal of `replace`: removed process groups.
type replacing []v1beta2.ProcessGroupID

func (r replacing) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	targets := targets.Replacements(facts, r)
	return targets, inspect.AllReached(targets), nil
}

func (r replacing) Summary(to apply.Extent) string {
	names := phrase.List(r)
	if to == apply.Reached {
		return "replaced: " + names
	}
	return "marked for removal: " + names + "; run reconcile (or use --wait) to complete"
}

// keeping is the goal of `replace --undo`: process groups without a mark.
type keeping []v1beta2.ProcessGroupID

func (k keeping) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	targets := targets.Kept(facts, k)
	return targets, inspect.AllReached(targets), nil
}

func (k keeping) Summary(apply.Extent) string { return "not marked for removal: " + phrase.List(k) }
