package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
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
		Table: func(w io.Writer) error { return ui.WriteAccess(w, v, o.List(env, w)) },
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

// roleOptions are the options of `kubectl fdb auth role`.
type roleOptions struct {
	// secrets are the names of the Secrets that the second Role grants.
	secrets      []string
	commands     []string
	name         string
	requiredOnly bool
	output       string
}

var roleOutputs = []string{"yaml", "json"}

func newAuthRole(env *session.Env) *cobra.Command {
	o := roleOptions{}
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Local: true, Prints: "a manifest"}, &cobra.Command{
		Use:   "role COMMAND...",
		Short: "Print the minimal Role for commands",
		Long: `Print the minimal Role for commands, and a ClusterRole for resources that are not
namespaced or are read in all namespaces. The output is suitable for kubectl apply. Nothing
is changed, and no API server is contacted.

Access to Secrets is not in the Role, since whoever may read one also has its private key or
token: --secret prints a second Role, for these Secrets alone.`,
		Example: `  # Create the Role of a pipeline that reads and waits
  kubectl fdb auth role status wait | kubectl apply -f -

  # Print only the required permissions of a pass
  kubectl fdb auth role reconcile --required-only`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.commands = append(o.commands, args...)
			return o.run(env, cmd.Root())
		},
	})
	flags := cmd.Flags()
	flags.StringSliceVar(&o.commands, "for", nil, "comma-separated commands, equivalent to arguments; can be repeated")
	flags.StringVar(&o.name, "name", "kubectl-fdb", "name of the Role and the ClusterRole")
	flags.BoolVar(&o.requiredOnly, "required-only", false, "If true, omit optional permissions")
	flags.StringSliceVar(&o.secrets, "secret", nil, "comma-separated names of the Secrets with certificates to grant in a second Role, for commands that read some")
	flags.StringVarP(&o.output, "output", "o", "yaml", "output format: yaml or json")
	complete.FlagWith(cmd, "for", func(_ context.Context, cmd *cobra.Command, _ []string) []string { return namesWithNeeds(cmd.Root()) })
	complete.Flag(cmd, "output", func() []string { return roleOutputs })
	return cmd
}

func (o roleOptions) run(env *session.Env, root *cobra.Command) error {
	switch {
	case len(o.commands) == 0:
		return exit.Usagef("commands are required: one or more of %s", strings.Join(namesWithNeeds(root), ", "))
	case !slices.Contains(roleOutputs, o.output):
		return exit.Usagef("-o must be one of %s, not %q", strings.Join(roleOutputs, ", "), o.output)
	}
	commands, err := needsOf(root, o.commands)
	if err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	roles := o.roles(commands, namespace)
	if err := o.print(env, roles); err != nil {
		return err
	}
	for _, r := range roles {
		env.Logf("hint: %s", r.binding())
	}
	return nil
}

// role is the manifest of a Role or a ClusterRole.
type role struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   roleHead   `json:"metadata"`
	Rules      []roleRule `json:"rules"`
}

type roleHead struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

type roleRule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Verbs         []string `json:"verbs"`
}

// ofSecrets reports whether a permission reads Secrets, which no Role grants without their names.
func ofSecrets(p session.Permission) bool { return p.Group == "" && p.Resource == "secrets" }

// roles returns a Role for the namespace, and a ClusterRole if cluster-wide permissions are
// required.
func (o roleOptions) roles(commands []declare.NeedsOf, namespace string) []role {
	var here, everywhere []session.Permission
	secrets := false
	for _, command := range commands {
		for _, n := range command.Needs {
			switch {
			case ofSecrets(n.Permission):
				secrets = true
			case o.requiredOnly && n.Without != "":
			case n.Everywhere:
				everywhere = append(everywhere, n.Permission)
			default:
				here = append(here, n.Permission)
			}
		}
	}
	const version = "rbac.authorization.k8s.io/v1"
	roles := []role{{version, "Role", roleHead{o.name, namespace}, rulesFor(here)}}
	if len(everywhere) > 0 {
		roles = append(roles, role{version, "ClusterRole", roleHead{Name: o.name}, rulesFor(everywhere)})
	}
	if secrets && len(o.secrets) > 0 {
		roles = append(roles, role{version, "Role", roleHead{o.name + "-secrets", namespace}, []roleRule{{[]string{""}, []string{"secrets"}, o.secrets, []string{"get"}}}})
	}
	return roles
}

// rulesFor returns the fewest rules that grant exactly the permissions: resources of one group
// with the same verbs share a rule.
func rulesFor(powers []session.Permission) []roleRule {
	verbs := map[[2]string][]string{} // by group and resource
	for _, p := range powers {
		at := [2]string{p.Group, p.Within()}
		if !slices.Contains(verbs[at], p.Verb) {
			verbs[at] = append(verbs[at], p.Verb)
		}
	}
	var rules []roleRule
	for at, list := range verbs {
		stable.Sort(list, byVerb)
		i := slices.IndexFunc(rules, func(r roleRule) bool { return r.APIGroups[0] == at[0] && slices.Equal(r.Verbs, list) })
		if i < 0 {
			rules = append(rules, roleRule{APIGroups: []string{at[0]}, Resources: []string{at[1]}, Verbs: list})
			continue
		}
		rules[i].Resources = append(rules[i].Resources, at[1])
		slices.Sort(rules[i].Resources)
	}
	stable.Sort(rules, func(a, b roleRule) int {
		return cmp.Or(cmp.Compare(a.APIGroups[0], b.APIGroups[0]), cmp.Compare(a.Resources[0], b.Resources[0]))
	})
	return rules
}

// byVerb orders read verbs before write verbs.
func byVerb(a, b string) int {
	order := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
}

func (o roleOptions) print(env *session.Env, roles []role) error {
	if o.output == "json" {
		return ui.WriteIndentedJSON(env.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": roles})
	}
	for i, r := range roles {
		text, err := yaml.Marshal(r)
		if err != nil {
			return fmt.Errorf("print YAML: %w", err)
		}
		if i > 0 {
			fmt.Fprintln(layout.Raw(env.Out), "---")
		}
		if _, err := layout.Raw(env.Out).Write(text); err != nil {
			return fmt.Errorf("print YAML: %w", err)
		}
	}
	return nil
}

// binding returns the command that binds the role to a user.
func (r role) binding() string {
	kind, flag := "rolebinding", "--role="
	if r.Kind == "ClusterRole" {
		kind, flag = "clusterrolebinding", "--clusterrole="
	}
	words := []string{"kubectl create", kind, r.Metadata.Name, flag + r.Metadata.Name, "--user=USER"}
	if r.Metadata.Namespace != "" {
		words = append(words, "-n", r.Metadata.Namespace)
	}
	return strings.Join(words, " ")
}
