package recovery

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
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

// leftoverReader reads what is left of a cluster whose resource may not exist.
type leftoverReader struct {
	env    *session.Env
	client client.Client
	facts  rebuild.Facts
}

// read reads all facts. What cannot be read is a fact; only the end of the context is an error.
func (r *leftoverReader) read(ctx context.Context) error {
	resource := &v1beta2.FoundationDBCluster{}
	switch err := r.client.Get(ctx, types.NamespacedName{Namespace: r.facts.Namespace, Name: r.facts.Name}, resource); {
	case err == nil:
		r.facts.Exists = true
	case !apierrors.IsNotFound(err):
		r.facts.Unread["whether the FoundationDBCluster exists"] = err.Error()
	}
	pods, claims, services := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}
	for kind, list := range map[string]client.ObjectList{"pods": pods, "PVCs": claims, "services": services} {
		if err := r.list(ctx, list); err != nil {
			r.facts.Unread[kind] = err.Error()
		}
	}
	r.facts.Pods, r.facts.Claims, r.facts.Services = pods.Items, claims.Items, services.Items
	r.readConfigMap(ctx)
	r.readVolumes(ctx)
	r.readStatus(ctx)
	return ctx.Err()
}

// list lists the objects with the label of the cluster.
func (r *leftoverReader) list(ctx context.Context, into client.ObjectList) error {
	return r.client.List(ctx, into, client.InNamespace(r.facts.Namespace), client.MatchingLabels{v1beta2.LabelClusterName: r.facts.Name})
}

func (r *leftoverReader) readConfigMap(ctx context.Context) {
	own, found := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: r.facts.Name}}, &corev1.ConfigMap{}
	switch err := r.client.Get(ctx, types.NamespacedName{Namespace: r.facts.Namespace, Name: own.ConfigMapName()}, found); {
	case err == nil:
		r.facts.ConfigMap = found
	case !apierrors.IsNotFound(err):
		r.facts.Unread["the contents of the ConfigMap"] = err.Error()
	}
}

// readVolumes reads the volumes that are, or were, of PVCs with the name of the cluster.
func (r *leftoverReader) readVolumes(ctx context.Context) {
	for next := ""; ; {
		page := &corev1.PersistentVolumeList{}
		if err := r.client.List(ctx, page, client.Limit(session.PageSize), client.Continue(next)); err != nil {
			r.facts.Unread["volumes"] = err.Error()
			return
		}
		for _, v := range page.Items {
			if ref := v.Spec.ClaimRef; ref != nil && ref.Namespace == r.facts.Namespace && strings.HasPrefix(ref.Name, r.facts.Name+"-") {
				r.facts.Volumes = append(r.facts.Volumes, v)
			}
		}
		if next = page.Continue; next == "" {
			return
		}
	}
}

// readStatus reads the status document of the database by programs of the pods.
func (r *leftoverReader) readStatus(ctx context.Context) {
	pods := map[string]*corev1.Pod{}
	for i := range r.facts.Pods {
		pods[r.facts.Pods[i].Name] = &r.facts.Pods[i]
	}
	var transports []admin.Transport
	for _, pod := range live.ToolPods(&v1beta2.FoundationDBCluster{}, pods) {
		t, err := r.env.Tool(pod, v1beta2.ContainerMain)
		if err != nil {
			r.facts.StatusUnknown = err.Error()
			return
		}
		transports = append(transports, t)
	}
	if len(transports) == 0 {
		r.facts.StatusUnknown = "no pod is ready"
		return
	}
	status, err := admin.NewFDBCLI(admin.NewFailover(transports...), admin.FDBCLIOptions{Clock: r.env.Clock}).Status(ctx)
	if err != nil {
		r.facts.StatusUnknown = err.Error()
		return
	}
	r.facts.SetStatus(status)
}
