package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewAuth is the parent of the commands about permissions. It does nothing by itself.
func NewAuth(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Support, Pages: []string{"support.md#permissions"}}, &cobra.Command{
		Use:   "auth COMMAND",
		Short: "Inspect the permissions of commands",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(errors.New("auth command is required: can-i or role"), env.Command("auth", "can-i"), env.Command("auth", "role", "--for", "status"))
			}
			return session.Unknown("auth command", args[0], []string{"can-i", "role"}, "kubectl fdb auth --help")
		},
	})
	cmd.AddCommand(newAuthCanI(env), newAuthRole(env))
	return cmd
}

// completeNames completes the commands that use permissions.
func completeNames(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return namesWithNeeds(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
}

// namesWithNeeds returns the commands of a tree that use permissions.
func namesWithNeeds(root *cobra.Command) []string {
	var names []string
	for _, n := range declare.AllNeeds(root) {
		names = append(names, n.Command)
	}
	return names
}

// needsOf returns the permissions of the named commands of a tree, or of all if none is named.
func needsOf(root *cobra.Command, commands []string) ([]declare.NeedsOf, error) {
	if len(commands) == 0 {
		return declare.AllNeeds(root), nil
	}
	var chosen []declare.NeedsOf
	for _, command := range commands {
		needs, found := declare.FindNeeds(root, command)
		if !found {
			names := namesWithNeeds(root)
			return nil, exit.Usagef("unknown command %q, or it does not access the API server: must be one of %s%s", command, strings.Join(names, ", "), session.OrMeant(command, names))
		}
		chosen = append(chosen, needs)
	}
	return chosen, nil
}

// canIOptions are the options of `kubectl fdb auth can-i`.
type canIOptions struct{ format.Flags }

func newAuthCanI(env *session.Env) *cobra.Command {
	var o canIOptions
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Local: true}, &cobra.Command{
		Use:   "can-i [COMMAND]",
		Short: "Check whether the permissions of a command are granted",
		Long: `Check whether the permissions of a command are granted in the namespace, and list them.
Without COMMAND all commands are checked. Nothing is changed.

Exit code 0: all required permissions are granted. 1: some are not.`,
		Example: `  # Check the permissions of reconcile
  kubectl fdb auth can-i reconcile

  # Check the permissions of a command with a flag
  kubectl fdb auth can-i "reconcile --watch"`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, env, args) },
	})
	flags.Output(cmd, &o.Flags)
	return cmd
}

func (o canIOptions) run(cmd *cobra.Command, env *session.Env, args []string) error {
	ctx := cmd.Context()
	if err := o.Check(); err != nil {
		return err
	}
	var named []string
	if len(args) > 0 {
		named = []string{strings.Join(args, " ")}
	}
	commands, err := needsOf(cmd.Root(), named)
	if err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	items, err := reviewAll(ctx, env, namespace, commands)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	v := lists.NewAccessView(env.Metadata(types.NamespacedName{Namespace: namespace}), items, env.Clock.Now())
	if err := o.Print(env.Out, format.Printable{
		Document: v, Names: permissionNames(items),
		Table: func(w io.Writer) error { return ui.WriteAccess(w, v, o.List(env)) },
	}); err != nil {
		return err
	}
	if !v.Allowed {
		return exit.AnswerError{Code: exit.ExitNo}
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
func reviewAll(ctx context.Context, e *session.Env, namespace string, commands []declare.NeedsOf) ([]lists.PermissionView, error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	type question struct {
		session.Permission
		everywhere bool
	}
	answers := map[question]*bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(session.ParallelReviews)
	var items []lists.PermissionView
	for _, command := range commands {
		for _, n := range command.Needs {
			requested := question{n.Permission, n.Everywhere}
			if answers[requested] != nil {
				continue
			}
			allowed := new(bool)
			answers[requested] = allowed
			group.Go(func() (err error) {
				*allowed, err = session.Review(ctx, c, namespaceOf(n, namespace), n.Permission)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("check permissions: %w", err)
	}
	for _, command := range commands {
		for _, n := range command.Needs {
			item := view(n, command.Command, namespace)
			item.Allowed = *answers[question{n.Permission, n.Everywhere}]
			items = append(items, item)
		}
	}
	return items, nil
}

// namespaceOf returns where the permission is required; empty for cluster-wide.
func namespaceOf(n declare.Requirement, namespace string) string {
	if n.Everywhere {
		return ""
	}
	return namespace
}

// view returns what a command requires; whether it is allowed is left to the caller.
func view(n declare.Requirement, command, namespace string) lists.PermissionView {
	v := lists.PermissionView{
		Command: command, Verb: n.Verb, Resource: n.Path(),
		Required: n.Without == "", Without: n.Without,
	}
	if !n.Everywhere {
		v.Namespace = &namespace
	}
	return v
}
