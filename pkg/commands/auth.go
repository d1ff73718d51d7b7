package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// newAuth is the parent of the commands about permissions. It does nothing by itself.
func newAuth(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth COMMAND",
		Short: "Inspect the permissions of commands",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("auth command is required: can-i or role"), "kubectl fdb auth can-i", "kubectl fdb auth role --for status")
			}
			return usage(fmt.Errorf("unknown auth command %q: must be can-i or role", args[0]), "kubectl fdb auth --help")
		},
	}
	cmd.AddCommand(newAuthCanI(env), newAuthRole(env))
	return cmd
}

// canIOptions are the options of `kubectl fdb auth can-i`.
type canIOptions struct{ outputFlags }

func newAuthCanI(env *Env) *cobra.Command {
	var o canIOptions
	cmd := &cobra.Command{
		Use:   "can-i [COMMAND]",
		Short: "Check whether the permissions of a command are granted",
		Long: `Check whether the permissions of a command are granted in the namespace, and list them.
Without COMMAND all commands are checked. Nothing is changed.

Exit code 0: all required permissions are granted. 1: some are not.`,
		Example: `  # Check the permissions of reconcile
  kubectl fdb auth can-i reconcile

  # Check the permissions of a command with a flag
  kubectl fdb auth can-i "reconcile --watch"`,
		ValidArgs: namesWithRequirements(),
		Args:      cobra.ArbitraryArgs,
		RunE:      func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.add(cmd)
	return cmd
}

func (o canIOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	var named []string
	if len(args) > 0 {
		named = []string{strings.Join(args, " ")}
	}
	commands, err := requirementsOf(named)
	if err != nil {
		return err
	}
	namespace, err := env.namespace()
	if err != nil {
		return err
	}
	items, err := env.reviewAll(ctx, namespace, commands)
	if err != nil {
		return causeOf(ctx, err)
	}
	v := lists.NewAccessView(env.metadata(types.NamespacedName{Namespace: namespace}), items, env.Clock.Now())
	if err := o.print(env.Out, printable{
		document: v, names: permissionNames(items),
		table: func(w io.Writer) error { return ui.WriteAccess(w, v, o.list(env)) },
	}); err != nil {
		return err
	}
	if !v.Allowed {
		return answer{ExitNo}
	}
	return nil
}

func permissionNames(items []lists.PermissionView) []string {
	names := make([]string, len(items))
	for i, p := range items {
		names[i] = p.Verb + "/" + p.Resource
	}
	return names
}

// reviewAll checks each permission once, however many commands need it.
func (e *Env) reviewAll(ctx context.Context, namespace string, commands []commandRequirements) ([]lists.PermissionView, error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	type question struct {
		permission
		everywhere bool
	}
	answers := map[question]*bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReviews)
	var items []lists.PermissionView
	for _, command := range commands {
		for _, n := range command.requirements {
			asked := question{n.permission, n.everywhere}
			if answers[asked] != nil {
				continue
			}
			allowed := new(bool)
			answers[asked] = allowed
			group.Go(func() (err error) {
				*allowed, err = review(ctx, c, n.namespace(namespace), n.permission)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("checking permissions: %w", err)
	}
	for _, command := range commands {
		for _, n := range command.requirements {
			items = append(items, n.view(command.command, namespace, *answers[question{n.permission, n.everywhere}]))
		}
	}
	return items, nil
}

// namespace returns where the permission is required; empty for cluster-wide.
func (n requirement) namespace(namespace string) string {
	if n.everywhere {
		return ""
	}
	return namespace
}

func (n requirement) view(command, namespace string, allowed bool) lists.PermissionView {
	v := lists.PermissionView{
		Command: command, Verb: n.verb, Resource: n.path(),
		Allowed: allowed, Required: n.without == "", Without: n.without,
	}
	if !n.everywhere {
		v.Namespace = &namespace
	}
	return v
}
