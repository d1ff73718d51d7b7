package coordinators

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
		Table: func(w io.Writer) error { return ui.WriteConnectionStringDrift(w, v, o.List(env)) },
	}}, nil
}
