// Package coordinators holds the commands for coordinators and the connection string.
package coordinators

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewCoordinators is the parent of the coordinators commands. It does nothing by itself.
func NewCoordinators(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"coordinators.md"}}, &cobra.Command{
		Use:     "coordinators",
		Aliases: []string{"coordinator"},
		Short:   "Change and repair coordinators",
	})
	cmd.AddCommand(newCoordinatorsChange(env), newCoordinatorsRepair(env))
	cmdutil.AsParent(cmd, "coordinators command")
	return cmd
}

// getOptions are the options of `kubectl fdb get coordinators`.
type getOptions struct{ cmdutil.ViewOptions }

// NewGet returns the command `get coordinators`.
func NewGet(env *session.Env) *cobra.Command {
	var o getOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "coordinators [CLUSTER]",
		Short: "List coordinators and their reachability",
		Long: `List coordinators: the process group of each, its reachability, and whether it is marked for
removal or excluded; a pass changes such coordinators before it removes anything of their
process groups. If the database does not answer, the last recorded coordinators are listed
with unknown reachability.`,
		Example: `  # List coordinators and their reachability
  kubectl fdb get coordinators sample-cluster

  # For scripts
  kubectl fdb get coordinators sample-cluster -o custom-columns=ADDRESS:.address,REACHABLE:.reachable`,
	})
	o.AddView(cmd, env, o.view)
	flags.Sorting(cmd, &o.Flags, inspect.CoordinatorListView{})
	return cmd
}

func (o *getOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := inspect.NewCoordinatorListView(env.Metadata(key), facts)
	names := session.NamesOf("coordinator", v.Items, func(c inspect.CoordinatorDetailView) string { return c.Address })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = key.Name + " has no coordinators yet: it has no connection string"
	}
	return r, nil
}

// ChangeOptions are the options of `kubectl fdb coordinators change`.
type ChangeOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	// Away are the process groups to move coordinators off, by ID, pod name or address.
	Away []string
}

func newCoordinatorsChange(env *session.Env) *cobra.Command {
	var o ChangeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "change [CLUSTER]",
		Short: "Change coordinators to match the spec",
		Long: `Change coordinators to match the spec: each in its own fault domain, alive, of an eligible
class, and neither excluded nor marked for removal. Runs only the stage ChangeCoordinators
of a pass. The same action stores the new connection string in the status of the resource;
the next pass writes it to the ConfigMap.

--away-from moves coordinators off process groups, for example before maintenance of their
nodes. A later change may select these process groups again.`,
		Example: `  # Preview the change
  kubectl fdb coordinators change sample-cluster --dry-run

  # Move the coordinator off a process group
  kubectl fdb coordinators change sample-cluster --away-from log-53845 --yes --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Change(cmd, &o.ChangeFlags, "the coordinators match the spec")
	cmd.Flags().StringSliceVar(&o.Away, "away-from", nil, "comma-separated process groups to move coordinators off, by ID, pod name or address")
	complete.FlagWith(cmd, "away-from", complete.From(env).GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }))
	return cmd
}

func (o ChangeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	c, err := o.Prepare(ctx, env, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return apply.CarryOut(ctx, env, key, c)
}

// Prepare returns the change of the coordinators.
func (o ChangeOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
	words := []string{"coordinators", "change", key.Name}
	var away []v1beta2.ProcessGroupID
	if len(o.Away) > 0 {
		var err error
		if away, err = (cmdutil.Selection{IDs: o.Away}).Choose(ctx, env, key); err != nil {
			return apply.Change{}, err
		}
		words = append(words, "--away-from", strings.Join(phrase.Strings(away), ","))
	}
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: movingCoordinators(away),
		Args: words, Stages: stages.Marking(clusterstages.MoveCoordinators(away...)),
	}, nil
}

// movingCoordinators is the goal of `coordinators change`: coordinators that match the spec,
// and none on these process groups.
type movingCoordinators []v1beta2.ProcessGroupID

func (m movingCoordinators) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	target := targets.CoordinatorsMoved(facts, m)
	return []inspect.Target{target}, target.Reached, nil
}

func (m movingCoordinators) Summary(apply.Extent) string {
	if len(m) == 0 {
		return "the coordinators match the spec"
	}
	return "the coordinators match the spec, and none is on " + phrase.List(m)
}

// coordinatorsRepairOptions are the options of `kubectl fdb coordinators repair`.
type coordinatorsRepairOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
}

func newCoordinatorsRepair(env *session.Env) *cobra.Command {
	var o coordinatorsRepairOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "repair [CLUSTER]",
		Short: "Replace lost or misplaced coordinators",
		Long: `Replace lost or misplaced coordinators, or explain why that is impossible.

While a quorum is reachable, coordinators that do not report, have other addresses, or are
misplaced are replaced by the stage ChangeCoordinators of a pass, with its checks and
waits; the connection string that the database reports is stored in the status. The result
is read back from the database.

Without a quorum coordinators cannot be changed: the database is unavailable, and cluster
files with other coordinators could start it from a state without committed data. Nothing
is changed then. The command shows for each coordinator whether its pod runs, has another
address, or is lost with its volume, and what can be done (exit code 4, or 8 if the
database could not be queried for a quorum).`,
		Example: `  # Show problems and preview the repair
  kubectl fdb coordinators repair sample-cluster --dry-run

  # Replace lost coordinators once the last recovery is two minutes ago
  kubectl fdb coordinators repair sample-cluster --yes --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Change(cmd, &o.ChangeFlags, "the coordinators match the spec")
	return cmd
}

