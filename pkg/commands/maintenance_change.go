package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// longestMaintenance bounds the duration of one command: while it lasts, lost replicas in the
// zone are not recreated, and a forgotten one must end by itself.
const longestMaintenance = 24 * time.Hour

// maintenanceOnOptions are the options of `kubectl fdb maintenance on`.
type maintenanceOnOptions struct {
	clusterFlag
	changeFlags
	long time.Duration
}

func newMaintenanceOn(env *Env) *cobra.Command {
	var o maintenanceOnOptions
	cmd := &cobra.Command{
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
		ValidArgsFunction: env.clusterThenZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.addReversible(cmd, "the zone is in maintenance mode")
	cmd.Flags().DurationVar(&o.long, "for", 0, "duration, at most 24h; 0 means the duration in the spec, or 10 minutes if it has none")
	return cmd
}

func (o maintenanceOnOptions) run(ctx context.Context, env *Env, args []string) error {
	if o.long < 0 || o.long > longestMaintenance || o.long%time.Second != 0 {
		return usagef("--for must be whole seconds up to 24h, such as 10m; run the command again to extend it")
	}
	if err := o.check(env); err != nil {
		return err
	}
	zone := args[len(args)-1]
	record, err := env.cluster(ctx, args[:len(args)-1], o.name, o.intent())
	if err != nil {
		return causeOf(ctx, err)
	}
	if o.long == 0 {
		o.long = record.MaintenanceModeTime()
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	if err := env.knowsZone(ctx, key, zone); err != nil {
		return causeOf(ctx, err)
	}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, permissions: reconcilePermissions(), goal: maintaining(zone),
		words:  []string{"maintenance", "on", key.Name, zone, "--for", o.long.String()},
		undo:   []string{"maintenance", "off", key.Name},
		stages: stages.Marking(operations.MaintainZone(zone, o.long)),
	})
}

// knowsZone verifies that a zone belongs to the cluster: the database accepts any name.
func (e *Env) knowsZone(ctx context.Context, key types.NamespacedName, zone string) error {
	session, err := e.Connect(ctx, key)
	if err != nil {
		return err
	}
	facts := inspect.Facts{}
	if err := session.Observe(ctx, &facts.Snapshot, plan.Record|plan.Pods|plan.Database); err != nil {
		return err
	}
	zones := targets.ZonesOfStorage(facts)
	switch {
	case slices.Contains(zones, zone):
		return nil
	case !facts.Database.Status.ListsProcesses():
		return unanswered(facts, "whether zone "+zone+" exists")
	default:
		return usagef("no storage or log process is in zone %q: must be one of %s", zone, strings.Join(zones, ", "))
	}
}

// clusterThenZone completes clusters for the first argument, and then zones.
func (e *Env) clusterThenZone(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 && cmd.Flag("fdb-cluster").Value.String() == "" {
		return e.firstArgument(cmd, args, typed)
	}
	return asCompletion(e.groupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.FaultDomain) }))(cmd, args, typed)
}

// maintenanceOffOptions are the options of `kubectl fdb maintenance off`.
type maintenanceOffOptions struct {
	clusterFlag
	changeFlags
}

func newMaintenanceOff(env *Env) *cobra.Command {
	var o maintenanceOffOptions
	cmd := &cobra.Command{
		Use:   "off [CLUSTER]",
		Short: "Stop maintenance before it expires",
		Long: `Stop maintenance of any zone before it expires, and remove the records of processes that
were to restart. Data of storage processes that are still down is copied from then on.`,
		Example: `  # Stop maintenance
  kubectl fdb maintenance off sample-cluster`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.addReversible(cmd, "no zone is in maintenance mode")
	return cmd
}

func (o maintenanceOffOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env); err != nil {
		return err
	}
	record, err := env.cluster(ctx, args, o.name, o.intent())
	if err != nil {
		return causeOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, permissions: reconcilePermissions(), goal: endingMaintenance{},
		words: []string{"maintenance", "off", key.Name}, stages: stages.Marking(operations.StopMaintenance),
	})
}
