package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// key returns the resource that the argument names, as NAME or KIND/NAME, or the only one in
// the namespace.
func (k *recordKind) key(ctx context.Context, env *Env, args []string, i intent) (types.NamespacedName, error) {
	key := types.NamespacedName{}
	namespace, err := env.namespace()
	if err != nil {
		return key, err
	}
	key.Namespace = namespace
	if len(args) > 0 {
		key.Name, err = k.bareName(args[0])
		return key, err
	}
	if i == writes && !env.IsTerminal(env.In) {
		return key, usagef("name of the %s is required because stdin is not a terminal", k.kind)
	}
	there, err := k.names(ctx, env, namespace)
	switch {
	case err != nil:
		return key, err
	case len(there) == 0:
		return key, usage(fmt.Errorf("no %s found in namespace %s", k.kind, namespace), "choose another namespace with -n NAMESPACE")
	case len(there) > 1:
		return key, usagef("name of the %s is required: namespace %s has %s", k.kind, namespace, strings.Join(there, ", "))
	}
	env.logf("using %s %s, the only one in namespace %s", k.kind, there[0], namespace)
	key.Name = there[0]
	return key, nil
}

func (k *recordKind) bareName(text string) (string, error) {
	if !strings.Contains(text, "/") && text != "" {
		return text, nil
	}
	if kind, name := recordKindOf([]string{text}); kind == k && name != "" && !strings.Contains(name, "/") {
		return name, nil
	}
	return "", usagef("invalid name %q of %s: must be NAME or %s/NAME", text, k.kind, k.short)
}

// names returns the names of all resources of a namespace.
func (k *recordKind) names(ctx context.Context, env *Env, namespace string) ([]string, error) {
	keys, err := k.keys(ctx, env, namespace)
	var all []string
	for _, key := range keys {
		all = append(all, key.Name)
	}
	return all, err
}

// keys returns the keys of all resources of a namespace, or of all namespaces if it is empty.
func (k *recordKind) keys(ctx context.Context, env *Env, namespace string) ([]types.NamespacedName, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	records, err := k.records(ctx, c, namespace)
	if isMissingKind(err) {
		return nil, usage(fmt.Errorf("this Kubernetes cluster has no %s resources: %w", k.kind, err), "kubectl get crd "+k.plural+".apps.foundationdb.org")
	}
	var all []types.NamespacedName
	for _, r := range records {
		all = append(all, client.ObjectKeyFromObject(r))
	}
	return all, err
}

// records returns all resources of a namespace, or of all namespaces if it is empty, by name.
func (k *recordKind) records(ctx context.Context, c client.Client, namespace string) ([]client.Object, error) {
	var all []client.Object
	for next := ""; ; {
		page := k.list()
		if err := c.List(ctx, page, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("listing %ss %s: %w", k.kind, inNamespace(namespace), err)
		}
		objects, err := meta.ExtractList(page)
		if err != nil {
			return nil, fmt.Errorf("listing %ss: %w", k.kind, err)
		}
		for _, o := range objects {
			if record, ok := o.(client.Object); ok {
				all = append(all, record)
			}
		}
		if next = page.GetContinue(); next == "" {
			slices.SortFunc(all, func(a, b client.Object) int {
				return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
			})
			return all, nil
		}
	}
}

// complete completes the first argument with the names of resources.
func (k *recordKind) complete(env *Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return asCompletion(func(ctx context.Context, _ *cobra.Command, _ []string) []string {
			namespace, err := env.namespace()
			if err != nil {
				return nil
			}
			names, _ := k.names(ctx, env, namespace) // nothing is offered if listing fails
			return names
		})(cmd, args, typed)
	}
}

// confirmed completes --confirm with the name in the first argument.
func (k *recordKind) confirmed() func(context.Context, *cobra.Command, []string) []string {
	return func(_ context.Context, _ *cobra.Command, args []string) []string {
		if kind, name := recordKindOf(args); kind == k {
			return []string{name}
		}
		return nil
	}
}

// recordViewOptions are the options of commands that show one backup or restore.
type recordViewOptions struct {
	outputFlags
	pollOptions
}

func (o *recordViewOptions) add(cmd *cobra.Command, env *Env, kind *recordKind) {
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.ValidArgsFunction = kind.complete(env)
	o.outputFlags.add(cmd)
	o.interval = pollInterval
}

// display finds the resource and prints what read returns.
func (o recordViewOptions) display(ctx context.Context, env *Env, kind *recordKind, args []string, facets plan.Facet, read func(types.NamespacedName, plan.Snapshot) output) error {
	if err := errors.Join(o.outputFlags.check(), o.pollOptions.check()); err != nil {
		return err
	}
	ctx, stop := withTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	key, err := kind.key(ctx, env, args, reads)
	if err != nil {
		return causeOf(ctx, err)
	}
	env.about = kind.named(key)
	return o.run(ctx, env, o.outputFlags, func(ctx context.Context) (output, error) {
		s, err := env.observeRecord(ctx, kind, key, facets)
		if err != nil {
			return output{}, causeOf(ctx, err)
		}
		return read(key, s), nil
	})
}

// observeRecord observes a resource, and prints progress: the tools wait for a database or
// store that does not answer, up to their timeout.
func (e *Env) observeRecord(ctx context.Context, kind *recordKind, key types.NamespacedName, facets plan.Facet) (plan.Snapshot, error) {
	session, err := kind.connect(e, key)
	if err != nil {
		return plan.Snapshot{}, err
	}
	s, asked := plan.Snapshot{}, make(chan error, 1)
	go func() { asked <- session.Observe(ctx, &s, facets) }()
	err = clusterReader{env: e}.await(asked, func() { e.logf("waiting for database status…") })
	return s, err
}

// verdictCode returns the exit code of an answer: yes, no, or unknown.
func verdictCode(good *bool) int {
	switch {
	case good == nil:
		return ExitUnreachable
	case *good:
		return ExitDone
	default:
		return ExitNo
	}
}
