// Package install holds the commands install, for the resource definitions and roles that the program comes
// with, and create, for a resource from a few settings.
package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// NewInstall returns `kubectl fdb install`.
func NewInstall(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Support, Pages: []string{"support.md#permissions"}}, &cobra.Command{
		Use:   "install COMMAND",
		Short: "Install resource definitions and roles",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(errors.New("install command is required: crds or rbac"), env.Command("install", "crds"), env.Command("install", "rbac"))
			}
			return session.Unknown("install command", args[0], []string{"crds", "rbac"}, "kubectl fdb install --help")
		},
	})
	cmd.AddCommand(newCRDs(env), newRBAC(env))
	return cmd
}

// options are common to the install commands.
type options struct {
	apply.ChangeFlags
	print bool
	// command are the words of the command without flags of this type.
	command []string
	// of is the cluster that is created; in all else only its namespace is set.
	of types.NamespacedName
}

func (o *options) add(cmd *cobra.Command) {
	flags.Approval(cmd, &o.ChangeFlags)
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason recorded in the audit log")
	cmd.Flags().BoolVar(&o.print, "print", false, "If true, print the manifests and contact no API server")
	cmd.MarkFlagsMutuallyExclusive("print", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("print", "yes")
}

// state is how an object compares with the API server's.
type state string

const (
	missing   state = "missing"
	installed state = "installed"
	different state = "different"
)

// item is an object to install.
type item struct {
	object *unstructured.Unstructured
	state  state
}

// name returns the object as kubectl names it: "role/kubectl-fdb-read".
func (i item) name() string {
	return strings.ToLower(i.object.GetKind()) + "/" + i.object.GetName()
}

// install creates the objects that are missing. Existing ones are never changed: another version of
// them can be in use, and a definition with fewer fields would delete data of resources.
func (o options) install(ctx context.Context, env *session.Env, c client.Client, objects []*unstructured.Unstructured) ([]item, error) {
	var items []item
	create := 0
	for _, object := range objects {
		i := item{object: object}
		var err error
		if i.state, err = compare(ctx, c, object); err != nil {
			return nil, exit.CauseOf(ctx, err)
		}
		if i.state == missing {
			create++
		}
		items = append(items, i)
	}
	for _, i := range items {
		layout.Entry(env.Out, fmt.Sprintf("%-9s  ", i.state), i.name())
	}
	if o.Intent() == session.Reads || create == 0 {
		return items, cmp.Or(o.tryOut(ctx, env, c, items), o.differences(env, items))
	}
	if err := o.create(ctx, env, c, items, create); err != nil {
		return nil, err
	}
	return items, o.differences(env, items)
}

// stageInstall names creations in the audit, where other changes have the stage of a pass.
const stageInstall plan.StageName = "Install"

// create creates the missing objects, once that is approved.
func (o options) create(ctx context.Context, env *session.Env, c client.Client, items []item, missing int) error {
	return apply.CarryOut(ctx, env, o.of, apply.Change{
		ChangeFlags: o.ChangeFlags, Args: o.command,
		Procedure: &apply.Procedure{
			Stage: stageInstall, Work: missing, Continue: "create the rest",
			Show: func(io.Writer) error { return nil }, Question: "Create " + phrase.Count(missing, "object") + "?",
			Run: func(ctx context.Context, s apply.Stepping) error {
				return reconcile.Steps{Report: s.Report, Now: env.Clock.Now}.CarryOut(ctx, o.steps(env, c, items, s))
			},
		},
	})
}

// steps returns a step for each missing object.
func (o options) steps(env *session.Env, c client.Client, items []item, s apply.Stepping) []reconcile.Step {
	var steps []reconcile.Step
	for n := range items {
		i := &items[n]
		if i.state != missing {
			continue
		}
		steps = append(steps, reconcile.Step{
			Kind: "Create" + i.object.GetKind(), Subject: i.object.GetName(), Words: "create " + i.name(),
			Do: func(ctx context.Context) error {
				created, err := createOne(ctx, c, i.object)
				if err != nil {
					return err
				}
				cluster := &v1beta2.FoundationDBCluster{}
				if runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, cluster) == nil && cluster.Kind == "FoundationDBCluster" {
					s.Created(cluster)
				}
				i.state = installed
				layout.Entry(env.Out, "created    ", i.name())
				return nil
			},
		})
	}
	return steps
}

