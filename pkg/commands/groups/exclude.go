package groups

import (
	"context"
	"slices"
	"strings"

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// ExcludeOptions are the options of `kubectl fdb exclude`.
type ExcludeOptions struct {
	session.ClusterFlag
	cmdutil.Selection
	apply.ChangeFlags
	sites sites.Flags
}

// NewExclude returns the command `exclude`.
func NewExclude(env *session.Env) *cobra.Command {
	var o ExcludeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"exclusions.md#exclude"},
		Needs: cmdutil.ChangingDatabase, With: cmdutil.OverSites(cmdutil.ChangingDatabase),
	}, &cobra.Command{
		Use:   "exclude [CLUSTER] [ID...]",
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
automationOptions.replacements.failureDetectionTimeSeconds (2h).

With --contexts or --sites, the process groups are those of a database with resources in
several Kubernetes clusters. Each is excluded at its own site, in turn, with one approval
and while this run holds the Leases of all sites.`,
		Example: `  # Preview the exclusion
  kubectl fdb exclude sample-cluster storage-3 --dry-run

  # Exclude a process group and wait until it is drained
  kubectl fdb exclude sample-cluster storage-3 --wait --yes

  # Exclude process groups of two Kubernetes clusters
  kubectl fdb exclude dc1-storage-3 dc2-storage-7 --contexts dc1,dc2,dc3 --wait --yes

  # Revert the exclusion
  kubectl fdb include sample-cluster storage-3`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	Add(&o.Selection, cmd, env)
	flags.Change(cmd, &o.ChangeFlags, "the process groups are drained")
	flags.Sites(cmd, &o.sites, env)
	return cmd
}

func (o ExcludeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	named, err := o.sites.Sites(env, sites.Scope{})
	if err != nil {
		return err
	}
	o.OverSites = len(named) > 0
	if err := o.Check(env); err != nil {
		return err
	}
	if _, err := o.Filter(); err != nil {
		return err // fail before reading
	}
	if o.OverSites {
		return acrossSites{
			ChangeFlags: o.ChangeFlags, Selection: o.Selection, named: named, verb: "exclude", flag: o.Name,
			at: func(s cmdutil.Selection) preparing { o.Selection = s; return o.Prepare },
		}.run(ctx, env, args)
	}
	cluster, err := o.ReadIDs(ctx, env, args, o.Name)
	if err != nil {
		return err
	}
	resource, err := carryOut(ctx, env, cluster, o.ClusterFlag, o.Intent(), o.Prepare)
	if err != nil {
		return err
	}
	if resource.ReplacementsEnabled() && resource.FailureDetectionTime() < v1beta2.Never {
		env.Logf("process groups that stay excluded for %s are replaced by a pass (automationOptions.replacements)", resource.FailureDetectionTime())
	}
	return nil
}

// Prepare selects the groups, and builds the change.
func (o ExcludeOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return apply.Change{}, err
	}
	chosen, err := o.ChooseFrom(key, facts)
	if err != nil {
		return apply.Change{}, err
	}
	c := o.change(key.Name, chosen)
	// Groups that were excluded before stay excluded when this is reverted.
	before := both(chosen, targets.ExcludedGroups(facts))
	ours := slices.DeleteFunc(slices.Clone(chosen), func(id v1beta2.ProcessGroupID) bool { return slices.Contains(before, id) })
	if len(ours) > 0 {
		c.Undo = append([]string{"include", key.Name}, phrase.Strings(ours)...)
	}
	return c, nil
}

// change returns the stages that exclude the groups.
func (o ExcludeOptions) change(cluster string, chosen []v1beta2.ProcessGroupID) apply.Change {
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: append([]string{"exclude", cluster}, phrase.Strings(chosen)...), Permissions: session.DatabasePermissions(),
		Stages: stages.Excluding(chosen), Goal: Excluding(chosen),
	}
}

// Excluding is the goal of `exclude`: process groups that are drained.
type Excluding []v1beta2.ProcessGroupID

func (e Excluding) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database|plan.Coordination); err != nil {
		return nil, false, err
	}
	if err := readExclusions(ctx, s, &facts); err != nil {
		return nil, false, err
	}
	targets := targets.Exclusions(facts, e)
	return targets, inspect.AllReached(targets), nil
}

// readExclusions reads exclusions that passes did not need: of a group that stopped reporting
// right after its exclusion the status has no process, and no pass may have seen it.
func readExclusions(ctx context.Context, s session.Session, facts *inspect.Facts) error {
	if facts.Coordination.ExclusionsRead || !facts.Database.Available() {
		return nil
	}
	read, err := s.ReadExclusions(ctx)
	if err != nil {
		return ctx.Err() // unread exclusions stay unknown and prove nothing
	}
	c := &facts.Coordination
	c.ExclusionsRead, c.Exclusions, c.FailedExclusions, c.InProgressExclusions = read.ExclusionsRead, read.Exclusions, read.FailedExclusions, read.InProgressExclusions
	return nil
}

func (e Excluding) Summary(to apply.Extent) string {
	names := phrase.List(e)
	if to == apply.Reached {
		return "drained: " + names
	}
	return "excluded: " + names + "; use --wait, or run the command again, to see when they are drained"
}

// including is the goal of `include`: none of these process groups and exclusion targets is
// excluded.
type including struct {
	groups  []v1beta2.ProcessGroupID
	targets []string
}

func (i including) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Database|plan.Coordination); err != nil {
		return nil, false, err
	}
	targets := targets.Inclusions(facts, i.groups, i.targets)
	return targets, inspect.AllReached(targets), nil
}

func (i including) Summary(to apply.Extent) string {
	names := strings.Join(slices.Concat(phrase.Strings(i.groups), i.targets), ", ")
	switch {
	case names == "":
		return "nothing to include"
	case to == apply.Reached:
		return "included: " + names
	default:
		return "inclusion requested: " + names + "; not yet visible in the database status"
	}
}
