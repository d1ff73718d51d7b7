package recovery

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	text "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/rebuild"
)

// manifestOptions are the options of `kubectl fdb recover manifest`.
type manifestOptions struct {
	session.ClusterFlag
	format.Flags
}

func newManifest(env *session.Env) *cobra.Command {
	var o manifestOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Prints: "a manifest",
		Needs: inferringManifests,
	}, &cobra.Command{
		Use:   "manifest CLUSTER",
		Short: "Show the inferred manifest of a deleted cluster",
		Long: `Infer the manifest of a FoundationDBCluster that was deleted, from what is left of it: pods,
PVCs, released volumes, services, the ConfigMap and the database, if a pod can reach it.
Nothing is changed or applied.

The manifest is printed in YAML. Comments before it list what is unknown, since it leaves no
trace or its traces differ, and the source of each field. It has spec.skip, so that no
operator acts on it. Pods and PVCs record a hash of what they were created from: how many
equal those that a pass creates from the manifest is printed too.

If a manifest is in version control or in a dump, prefer that one, and compare.

Exit code 0: a manifest was printed. 2: nothing is left of the cluster.`,
		Example: `  # Infer the manifest, for review
  kubectl fdb recover manifest sample-cluster > sample-cluster.yaml

  # Show what is unknown
  kubectl fdb recover manifest sample-cluster -o jsonpath='{.unknown[*].path}'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Format(cmd, &o.Flags)
	return cmd
}

func (o manifestOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	name, err := env.ClusterName(args, o.Name)
	if err != nil {
		return err
	}
	if name == "" {
		return exit.Usage(errors.New("the name of the cluster is required: a FoundationDBCluster that was deleted is not listed"))
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	env.Run.About = types.NamespacedName{Namespace: namespace, Name: name}
	c, err := env.Client()
	if err != nil {
		return err
	}
	r := leftoverReader{env: env, client: c, facts: rebuild.Facts{Name: name, Namespace: namespace, Unread: map[string]string{}}}
	if err := r.read(ctx); err != nil {
		return exit.CauseOf(ctx, err)
	}
	if !r.facts.Found() && !r.facts.Exists && len(r.facts.Unread) == 0 {
		_, err := env.Read(ctx, c, env.Run.About) // it names the clusters that exist
		return err
	}
	return o.print(env, r)
}

func (o manifestOptions) print(env *session.Env, r leftoverReader) error {
	manifest, err := rebuild.Rebuild(r.facts)
	if err != nil {
		return err
	}
	var warnings []string
	if r.facts.Exists {
		warnings = append(warnings, "FoundationDBCluster "+env.Run.About.Name+" exists: the manifest is from its pods, volumes and database, not from its spec")
	}
	for _, warning := range warnings {
		env.Logf("warning: %s", warning)
	}
	v := rebuild.NewView(env.Metadata(env.Run.About), env.Clock.Now(), manifest, warnings)
	return o.Print(layout.Asked(env.Out), format.Printable{ // its values are applied
		Document: v, Names: []string{"foundationdbcluster/" + env.Run.About.Name},
		Table: func(w io.Writer) error { return text.Write(w, v) },
	})
}

// inferringManifests returns what is required to infer a manifest: what may not be read is listed as unknown.
func inferringManifests() []declare.Requirement {
	const without = "fields of the manifest are unknown"
	return slices.Concat(cmdutil.Required(cmdutil.TheResource()), cmdutil.Optional(without,
		session.Permission{Verb: "list", Resource: "pods"}, session.Permission{Verb: "create", Resource: "pods", Subresource: "exec"},
		session.Permission{Verb: "list", Resource: "persistentvolumeclaims"}, session.Permission{Verb: "list", Resource: "services"}, session.Permission{Verb: "get", Resource: "configmaps"},
	), cmdutil.ReleasedVolumes())
}
