package coordinators

import (
	"context"
	"encoding/json"
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// NewConnectionString is the parent of the connection-string commands. It does nothing by
// itself.
func NewConnectionString(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"coordinators.md#distribute-the-connection-string"}}, &cobra.Command{
		Use:   "connection-string",
		Short: "Show, compare and sync the connection string",
	})
	cmd.AddCommand(newConnectionStringShow(env), newConnectionStringDrift(env), newConnectionStringSync(env))
	cmdutil.AsParent(cmd, "connection-string command")
	return cmd
}

// connectionStringOptions are the options of both commands.
type connectionStringOptions struct{ cmdutil.ViewOptions }

func newConnectionStringShow(env *session.Env) *cobra.Command {
	var o connectionStringOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Prints: "one value, which is copied into files",
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "show [CLUSTER]",
		Short: "Show the current connection string",
		Long: `Show the current connection string of a database, which is the content of a cluster file.
If it cannot be read from the database, the last recorded one is shown and stderr reports
this.`,
		Example: `  # Write a cluster file
  kubectl fdb connection-string show sample-cluster > fdb.cluster`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Display(cmd.Context(), env, args, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
				return o.show(ctx, env, key)
			})
		},
	})
	o.Add(cmd, env)
	return cmd
}

func newConnectionStringDrift(env *session.Env) *cobra.Command {
	var o connectionStringOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "drift [CLUSTER]",
		Short: "Compare the copies of the connection string",
		Long: `Compare the current connection string with its copies in the status of the resource, in the
ConfigMap and in the cluster file of each pod. The order of coordinators is ignored. A pod
that does not run has no drift: its processes start with the copy in the ConfigMap.

Exit code 0: all copies match. 1: some differ. 8: none differ, but not all could be read.`,
		Example: `  # Compare all copies
  kubectl fdb connection-string drift sample-cluster

  # For scripts
  kubectl fdb connection-string drift sample-cluster -o custom-columns=SOURCE:.source,MATCHES:.matches`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Display(cmd.Context(), env, args, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
				return o.drift(ctx, env, key)
			})
		},
	})
	o.Add(cmd, env)
	return cmd
}

// clusterFiles returns the facts about one cluster and the connection strings in use. The
// status document is not read: without a database that takes long and adds nothing.
func clusterFiles(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.Facts, plan.ClusterFiles, error) {
	var files plan.ClusterFiles
	conn, err := env.Connect(ctx, key)
	if err != nil {
		return inspect.Facts{}, files, err
	}
	s := plan.Snapshot{}
	if err := conn.Observe(ctx, &s, plan.ClusterResource|plan.Pods|plan.ConfigMap); err != nil {
		return inspect.Facts{}, files, exit.CauseOf(ctx, err)
	}
	requested := make(chan error, 1)
	limited, done := session.LimitedView(ctx)
	defer done()
	go func() {
		var err error
		files, err = conn.ReadClusterFiles(limited)
		requested <- err
	}()
	err = session.ClusterReader{Env: env, Key: key}.Await(requested, func() { env.Logf("waiting for cluster files…") })
	return inspect.Facts{Snapshot: s}, files, exit.CauseOf(ctx, err)
}

func (o connectionStringOptions) show(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, files, err := clusterFiles(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v, known := lists.NewConnectionStringView(env.Metadata(key), facts, files)
	if !known {
		return cmdutil.Output{}, &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("cannot determine the connection string of %s: the status has none, and %s", key.Name, files.LiveUnknown)}
	}
	return cmdutil.Output{Warnings: v.Warnings, Printable: format.Printable{
		Document: v, Names: []string{"connectionstring/" + v.GenerationID},
		Table: func(w io.Writer) error {
			_, err := fmt.Fprintln(layout.Raw(w), v.ConnectionString) // it is copied into files
			return err
		},
	}}, nil
}

func (o connectionStringOptions) drift(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, files, err := clusterFiles(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := lists.NewConnectionStringDriftView(env.Metadata(key), facts, files)
	code := exit.ExitUnreachable
	if v.Matches != nil {
		code = map[bool]int{true: exit.ExitDone, false: exit.ExitNo}[*v.Matches]
	}
	return cmdutil.Output{Warnings: v.Warnings, Code: code, Printable: format.Printable{
		Document: v, Names: session.NamesOf("connectionstring", v.Items, func(s lists.ConnectionSpot) string { return s.Source }),
		Table: func(w io.Writer) error { return ui.WriteConnectionStringDrift(w, v, o.List(env, w)) },
	}}, nil
}

// syncOptions are the options of `kubectl fdb connection-string sync`.
type syncOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
}

