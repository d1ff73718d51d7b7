package commands

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// version is set by the linker: -X .../pkg/commands.version=v1.2.3.
var version = "dev"

// versionOptions is what `kubectl fdb version` was asked to show.
type versionOptions struct {
	outputFlags
	clientOnly bool
}

func newVersion(env *Env) *cobra.Command {
	var o versionOptions
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of this program, the API server and the databases",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	}
	o.addFormat(cmd)
	cmd.Flags().BoolVar(&o.clientOnly, "client-only", false, "this program only; talks to nobody and reads no kubeconfig")
	return cmd
}

func (o versionOptions) run(ctx context.Context, env *Env) error {
	if err := o.check(); err != nil {
		return err
	}
	v := ui.NewVersionView(ui.Metadata{Tool: "kubectl-fdb " + version, RunID: env.RunID}, ui.ClientVersion{
		Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
	var err error
	if !o.clientOnly {
		v.Metadata = env.metadata(types.NamespacedName{})
		err = o.ask(ctx, env, &v)
	}
	printed := o.print(env.Out, printable{
		document: v, names: []string{"kubectl-fdb/" + version},
		table: func(w io.Writer) error { return ui.WriteVersion(w, v) },
	})
	if err != nil {
		return causeOf(ctx, err)
	}
	return printed
}

// ask fills in what the API server knows.
func (o versionOptions) ask(ctx context.Context, env *Env, v *ui.VersionView) error {
	config, err := env.config()
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("preparing the Kubernetes client: %w", err)
	}
	info, err := server.ServerVersion()
	if err != nil {
		return fmt.Errorf("reading the version of the API server: %w", err)
	}
	v.Server = info.GitVersion
	groups, err := server.ServerGroups()
	if err != nil {
		return fmt.Errorf("reading the API groups: %w", err)
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

func (o versionOptions) askClusters(ctx context.Context, env *Env, v *ui.VersionView) error {
	namespace, err := env.namespace()
	if err != nil {
		return err
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	clusters, err := clustersIn(ctx, c, namespace)
	if err != nil {
		return err
	}
	for _, c := range clusters {
		v.Clusters = append(v.Clusters, ui.ClusterVersion{Namespace: c.Namespace, Name: c.Name, Running: c.Status.RunningVersion, Spec: c.Spec.Version})
	}
	return nil
}
