package tools

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/schema"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// schemaOptions are the options of `kubectl fdb schema`.
type schemaOptions struct{ format.Flags }

// NewSchema returns the command `schema`.
func NewSchema(env *session.Env) *cobra.Command {
	var o schemaOptions
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Automation, Pages: []string{"scripting.md#rely-on-json"}, Local: true}, &cobra.Command{
		Use:   "schema [KIND]",
		Short: "Print the JSON schemas of the output",
		Long: `Print the JSON schemas (2020-12) of the output. Without KIND the kinds of documents are
listed. No API server is contacted.

Fields are added but never removed, so the schemas allow additional fields.`,
		Example: `  # List the kinds of documents
  kubectl fdb schema

  # Write the schema of status -o json
  kubectl fdb schema ClusterStatus > cluster-status.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(env, args) },
	})
	cmd.ValidArgs = kindNames()
	flags.Output(cmd, &o.Flags)
	return cmd
}

// AllKinds returns the kinds of documents of all packages by name.
func AllKinds() []ui.Kind {
	kinds := slices.Concat(ui.Kinds(), check.Kinds(), runbooks.Kinds(), workload.Kinds(), changes.Kinds(), orphans.Kinds(), rebuild.Kinds())
	slices.SortFunc(kinds, func(a, b ui.Kind) int { return strings.Compare(a.Name, b.Name) })
	return kinds
}

func kindNames() []string {
	var names []string
	for _, kind := range AllKinds() {
		names = append(names, kind.Name)
	}
	return names
}

func (o schemaOptions) run(env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	if len(args) == 0 {
		return o.list(env)
	}
	for _, kind := range AllKinds() {
		if strings.EqualFold(kind.Name, args[0]) {
			return o.describe(env, kind)
		}
	}
	return session.Unknown("kind", args[0], kindNames())
}

func (o schemaOptions) list(env *session.Env) error {
	v := ui.NewKindListView(inspect.Metadata{Tool: "kubectl-fdb " + session.Version, RunID: env.RunID}, AllKinds())
	return o.Print(env.Out, format.Printable{Document: v, Names: kindNames(), Table: func(w io.Writer) error {
		return ui.WriteKinds(w, v, o.List(env))
	}})
}

// describe prints JSON unless another format was requested: a schema has no table.
func (o schemaOptions) describe(env *session.Env, kind ui.Kind) error {
	n := kind.Schema(schema.Options{})
	return o.Print(env.Out, format.Printable{
		Document: n, Names: []string{kind.Name},
		Table: func(w io.Writer) error { return ui.WriteIndentedJSON(w, n) },
	})
}
