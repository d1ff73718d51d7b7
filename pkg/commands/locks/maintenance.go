package locks

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewMaintenance is the parent of the maintenance commands. It does nothing by itself.
func NewMaintenance(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"maintenance.md#maintenance-of-a-zone"}}, &cobra.Command{
		Use:   "maintenance",
		Short: "Manage the maintenance zone of the database",
		Long: `Manage the maintenance zone of the database, for a zone that will be down for a short time.

While a zone is under maintenance, the database does not copy the data of its failed
storage processes elsewhere. Only one zone can be under maintenance, for a limited time.`,
	})
	cmd.AddCommand(newMaintenanceStatus(env), newMaintenanceOn(env), newMaintenanceOff(env))
	cmdutil.AsParent(cmd, "maintenance command")
	return cmd
}

// maintenanceStatusOptions are the options of `kubectl fdb maintenance status`.
type maintenanceStatusOptions struct {
	session.ClusterFlag
	format.Flags
}

func newMaintenanceStatus(env *session.Env) *cobra.Command {
	var o maintenanceStatusOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show the zone under maintenance",
		Long: `Show the zone under maintenance, the time left, and what ends the maintenance.

WAITS-FOR lists the process groups that are recorded to restart, each with the age of its
record: once all have restarted, a pass ends the maintenance. Maintenance without such
records ends when it expires, or with kubectl fdb maintenance off.`,
		Example: `  # Show the zone under maintenance
  kubectl fdb maintenance status sample-cluster

  # Print the seconds left, for scripts
  kubectl fdb maintenance status sample-cluster -o jsonpath={.secondsLeft}`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	return cmd
}

func (o maintenanceStatusOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if _, known := facts.Maintenance(); !known {
		return groups.Unanswered(facts, "the maintenance zone")
	}
	v := targets.NewMaintenanceView(env.Metadata(key), facts)
	if v.Zone != "" && facts.Cluster.ResetMaintenanceMode() && v.Notes == nil {
		env.Logf("warning: cannot read the list of processes restarted during maintenance")
	}
	var names []string
	if v.Zone != "" {
		names = []string{"maintenance/" + v.Zone}
	}
	return o.Print(env.Out, format.Printable{Document: v, Names: names, Table: func(w io.Writer) error {
		return ui.WriteMaintenance(w, v, env.Clock.Now())
	}})
}

// maintaining is the goal of `maintenance on`: a zone in maintenance mode.
type maintaining string

func (m maintaining) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	target := targets.Maintained(facts, string(m))
	return []inspect.Target{target}, target.Reached, nil
}

func (m maintaining) Summary(apply.Extent) string {
	return "zone " + string(m) + " is in maintenance mode"
}

// endingMaintenance is the goal of `maintenance off`.
type endingMaintenance struct{}

func (endingMaintenance) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	target := targets.NotMaintained(facts)
	return []inspect.Target{target}, target.Reached, nil
}

func (endingMaintenance) Summary(apply.Extent) string { return "no zone is in maintenance mode" }
