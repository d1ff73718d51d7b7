package coordinators

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

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