// lacking is why a creation cannot have all guarantees.
func lacking() map[declare.Guarantee]string {
	return declare.Lacking("it only creates objects that do not exist: no cluster has a Lease, an operator or another run yet",
		declare.Plans, declare.Overrides, declare.GatedByOperators, declare.OneOperation)
}

// tryOut submits the missing objects as a server dry run, if that was requested.
func (o options) tryOut(ctx context.Context, env *session.Env, c client.Client, items []item) error {
	if o.DryRun != apply.DryRunServer {
		return nil
	}
	var t apply.Tried
	for _, i := range items {
		if i.state == missing {
			t.All++
			t.Add(i.name(), c.Create(ctx, i.object.DeepCopy(), client.DryRunAll))
		}
	}
	if t.All == 0 {
		return nil
	}
	return exit.CauseOf(ctx, t.End(env))
}

// createOne creates an object, and reads back that the API server has all of it.
func createOne(ctx context.Context, c client.Client, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	what, created := strings.ToLower(object.GetKind())+" "+object.GetName(), object.DeepCopy()
	if err := c.Create(ctx, created); err != nil {
		return nil, fmt.Errorf("create %s: %w", what, err)
	}
	found, err := compare(ctx, c, object)
	if err != nil {
		return nil, err
	}
	if found != installed {
		return nil, fmt.Errorf("create %s: the API server accepted it, but what it stored is %s", what, found)
	}
	return created, nil
}

// compare reads an object. It is installed if the API server has all that the manifest has; further
// fields are those of a newer version, or defaults.
func compare(ctx context.Context, c client.Client, object *unstructured.Unstructured) (state, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(object.GroupVersionKind())
	err := c.Get(ctx, client.ObjectKeyFromObject(object), found)
	switch {
	case apierrors.IsNotFound(err):
		return missing, nil
	case err != nil:
		return "", fmt.Errorf("read %s %s: %w", strings.ToLower(object.GetKind()), object.GetName(), err)
	}
	for _, field := range []string{"spec", "rules"} {
		if want, has := object.Object[field]; has && !contains(found.Object[field], want) {
			return different, nil
		}
	}
	return installed, nil
}

// contains reports whether a value has all that another one has.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		return mapContains(have, want)
	case []any:
		all, is := have.([]any)
		if !is {
			return len(want) == 0 && have == nil
		}
		return slices.EqualFunc(all, want, contains)
	default:
		return fmt.Sprint(have) == fmt.Sprint(want) // numbers are of several types
	}
}

func mapContains(have any, want map[string]any) bool {
	all, is := have.(map[string]any)
	if !is {
		return len(want) == 0 && have == nil
	}
	for key, value := range want {
		if found, has := all[key]; !has && value != nil || !contains(found, value) {
			return false
		}
	}
	return true
}

// differences returns the error of existing objects that lack part of the manifests.
func (o options) differences(env *session.Env, items []item) error {
	var names []string
	for _, i := range items {
		if i.state == different {
			names = append(names, i.name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &exit.Error{
		Code:  exit.ExitConflict,
		Err:   fmt.Errorf("%s %s from the manifest, and %s not changed", phrase.List(names), phrase.Either(len(names), "differs", "differ"), phrase.Is(len(names))),
		Hints: []string{"compare: " + env.Command(append(slices.Clone(o.command), "--print")...) + " | kubectl diff -f -"},
	}
}

func printAll(env *session.Env, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("print %s: %w", object.GetName(), err)
		}
		if _, err := fmt.Fprintf(layout.Raw(env.Out), "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// creating are the permissions to create objects of a kind, and to read them back.
func creating(group, resource string) []session.Permission {
	return []session.Permission{{Verb: "get", Group: group, Resource: resource}, {Verb: "create", Group: group, Resource: resource}}
}
