package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// docsOptions are the options of `kubectl fdb docs`.
type docsOptions struct{ dir, format string }

var docsFormats = []string{"markdown", "man"}

// NewDocs returns the command `docs`.
func NewDocs(env *session.Env) *cobra.Command {
	var o docsOptions
	cmd := &cobra.Command{
		Use:         "docs --dir DIR",
		Annotations: session.EffectSaves.Declare(),
		Short:       "Generate a reference page per command",
		Long: `Generate a reference page per command from its --help, as Markdown or man pages. Existing
files of the same names are replaced. Man pages have the date of SOURCE_DATE_EPOCH, in
seconds, if that is set. No API server is contacted.`,
		Example: `  # Generate man pages
  kubectl fdb docs --dir man1 --format man`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(env, cmd.Root()) },
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "directory to write to; it is created if it does not exist")
	cmd.Flags().StringVar(&o.format, "format", "markdown", "format of the pages: markdown or man")
	session.Complete(cmd, "format", func() []string { return docsFormats })
	return cmd
}

func (o docsOptions) run(env *session.Env, root *cobra.Command) error {
	switch {
	case o.dir == "":
		return exit.Usagef("--dir is required")
	case !slices.Contains(docsFormats, o.format):
		return exit.Usagef("--format must be one of %s, not %q", strings.Join(docsFormats, ", "), o.format)
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil { //nolint:gosec // the pages are public
		return exit.Usage(fmt.Errorf("create the directory: %w", err))
	}
	root.DisableAutoGenTag = true // omit the generator's footer
	// The default is a path of this machine.
	root.PersistentFlags().Lookup("cache-dir").DefValue = "$HOME/.kube/cache"
	if err := o.write(env, root); err != nil {
		return exit.Usage(fmt.Errorf("write pages: %w", err))
	}
	fmt.Fprintln(layout.Raw(env.Out), o.dir)
	return nil
}

func (o docsOptions) write(env *session.Env, root *cobra.Command) error {
	if o.format == "markdown" {
		return o.writeMarkdown(root)
	}
	return doc.GenManTree(root, &doc.GenManHeader{
		Title: "KUBECTL-FDB", Section: "1", Source: "kubectl-fdb " + session.Version,
		Manual: "kubectl fdb", Date: new(dateOfPages(env)),
	}, o.dir)
}

// dateOfPages returns the date in man pages: that of SOURCE_DATE_EPOCH, which reproducible
// builds set, else now.
func dateOfPages(env *session.Env) time.Time {
	if seconds, err := strconv.ParseInt(env.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	return env.Clock.Now().UTC()
}

// writeMarkdown writes the pages of a command and of all its subcommands.
func (o docsOptions) writeMarkdown(cmd *cobra.Command) error {
	for _, child := range cmd.Commands() {
		if !child.IsAvailableCommand() {
			continue
		}
		if err := o.writeMarkdown(child); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(o.dir, markdownName(cmd)), []byte(markdownPage(cmd)), 0o644) //nolint:gosec // the pages are public
}

func markdownName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"
}

// markdownPage returns the reference page of a command. Global flags are on the page of the
// root command only, as in --help.
func markdownPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", cmd.CommandPath(), cmd.Short)
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n## Synopsis\n\n%s\n", fencedTables(cmd.Long))
	}
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", cmd.UseLine())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAliases: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", withoutIndent(cmd.Example))
	}
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "\n## Options\n\n```\n%s```\n", flags.FlagUsages())
	}
	b.WriteString(markdownLinks(cmd))
	return b.String()
}

// markdownLinks returns links to the parent and to the subcommands of a command.
func markdownLinks(cmd *cobra.Command) string {
	var b strings.Builder
	for i, child := range slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() }) {
		if i == 0 {
			b.WriteString("\n## Commands\n\n")
		}
		fmt.Fprintf(&b, "* [%s](%s): %s\n", child.CommandPath(), markdownName(child), child.Short)
	}
	if cmd.HasParent() {
		parent, root := cmd.Parent(), cmd.Root()
		fmt.Fprintf(&b, "\n## See also\n\n* [%s](%s): %s\n", parent.CommandPath(), markdownName(parent), parent.Short)
		fmt.Fprintf(&b, "* [Options of all commands](%s#options)\n", markdownName(root))
	}
	return b.String()
}

// fencedTables fences the paragraphs of a help text that are indented, so that their lines
// and columns stay.
func fencedTables(text string) string {
	blocks := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, block := range blocks {
		if strings.HasPrefix(block, "  ") {
			blocks[i] = "```\n" + withoutIndent(block) + "\n```"
		}
	}
	return strings.Join(blocks, "\n\n")
}

// withoutIndent removes the indentation that the first line of a text has from all lines.
func withoutIndent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
	}
	return strings.Join(lines, "\n")
}
