package clusters

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// configurationOptions are the options of `kubectl fdb get configuration`.
type configurationOptions struct {
	cmdutil.ViewOptions
	// line prints only the configure command.
	line bool
}

// NewGetConfiguration returns the command `configuration`.
func NewGetConfiguration(env *session.Env) *cobra.Command {
	var o configurationOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:     "configuration [CLUSTER]",
		Aliases: []string{"config"},
		Short:   "Compare the database configuration with the spec",
		Long: `Compare the database configuration with the spec, including its defaults. Settings that
the spec does not have are not listed, and passes do not change them. Nothing is changed;
"kubectl fdb reconcile" configures the database.`,
		Example: `  # Compare side by side
  kubectl fdb get configuration sample-cluster

  # Print the fdbcli configure command of the spec
  kubectl fdb get configuration sample-cluster --string`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.Add(cmd, env)
	cmd.Flags().BoolVar(&o.line, "string", false, "If true, print the configure command of the spec without querying the database")
	return cmd
}

func (o configurationOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if o.line && !o.IsTable() {
		return exit.Usagef("--string conflicts with -o %s, which has it as .configure", o.Format)
	}
	return o.Display(ctx, env, args, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		if o.line {
			return o.viewLine(ctx, env, key)
		}
		return o.view(ctx, env, key)
	})
}

func (o configurationOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	line, err := configureLine(facts.Cluster)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := lists.NewConfigurationListView(env.Metadata(key), facts, line)
	return cmdutil.Output{Warnings: v.Warnings, Printable: format.Printable{
		Document: v, Names: []string{"configuration/" + key.Name},
		Table: func(w io.Writer) error { return ui.WriteConfiguration(w, v, o.List(env, w)) },
	}}, nil
}

func (o configurationOptions) viewLine(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	c, err := env.Client()
	if err != nil {
		return cmdutil.Output{}, err
	}
	cluster, err := env.Read(ctx, c, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	line, err := configureLine(cluster)
	if err != nil {
		return cmdutil.Output{}, err
	}
	return cmdutil.Output{Printable: format.Printable{Table: func(w io.Writer) error {
		_, err := fmt.Fprintln(layout.Raw(w), line) // it is typed into fdbcli, which reads one line
		return err
	}}}, nil
}

// configureLine returns the command that configures a database as in the spec.
func configureLine(c *session.Cluster) (string, error) {
	line, err := admin.ConfigureLine(objects.DesiredConfiguration(c))
	if err != nil {
		return "", exit.Usage(fmt.Errorf("the spec of %s has an invalid database configuration: %w", c.Name, err))
	}
	return line, nil
}