func newConnectionStringSync(env *session.Env) *cobra.Command {
	var o syncOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "sync [CLUSTER]",
		Short: "Sync the connection string to the status and ConfigMap",
		Long: `Sync the current connection string to the status of the resource and the ConfigMap, where
these have another one. Nothing else of them is changed.

The connection string is read from the database in a transaction. It is accepted only if
the status document of the database has the same one, a quorum of coordinators is
reachable, and most process groups of the cluster report to that database from their pods.
If the database does not answer, nothing is written (exit code 8). The preview shows what
is replaced.

The cluster files in pods are not written: processes update their own file when the
coordinators change. A file that differs is reported with a remedy (exit code 9). A spec is
never changed; if spec.seedConnectionString differs, a hint prints the command.`,
		Example: `  # Preview the changes
  kubectl fdb connection-string sync sample-cluster --dry-run

  # Sync after the coordinators were changed manually
  kubectl fdb connection-string sync sample-cluster --yes`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Change(cmd, &o.ChangeFlags, "status and ConfigMap have the current connection string")
	return cmd
}

func (o syncOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	facts, files, err := clusterFiles(ctx, env, key)
	if err != nil {
		return err
	}
	if files.Live.IsZero() {
		return &exit.Error{
			Code: exit.ExitUnreachable, Err: fmt.Errorf("cannot determine the current connection string, so none is written: %s", files.LiveUnknown),
			Hints: []string{"explain what blocks the database: " + env.Command("why", key.Name), "diagnose the coordinators: " + env.Command("coordinators", "repair", key.Name, "--dry-run")},
		}
	}
	syncing := &syncingConnectionString{}
	err = apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: syncing, Lockless: true, Args: []string{"connection-string", "sync", key.Name},
		Stages: []plan.Stage{operations.SyncConnectionString(files.Live)},
	})
	offerSeed(env, facts.Cluster, files.Live)
	if err != nil || o.DryRun != apply.DryRunNone {
		return err
	}
	return podsLeft(env, key.Name, syncing.differ, facts)
}

// offerSeed prints the command that updates spec.seedConnectionString.
func offerSeed(e *session.Env, c *v1beta2.FoundationDBCluster, inForce fdb.ConnectionString) {
	if !targets.SeedDiffers(c.Spec.SeedConnectionString, inForce) {
		return
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"seedConnectionString": inForce.String()}})
	if err != nil {
		return // a string always marshals
	}
	e.Logf("hint: spec.seedConnectionString is outdated and would not work if the status were lost; to update it: %s", apply.PatchCommand(e, c, patch))
}

// podsLeft ends a command that cannot update the cluster files that some processes hold.
func podsLeft(e *session.Env, cluster string, pods []string, f inspect.Facts) error {
	if len(pods) == 0 {
		return nil
	}
	var groups []string
	for _, g := range f.Groups() {
		for _, pod := range pods {
			if g.PodName(f.Cluster) == pod {
				groups = append(groups, string(g.ProcessGroupID))
			}
		}
	}
	hints := []string{"processes that report have found the database regardless: " + e.Command("get", "process-groups", cluster)}
	if len(groups) > 0 {
		hints = append(hints, "replace groups whose processes cannot find it: "+e.Command("replace", cluster, "--process-group", strings.Join(groups, ","), "--dry-run"))
	}
	return &exit.Error{Code: exit.ExitPartly, Err: fmt.Errorf("the processes of %s have an outdated connection string in their cluster file", strings.Join(pods, ", ")), Hints: hints}
}

// syncingConnectionString is the goal of `connection-string sync`: the current connection
// string in the status and in the ConfigMap.
type syncingConnectionString struct {
	// differ are the pods whose cluster files differ.
	differ []string
}

func (p *syncingConnectionString) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.ConfigMap); err != nil {
		return nil, false, err
	}
	files, err := s.ReadClusterFiles(ctx)
	if err != nil {
		return nil, false, err
	}
	targets, reached, differ := targets.ConnectionStringsSynced(facts, files)
	p.differ = differ
	return targets, reached, nil
}

func (*syncingConnectionString) Summary(to apply.Extent) string {
	if to == apply.Reached {
		return "status and ConfigMap have the current connection string"
	}
	return "synced where possible; connection-string drift shows what remains"
}
