package commands

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// docsOptions are the options of `kubectl fdb docs`.
type docsOptions struct{ dir, format string }

var docsFormats = []string{"markdown", "man"}

func newDocs(env *Env) *cobra.Command {
	var o docsOptions
	cmd := &cobra.Command{
		Use:   "docs --dir DIR",
		Short: "Generate a reference page per command",
		Long: `Generate a reference page per command from its --help, as Markdown or man pages. Existing
files of the same names are replaced. No API server is contacted.`,
		Example: `  # Generate man pages
  kubectl fdb docs --dir man1 --format man`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(env, cmd.Root()) },
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "directory to write to; it is created if it does not exist")
	cmd.Flags().StringVar(&o.format, "format", "markdown", "format of the pages: markdown or man")
	complete(cmd, "format", func() []string { return docsFormats })
	return cmd
}

func (o docsOptions) run(env *Env, root *cobra.Command) error {
	switch {
	case o.dir == "":
		return usagef("--dir is required")
	case !slices.Contains(docsFormats, o.format):
		return usagef("--format must be one of %s, not %q", strings.Join(docsFormats, ", "), o.format)
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil { //nolint:gosec // the pages are public
		return usage(fmt.Errorf("creating the directory: %w", err))
	}
	root.DisableAutoGenTag = true // omit the generator's footer
	if err := o.write(env, root); err != nil {
		return usage(fmt.Errorf("writing pages: %w", err))
	}
	fmt.Fprintln(env.Out, o.dir)
	return nil
}

func (o docsOptions) write(env *Env, root *cobra.Command) error {
	if o.format == "markdown" {
		return doc.GenMarkdownTree(root, o.dir)
	}
	return doc.GenManTree(root, &doc.GenManHeader{
		Title: "KUBECTL-FDB", Section: "1", Source: "kubectl-fdb " + version,
		Manual: "kubectl fdb", Date: new(env.Clock.Now().UTC()),
	}, o.dir)
}
