package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/manifests"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func newRBAC(env *session.Env) *cobra.Command {
	var o options
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Lacks: lacking(),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(creating("rbac.authorization.k8s.io", "roles")...), cmdutil.Everywhere(cmdutil.Optional("ClusterRoles are not installed", creating("rbac.authorization.k8s.io", "clusterroles")...)))
		},
	}, &cobra.Command{
		Use:   "rbac [NAME...]",
		Short: "Install roles for users of the commands",
		Long: `Install roles for users of the commands: Roles in the namespace, and ClusterRoles for nodes
and operators. Without NAME the names are listed. kubectl create rolebinding binds a role.
auth role prints the role of a single command. Existing roles are never changed.

Exit code 0: all are installed. 6: an existing one lacks rules of this version.`,
		Example: `  # List the roles
  kubectl fdb install rbac

  # Create the roles for users who may read everything and run passes
  kubectl fdb install rbac read reconcile -n fdb --yes

  # Print a manifest
  kubectl fdb install rbac read --print`,
		ValidArgs: roleNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command = append([]string{"install", "rbac"}, args...)
			return o.runRBAC(cmd.Context(), env, args)
		},
	})
	o.add(cmd)
	return cmd
}

func (o options) runRBAC(ctx context.Context, env *session.Env, names []string) error {
	if err := o.CheckSteps(env); err != nil {
		return err
	}
	if len(names) == 0 {
		for _, name := range roleNames() {
			fmt.Fprintln(env.Out, name)
		}
		return nil
	}
	for _, name := range names {
		if !slices.Contains(roleNames(), name) {
			return session.Unknown("role", name, phrase.Strings(roleNames()))
		}
	}
	objects, err := objectsIn("rbac", names...)
	if err != nil {
		return err
	}
	if o.print {
		return printAll(env, objects)
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	o.of.Namespace = namespace
	for _, object := range objects {
		if object.GetKind() == "Role" {
			object.SetNamespace(namespace)
		}
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	_, err = o.install(ctx, env, c, objects)
	return err
}

// roleNames are the names of the manifests of roles.
func roleNames() []string {
	files, err := manifests.Files.ReadDir("rbac")
	if err != nil {
		return nil // they are part of the program; a test reads them
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}

// objectsIn returns the objects of a folder of manifests, or of those of its files that are named.
func objectsIn(folder string, names ...string) ([]*unstructured.Unstructured, error) {
	files, err := manifests.Files.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, f := range files {
		if len(names) > 0 && !slices.Contains(names, strings.TrimSuffix(f.Name(), ".yaml")) {
			continue
		}
		text, err := manifests.Files.ReadFile(path.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		objects, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("manifest %s: %w", f.Name(), err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

func parse(text []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text))
	var all []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			all = append(all, object)
		}
	}
}

const kindCRD = "CustomResourceDefinition"

// establishing bounds the wait for the API server to serve new kinds. It takes about a second.
const establishing = 30 * time.Second

func newCRDs(env *session.Env) *cobra.Command {
	var o options
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Lacks: lacking(),
		Needs: func() []declare.Requirement {
			return cmdutil.Everywhere(cmdutil.Required(creating("apiextensions.k8s.io", "customresourcedefinitions")...))
		},
	}, &cobra.Command{
		Use:   "crds",
		Short: "Install the custom resource definitions",
		Long: `Install the definitions of FoundationDBCluster, FoundationDBBackup and FoundationDBRestore,
and wait until the API server serves them. They are those of the FoundationDB operator with
the fields that kubectl-fdb adds. Existing definitions are never changed.

Exit code 0: all are installed. 6: an existing one lacks fields of this version.`,
		Example: `  # Show what would be created
  kubectl fdb install crds --dry-run

  # Create what is missing
  kubectl fdb install crds --yes

  # Print the manifests
  kubectl fdb install crds --print`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.command = []string{"install", "crds"}
			return o.runCRDs(cmd.Context(), env)
		},
	})
	o.add(cmd)
	return cmd
}

func (o options) runCRDs(ctx context.Context, env *session.Env) error {
	if err := o.CheckSteps(env); err != nil {
		return err
	}
	objects, err := objectsIn("crd")
	if err != nil {
		return err
	}
	if o.print {
		return printAll(env, objects)
	}
	c, err := env.Client()
	if err != nil {
		return err
	}
	items, err := o.install(ctx, env, c, objects)
	if err != nil || o.Intent() == session.Reads {
		return err
	}
	for _, i := range items {
		if err := awaitEstablished(ctx, env, c, i.object); err != nil {
			return exit.CauseOf(ctx, err)
		}
	}
	return nil
}

// awaitEstablished waits until the API server serves the kind of a definition.
func awaitEstablished(ctx context.Context, env *session.Env, c client.Client, definition *unstructured.Unstructured) error {
	env.Touch() // the wait begins now
	ends := env.Clock.Now().Add(establishing)
	for {
		found := definition.DeepCopy()
		if err := c.Get(ctx, client.ObjectKeyFromObject(definition), found); err != nil {
			return fmt.Errorf("read %s: %w", definition.GetName(), err)
		}
		if isEstablished(found) {
			return nil
		}
		if !env.Clock.Now().Before(ends) {
			return &exit.Error{Code: exit.ExitWaiting, Err: errors.New(definition.GetName() + ": created, and not served by the API server yet")}
		}
		if err := env.Waiting().Pause(ctx, time.Second, "the API server to serve "+definition.GetName()); err != nil {
			return err
		}
	}
}

func isEstablished(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, is := c.(map[string]any); is && condition["type"] == "Established" {
			return condition["status"] == "True"
		}
	}
	return false
}
