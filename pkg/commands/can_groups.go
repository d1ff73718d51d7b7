package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func newCanDelete(env *Env) *cobra.Command {
	var o canOptions
	cmd := &cobra.Command{
		Use:   "delete [CLUSTER] ID...",
		Short: "May these pods be deleted now, to be made anew with their volumes?",
		Long: `May these pods be deleted now, to be made anew with the volumes that they have? Several
have to be in one fault domain. Fit for a hook that runs before a node is upgraded.

Exit code 0: yes. 1: no. 8: nobody can tell, which allows nothing.`,
		Example: `  # May this pod go down for a moment?
  kubectl fdb can delete sample-cluster pod/sample-cluster-storage-12345`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, ids := idsOnly(args, o.name)
			return o.ask(cmd.Context(), env, cluster, question{verb: "delete", ids: ids, needsIDs: true, answer: env.canDelete})
		},
	}
	o.add(cmd, env)
	return cmd
}

func (e *Env) canDelete(_ context.Context, l sight, groups []*v1beta2.ProcessGroupStatus, in *ui.CanInput) error {
	pods := inWords(groups, func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(l.Cluster) })
	in.Checks = ui.About("", stages.PodsMayGoDown(l.Snapshot, groups))
	in.What = fmt.Sprintf("%s may be deleted", pods)
	in.Do = []string{e.kubectl(append([]string{"delete", "pod"}, strings.Split(pods, ", ")...)...)}
	in.Notes = []string{"the pod is made anew by the next pass, or by an operator; its volume stays"}
	return nil
}

func newCanReplace(env *Env) *cobra.Command {
	var o canOptions
	cmd := &cobra.Command{
		Use:   "replace [CLUSTER] ID...",
		Short: "Could these process groups start to drain now, to be replaced?",
		Long: `Could these process groups start to drain now, once they are marked for removal? A no
does not forbid to mark them: passes wait until the answer is yes.

Exit code 0: yes. 1: no. 8: nobody can tell.`,
		Example: `  # Would its data start to move at once?
  kubectl fdb can replace sample-cluster storage-12345`,
		ValidArgsFunction: env.clusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, ids := idsOnly(args, o.name)
			return o.ask(cmd.Context(), env, cluster, question{verb: "replace", ids: ids, needsIDs: true, answer: env.canReplace})
		},
	}
	o.add(cmd, env)
	return cmd
}

func (e *Env) canReplace(_ context.Context, l sight, groups []*v1beta2.ProcessGroupStatus, in *ui.CanInput) error {
	in.Checks = ui.About("", stages.ExclusionMayStart(l.Snapshot, groups))
	for _, g := range groups {
		in.Checks = append(in.Checks, ui.About(string(g.ProcessGroupID), notAsked(in.Checks, safety.MayReplace(l.Snapshot, g)))...)
	}
	in.What = inWords(groups, func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }) + " could start to drain"
	for _, g := range groups {
		if g.IsMarkedForRemoval() {
			in.Notes = append(in.Notes, fmt.Sprintf("%s is marked for removal already", g.ProcessGroupID))
		}
		if safety.Coordinates(l.Snapshot, g) {
			in.Notes = append(in.Notes, fmt.Sprintf("%s is a coordinator; a pass moves coordinators before it drains one", g.ProcessGroupID))
		}
	}
	in.Do = []string{e.command("plan", l.Cluster.Name)}
	return nil
}

// notAsked leaves out what was asked before: of several groups of a class together, their
// budget.
func notAsked(before []ui.CanItem, checks []plan.Check) []plan.Check {
	return slices.DeleteFunc(checks, func(c plan.Check) bool {
		return slices.ContainsFunc(before, func(b ui.CanItem) bool { return b.Question == c.Question && (!b.OK || c.OK) })
	})
}

func newCanRestart(env *Env) *cobra.Command {
	var o canOptions
	var classes []string
	cmd := &cobra.Command{
		Use:   "restart [CLUSTER]",
		Short: "May servers be restarted now?",
		Long: `May servers be restarted now? Each restart costs a recovery, whichever servers it is
of, so the questions are the same for all classes.

Exit code 0: yes. 1: no. 8: nobody can tell.`,
		Example: `  # May the storage servers restart?
  kubectl fdb can restart sample-cluster --class storage`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.ask(cmd.Context(), env, args, question{verb: "restart", answer: func(_ context.Context, l sight, _ []*v1beta2.ProcessGroupStatus, in *ui.CanInput) error {
				return canRestart(l.Snapshot, classes, in)
			}})
		},
	}
	o.add(cmd, env)
	cmd.Flags().StringSliceVar(&classes, "class", nil, "only the servers of these classes")
	complete(cmd, "class", func() []string { return texts(v1beta2.ProcessClasses()) })
	return cmd
}

func canRestart(s plan.Snapshot, classes []string, in *ui.CanInput) error {
	for _, class := range classes {
		if !v1beta2.ProcessClass(class).IsKnown() {
			return usagef("there is no process class %q; the classes are %s", class, strings.Join(texts(v1beta2.ProcessClasses()), ", "))
		}
	}
	for _, g := range s.Staying() {
		if len(classes) == 0 || slices.Contains(classes, string(g.ProcessClass)) {
			in.Subjects = append(in.Subjects, groupPrefix+string(g.ProcessGroupID))
		}
	}
	if len(in.Subjects) == 0 {
		return usagef("cluster %s has no process group of class %s", s.Cluster.Name, strings.Join(classes, ", "))
	}
	in.Checks = ui.About("", stages.RestartChecks(s))
	in.What = fmt.Sprintf("the servers of %d process groups may be restarted", len(in.Subjects))
	return nil
}
