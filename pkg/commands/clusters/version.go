package clusters

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// versionOptions are the options of `kubectl fdb version`.
type versionOptions struct {
	format.Flags
	clientOnly bool
}

// NewVersion returns the command `version`.
func NewVersion(env *session.Env) *cobra.Command {
	var o versionOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Support, Pages: []string{"support.md#versions"}, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Optional("its versions are unknown", session.ViewPermissions()...), cmdutil.Finding(), cmdutil.Operators())
		},
	}, &cobra.Command{
		Use:   "version",
		Short: "Show program, API server and database versions",
		Long: `Show the versions of this program, the API server, the served FoundationDB resources, the
running operators, and each database of the namespace: the version of the spec, of the
status, of the running processes, and of fdbcli in the pods. Incompatible versions, and
another plugin that comes first on the PATH, are reported as warnings and never change the
exit code.`,
		Example: `  # Show all versions
  kubectl fdb version

  # Show only the version of this program
  kubectl fdb version --client-only`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	})
	flags.Format(cmd, &o.Flags)
	cmd.Flags().BoolVar(&o.clientOnly, "client-only", false, "If true, show only the version of this program; no API server is contacted and no kubeconfig read")
	return cmd
}

func (o versionOptions) run(ctx context.Context, env *session.Env) error {
	if err := o.Check(); err != nil {
		return err
	}
	v := lists.NewVersionView(inspect.Metadata{Tool: "kubectl-fdb " + session.Version, RunID: env.RunID}, lists.ClientVersion{
		Version: session.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
	v.Warnings = append(v.Warnings, pluginOnPath(env)...)
	var err error
	if !o.clientOnly {
		v.Metadata = env.Metadata(types.NamespacedName{})
		err = o.ask(ctx, env, &v)
		v.Warnings = append(v.Warnings, v.Skew()...)
	}
	printed := o.Print(env.Out, format.Printable{
		Document: v, Names: []string{"kubectl-fdb/" + session.Version},
		Table: func(w io.Writer) error { return ui.WriteVersion(w, v, o.List(env, w)) },
	})
	if o.IsTable() {
		for _, warning := range v.Warnings {
			env.Logf("warning: %s", warning)
		}
	}
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return printed
}

// ask fills in the facts from the API server.
func (o versionOptions) ask(ctx context.Context, env *session.Env, v *lists.VersionView) error {
	config, err := env.Connection().Config()
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create the Kubernetes client: %w", err)
	}
	info, err := server.ServerVersion()
	if err != nil {
		return fmt.Errorf("read the version of the API server: %w", err)
	}
	v.Server = info.GitVersion
	groups, err := server.ServerGroups()
	if err != nil {
		return fmt.Errorf("read the API groups: %w", err)
	}
	for _, g := range groups.Groups {
		if g.Name != v1beta2.GroupVersion.Group {
			continue
		}
		for _, served := range g.Versions {
			v.Served = append(v.Served, served.GroupVersion)
		}
	}
	if len(v.Served) == 0 {
		return nil
	}
	return o.askClusters(ctx, env, v)
}

func (o versionOptions) askClusters(ctx context.Context, env *session.Env, v *lists.VersionView) error {
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	askOperators(ctx, c, v)
	clusters, err := session.ClustersIn(ctx, c, namespace)
	if err != nil {
		return err
	}
	v.Clusters = make([]lists.ClusterVersion, len(clusters))
	reasons := make([]string, len(clusters))
	group := errgroup.Group{}
	group.SetLimit(session.ParallelReads)
	for i := range clusters {
		group.Go(func() error {
			v.Clusters[i], reasons[i] = askVersions(ctx, env, &clusters[i])
			return nil
		})
	}
	_ = group.Wait() // errors are in the results
	v.Warnings = append(v.Warnings, slices.DeleteFunc(reasons, func(why string) bool { return why == "" })...)
	v.AsOf = new(env.Clock.Now().UTC())
	return ctx.Err()
}

// askVersions reads one cluster; why is the reason if that failed.
func askVersions(ctx context.Context, env *session.Env, c *session.Cluster) (v lists.ClusterVersion, why string) {
	v = lists.NewClusterVersion(c)
	facts, err := session.ClusterReader{Env: env, Key: types.NamespacedName{Namespace: c.Namespace, Name: c.Name}}.Facts(ctx)
	switch {
	case err != nil:
		return v, fmt.Sprintf("%s/%s: %s", c.Namespace, c.Name, exit.Explain(err))
	case facts.Database.Status == nil:
		why = fmt.Sprintf("%s/%s: %s", c.Namespace, c.Name, facts.Database.Why())
	}
	return v.Observed(facts), why
}

// askOperators leaves out what is forbidden: that is no reason to fail.
func askOperators(ctx context.Context, c client.Client, v *lists.VersionView) {
	found, err := live.Operators(ctx, c)
	if err != nil {
		v.Warnings = append(v.Warnings, "cannot determine whether an operator runs: "+exit.Explain(err))
		return
	}
	v.Operators = []lists.OperatorVersion{}
	for _, o := range found {
		v.Operators = append(v.Operators, lists.OperatorVersion{Namespace: o.Namespace, Name: o.Name, Version: o.Version, Ready: o.Ready})
	}
}

// pluginOnPath returns a warning if kubectl runs another plugin than this program.
func pluginOnPath(env *session.Env) []string {
	self, err := os.Executable()
	if err != nil {
		return nil // unknown is no reason to warn of another one
	}
	var found []string
	for _, file := range session.PluginsOnPath(env.Getenv("PATH")) {
		found = append(found, session.ResolvedPath(file))
	}
	return lists.FirstOnPath(session.ResolvedPath(self), found)
}