func (o coordinatorsRepairOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database, Nodes: true}.Facts(ctx)
	if err != nil {
		return err
	}
	if status := facts.Database.Status; status == nil || !status.Client.Coordinators.QuorumReachable {
		return diagnoseCoordinators(env, key, facts, o.Output)
	}
	err = apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: movingCoordinators(nil),
		Args: []string{"coordinators", "repair", key.Name}, Stages: stages.Marking(clusterstages.MoveCoordinators()),
	})
	if err == nil && o.DryRun == apply.DryRunNone {
		env.Logf("hint: distribute the new connection string to all pods: %s", env.Command("reconcile", key.Name, "--wait"))
		env.Logf("hint: find stale connection strings: %s", env.Command("connection-string", "drift", key.Name))
	}
	return err
}

// diagnoseCoordinators reports the state of the coordinators when no quorum answers, and
// refuses to change anything.
func diagnoseCoordinators(e *session.Env, key types.NamespacedName, facts inspect.Facts, output string) error {
	v := lists.NewCoordinatorDiagnosisView(e.Metadata(key), facts)
	if len(v.Items) == 0 {
		return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("%s has no coordinators to repair yet: it has no connection string", key.Name)}
	}
	for _, warning := range v.Warnings {
		e.Logf("warning: %s", warning)
	}
	err := format.Flags{Format: output}.Print(e.Out, format.Printable{
		Document: v, Table: func(w io.Writer) error { return ui.WriteCoordinatorDiagnosis(w, v) },
	})
	refusal := &exit.Error{
		Code: exit.ExitRefused, Hints: coordinatorOptions(e, key.Name, v),
		Err: fmt.Errorf("%s: coordinators cannot be changed without a quorum of reachable ones (nothing was changed): %s", plan.GateCoord, v.Finding),
	}
	if facts.Database.Status == nil { // the quorum is unknown
		refusal.Code = exit.ExitUnreachable
		refusal.Err = fmt.Errorf("%s: cannot determine whether a quorum of coordinators is reachable, so they are not changed (nothing was changed): %s", plan.GateCoord, v.Finding)
	}
	return errors.Join(err, refusal)
}

// coordinatorOptions returns hints for the user. None of them invents coordinators that no
// quorum confirms, or deletes anything.
func coordinatorOptions(e *session.Env, cluster string, v lists.CoordinatorDiagnosisView) []string {
	options := []string{"explain what blocks their pods: " + e.Command("why", cluster)}
	switch v.Case {
	case lists.QuorumDown:
		if pods := v.Pods(lists.CoordinatorDown, lists.CoordinatorUnreachable); len(pods) > 0 {
			options = append(options, "these must be recovered: "+strings.Join(pods, ", "))
		}
		options = append(options, "then wait: "+e.Command("wait", cluster, "--for", "available"))
	case lists.QuorumMoved:
		options = append(options,
			"do not delete any PVC: they hold the state of the coordinators",
			"find processes with other coordinators: "+e.Command("connection-string", "drift", cluster),
			"restore the old pod addresses if the network allows; the runbook \"Coordinators have other addresses\" has the manual procedure, and how DNS names prevent this")
	case lists.QuorumLost:
		options = append(options,
			"first recover the nodes and volumes that hold them: their state exists nowhere else",
			"find processes with other coordinators: "+e.Command("connection-string", "drift", cluster),
			"only if they are permanently lost: restore a backup into a new cluster; the runbook \"Most coordinators are lost\" has the reasons")
	}
	return options
}
