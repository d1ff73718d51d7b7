package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
