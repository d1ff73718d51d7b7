package groups

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// IncludeOptions are the options of `kubectl fdb include`.
type IncludeOptions struct {
	session.ClusterFlag
	cmdutil.Selection
	apply.ChangeFlags
	all     bool
	targets []string
	sites   sites.Flags
}

// NewInclude returns the command `include`.
func NewInclude(env *session.Env) *cobra.Command {
	var o IncludeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"exclusions.md#include"},
		Needs: cmdutil.ChangingDatabase, With: cmdutil.OverSites(cmdutil.ChangingDatabase),
	}, &cobra.Command{
		Use:   "include [CLUSTER] [ID... | --all | --target EXCLUSION]",
		Short: "Include excluded process groups again",
		Long: `Include excluded process groups again, so that the database may assign data and roles to
them. There is no prompt, since exclude reverts it.

The exclusion of a process group that is marked for removal stays, otherwise data would
return to a volume that is about to be deleted. The exclusion of a reporting process that
is not in the status stays too; it may belong to another control-plane instance. As in
every pass, exclusions end ten minutes after the last recovery at the earliest.

--all covers all process groups that are not marked for removal. An exclusion that belongs
to no process group, and one of many processes such as locality_zoneid:rack-1, ends only if
--target names it.

With --contexts or --sites, the process groups are those of a database with resources in
several Kubernetes clusters. Each is included at its own site, in turn, with one approval
and while this run holds the Leases of all sites.`,
		Example: `  # Include a process group again
  kubectl fdb include sample-cluster storage-3 --wait

  # Include all excluded process groups that are not marked for removal
  kubectl fdb include sample-cluster --all --wait

  # Include those of several Kubernetes clusters
  kubectl fdb include --all --contexts dc1,dc2,dc3 --wait

  # End the exclusion of a process group that was removed long ago
  kubectl fdb include sample-cluster --target 10.1.2.3`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	Add(&o.Selection, cmd, env)
	flags.Change(cmd, &o.ChangeFlags, "the exclusions have ended")
	flags.Sites(cmd, &o.sites, env)
	cmd.Flags().BoolVar(&o.all, "all", false, "If true, include all excluded process groups that are not marked for removal")
	cmd.Flags().StringSliceVar(&o.targets, "target", nil, "comma-separated targets of exclusions: addresses, or localities such as locality_zoneid:rack-1")
	return cmd
}

func (o IncludeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	o.Reversible = true
	named, err := o.sites.Sites(env, sites.Scope{Other: len(o.targets) > 0, Words: "--target"})
	if err != nil {
		return err
	}
	o.OverSites = len(named) > 0
	if err := o.check(env); err != nil {
		return err
	}
	if o.OverSites {
		return acrossSites{
			ChangeFlags: o.ChangeFlags, Selection: o.Selection, all: o.all, named: named, verb: "include", flag: o.Name,
			at: func(s cmdutil.Selection) preparing { o.Selection = s; return o.Prepare },
		}.run(ctx, env, args)
	}
	cluster, err := o.readChoice(ctx, env, args)
	if err != nil {
		return err
	}
	_, err = carryOut(ctx, env, cluster, o.ClusterFlag, o.Intent(), o.Prepare)
	return err
}

// Prepare selects the groups, and builds the change.
func (o IncludeOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return apply.Change{}, err
	}
	var chosen []v1beta2.ProcessGroupID
	switch {
	case o.all:
		chosen = targets.ExcludedGroups(facts)
		o.printStrays(env, key, facts)
	case o.Chooses():
		if chosen, err = o.ChooseFrom(key, facts); err != nil {
			return apply.Change{}, err
		}
	}
	c := o.change(key.Name, chosen)
	// Groups that were not excluded before must not be excluded when this is reverted.
	if excluded := both(chosen, targets.ExcludedGroups(facts)); len(excluded) > 0 {
		c.Undo = append([]string{"exclude", key.Name}, phrase.Strings(excluded)...)
	}
	return c, nil
}

// both returns the groups of a that are also in b.
func both(a, b []v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	return slices.DeleteFunc(slices.Clone(a), func(id v1beta2.ProcessGroupID) bool { return !slices.Contains(b, id) })
}

// check validates the flags before anything is read.
func (o IncludeOptions) check(env *session.Env) error {
	for _, target := range o.targets {
		if !admin.IsTarget(target) {
			return exit.Usagef("--target must be an IP, IP:PORT or a locality such as locality_zoneid:rack-1, not %q", target)
		}
	}
	return o.Check(env)
}

// readChoice takes the process groups from the arguments. There are three ways to select them,
// of which one is allowed.
func (o *IncludeOptions) readChoice(ctx context.Context, env *session.Env, args []string) (cluster []string, err error) {
	cluster, ids := session.GroupArgs(ctx, env, args, o.Name)
	switch {
	case o.all && (len(ids) > 0 || o.Chooses() || len(o.targets) > 0):
		return nil, exit.Usagef("--all conflicts with named process groups")
	case o.all, len(o.targets) > 0 && len(ids) == 0 && !o.Chooses():
		return cluster, nil
	default:
		return o.ReadIDs(ctx, env, args, o.Name)
	}
}

// printStrays lists exclusions that remain, because they are not of a single process group.
func (o IncludeOptions) printStrays(env *session.Env, key types.NamespacedName, facts inspect.Facts) {
	for _, stray := range targets.StrayExclusions(facts) {
		env.Logf("not included: %s does not belong to a process group of %s; to include it: %s", stray, key.Name, env.Command("include", key.Name, "--target", stray))
	}
}

// change returns the stages that include the groups.
func (o IncludeOptions) change(cluster string, chosen []v1beta2.ProcessGroupID) apply.Change {
	words := append([]string{"include", cluster}, phrase.Strings(chosen)...)
	if o.all {
		words = []string{"include", cluster, "--all"}
	}
	for _, target := range o.targets {
		words = append(words, "--target", target)
	}
	slices.Sort(chosen)
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: words, Permissions: session.DatabasePermissions(),
		Stages: stages.Including(operations.Inclusion{Groups: chosen, Targets: o.targets}),
		Goal:   including{groups: chosen, targets: o.targets},
	}
}
