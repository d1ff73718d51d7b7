package locks

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
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

// longestMaintenance bounds the duration of one command: while it lasts, lost replicas in the
// zone are not recreated, and a forgotten one must end by itself.
const longestMaintenance = 24 * time.Hour

// maintenanceOnOptions are the options of `kubectl fdb maintenance on`.
type maintenanceOnOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	long time.Duration
}

func newMaintenanceOn(env *session.Env) *cobra.Command {
	var o maintenanceOnOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "on [CLUSTER] ZONE",
		Short: "Start maintenance of a zone or change its duration",
		Long: `Start maintenance of a zone or change its duration. A single argument is the zone.

The database must be available and fully fault tolerant, and no other zone may be under
maintenance: the database would drop that one silently. If the spec enables the end of
maintenance by restarts (automationOptions.maintenanceModeOptions), the storage processes
of the zone are recorded, and a pass ends the maintenance once all of them have restarted.`,
		Example: `  # Start maintenance before the reboot of a node
  kubectl fdb maintenance on sample-cluster node-3 --for 10m

  # Extend it
  kubectl fdb maintenance on sample-cluster node-3 --for 30m`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: complete.From(env).ClusterThenZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Reversible(cmd, &o.ChangeFlags, "the zone is in maintenance mode")
	cmd.Flags().DurationVar(&o.long, "for", 0, "duration, at most 24h; 0 means the duration in the spec, or 10 minutes if it has none")
	return cmd
}

func (o maintenanceOnOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if o.long > longestMaintenance || o.long%time.Second != 0 {
		return exit.Usagef("--for must be whole seconds up to 24h, such as 10m; run the command again to extend it")
	}
	if err := o.Check(env); err != nil {
		return err
	}
	zone := args[len(args)-1]
	cluster, err := env.Cluster(ctx, args[:len(args)-1], o.Name, o.Intent())
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if o.long == 0 {
		o.long = cluster.MaintenanceModeTime()
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	if err := knowsZone(ctx, env, key, zone); err != nil {
		return exit.CauseOf(ctx, err)
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: maintaining(zone),
		Args:   []string{"maintenance", "on", key.Name, zone, "--for", o.long.String()},
		Undo:   []string{"maintenance", "off", key.Name},
		Stages: stages.Marking(operations.MaintainZone(zone, o.long)),
	})
}

// knowsZone verifies that a zone belongs to the cluster: the database accepts any name.
func knowsZone(ctx context.Context, e *session.Env, key types.NamespacedName, zone string) error {
	conn, err := e.Connect(ctx, key)
	if err != nil {
		return err
	}
	facts := inspect.Facts{}
	if err := conn.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return err
	}
	zones := targets.ZonesOfStorage(facts)
	switch {
	case slices.Contains(zones, zone):
		return nil
	case !facts.Database.Status.ListsProcesses():
		return groups.Unanswered(facts, "whether zone "+zone+" exists")
	default:
		return exit.Usagef("no storage or log process is in zone %q: must be one of %s%s", zone, strings.Join(zones, ", "), session.OrMeant(zone, zones))
	}
}

// maintenanceOffOptions are the options of `kubectl fdb maintenance off`.
type maintenanceOffOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
}

func newMaintenanceOff(env *session.Env) *cobra.Command {
	var o maintenanceOffOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "off [CLUSTER]",
		Short: "Stop maintenance before it expires",
		Long: `Stop maintenance of any zone before it expires, and remove the records of processes that
were to restart. Data of storage processes that are still down is copied from then on.`,
		Example: `  # Stop maintenance
  kubectl fdb maintenance off sample-cluster`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Reversible(cmd, &o.ChangeFlags, "no zone is in maintenance mode")
	return cmd
}

func (o maintenanceOffOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(env); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, o.Intent())
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: endingMaintenance{},
		Args: []string{"maintenance", "off", key.Name}, Stages: stages.Marking(operations.StopMaintenance),
	})
}
