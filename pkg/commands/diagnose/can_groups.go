package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

func newCanDelete(env *session.Env) *cobra.Command {
	var o canOptions
	var chosen cmdutil.Selection
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.Operators()) },
	}, &cobra.Command{
		Use:   "delete [CLUSTER] ID...",
		Short: "Check whether pods can be deleted and recreated now",
		Long: `Check whether pods can be deleted now and recreated with the volumes that they have. Several
pods must be in one fault domain. Suitable for a hook before the upgrade of a node.

Exit code 0: yes. 1: no. 8: unknown, which counts as no.`,
		Example: `  # Check whether a pod can be deleted and recreated
  kubectl fdb can delete sample-cluster pod/sample-cluster-storage-12345`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.askAbout(cmd.Context(), env, args, chosen, question{verb: "delete", needsIDs: true, answer: canDelete})
		},
	})
	o.add(cmd, env)
	groups.Add(&chosen, cmd, env)
	return cmd
}

func canDelete(_ context.Context, e *session.Env, l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
	pods := inText(groups, func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(l.Cluster) })
	in.Checks = lists.About("", clusterstages.PodsMayGoDown(l.Snapshot, groups))
	in.What = fmt.Sprintf("%s may be deleted", pods)
	in.Do = []string{e.Kubectl(append([]string{"delete", "pod"}, strings.Split(pods, ", ")...)...)}
	in.Notes = []string{"pods are recreated by the next pass or an operator, with the same PVCs"}
	for _, g := range groups {
		if !safety.VolumeStays(l.Snapshot, g).OK {
			in.Notes = []string{"a process group whose PVC is being deleted is replaced while its pod runs: " + e.Command("replace", l.Cluster.Name, string(g.ProcessGroupID))}
			break
		}
	}
	return nil
}

func newCanReplace(env *session.Env) *cobra.Command {
	var o canOptions
	var chosen cmdutil.Selection
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Optional("whether the API server accepts a successor is unknown, which refuses the replacement", session.Permission{Verb: "create", Resource: "pods"}, session.Permission{Verb: "create", Resource: "persistentvolumeclaims"}))
		},
	}, &cobra.Command{
		Use:   "replace [CLUSTER] ID...",
		Short: "Check whether process groups could be drained now",
		Long: `Check whether process groups could be drained now for their replacement, once they are
marked for removal, and whether the API server accepts their successors. They can be marked
even if the answer is no, unless the spec keeps them or the successors are not accepted:
passes then wait until it is yes. Over a dump the answer is never yes, since nothing can be
tried.

Exit code 0: yes. 1: no. 8: unknown.`,
		Example: `  # Check whether data would be moved immediately
  kubectl fdb can replace sample-cluster storage-12345`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.askAbout(cmd.Context(), env, args, chosen, question{verb: "replace", needsIDs: true, answer: canReplace})
		},
	})
	o.add(cmd, env)
	groups.Add(&chosen, cmd, env)
	return cmd
}

func canReplace(ctx context.Context, e *session.Env, l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
	if err := l.Session.Observe(ctx, &l.Snapshot, plan.Successors); err != nil {
		return err
	}
	in.Checks = lists.About("", clusterstages.ExclusionMayStart(l.Snapshot, groups))
	for _, g := range groups {
		checks := append([]plan.Check{operations.Replaceable(l.Snapshot, g)}, safety.MayReplace(l.Snapshot, g)...)
		in.Checks = append(in.Checks, lists.About(string(g.ProcessGroupID), notQueried(in.Checks, checks))...)
	}
	for _, g := range groups {
		if !g.IsMarkedForRemoval() {
			in.Checks = append(in.Checks, successor(l.Snapshot, g.ProcessClass, in.Checks)...)
		}
	}
	in.What = inText(groups, func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }) + " may start to drain"
	for _, g := range groups {
		if g.IsMarkedForRemoval() {
			in.Notes = append(in.Notes, fmt.Sprintf("%s is already marked for removal", g.ProcessGroupID))
		}
		if safety.Coordinates(l.Snapshot, g) {
			in.Notes = append(in.Notes, fmt.Sprintf("%s is a coordinator; a pass moves coordinators before draining", g.ProcessGroupID))
		}
	}
	in.Do = []string{e.Command("plan", l.Cluster.Name)}
	return nil
}

// successor returns whether the API server accepts the objects of another group of a class. Without an
// answer to a dry run, as over a dump, that is unknown.
func successor(s plan.Snapshot, class v1beta2.ProcessClass, before []lists.CanItem) []lists.CanItem {
	items := lists.About("", notQueried(before, []plan.Check{safety.SuccessorAccepted(s, class)}))
	for i := range items {
		_, refused := s.Successors.Refused[class]
		items[i].Unknown = !items[i].OK && !refused
	}
	return items
}

// notQueried leaves out checks that were already evaluated: several groups of one class share a
// budget.
func notQueried(before []lists.CanItem, checks []plan.Check) []plan.Check {
	return slices.DeleteFunc(checks, func(c plan.Check) bool {
		return slices.ContainsFunc(before, func(b lists.CanItem) bool { return b.Key() == c.Key() && (!b.OK || c.OK) })
	})
}

func newCanRestart(env *session.Env) *cobra.Command {
	var o canOptions
	var chosen cmdutil.Selection
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.Operators()) },
	}, &cobra.Command{
		Use:   "restart [CLUSTER] [ID...]",
		Short: "Check whether processes can be restarted now",
		Long: `Check whether processes can be restarted now. The checks are those of restart before its
first wave. Without IDs and flags all process groups are selected.

Exit code 0: yes. 1: no. 8: unknown.`,
		Example: `  # Check whether the storage processes can be restarted
  kubectl fdb can restart sample-cluster --class storage`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, ids := session.GroupArgs(cmd.Context(), env, args, o.Name)
			if _, err := chosen.Filter(); err != nil {
				return err
			}
			q := question{verb: "restart", ids: append(ids, chosen.IDs...), chosen: chosen, answer: canRestart}
			return o.ask(cmd.Context(), env, cluster, q)
		},
	})
	o.add(cmd, env)
	groups.Add(&chosen, cmd, env)
	return cmd
}

func canRestart(_ context.Context, _ *session.Env, l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
	if len(groups) == 0 { // no selection means all
		groups = l.Remaining()
		for _, g := range groups {
			in.Subjects = append(in.Subjects, session.GroupPrefix+string(g.ProcessGroupID))
		}
	}
	restart := operations.Restart{Strategy: operations.RestartStrategies()[0]}
	in.Checks = lists.About("", restart.MayRestart(l.Snapshot, groups))
	in.What = "the processes of " + phrase.Count(len(in.Subjects), "process group") + " may be restarted"
	return nil
}
