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

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// docsOptions are the options of `kubectl fdb docs`.
type docsOptions struct{ dir, format, pages string }

// pagesOfRepository is where the pages are that the declarations of commands name.
const pagesOfRepository = "https://github.com/kubectl-fdb/kubectl-fdb/blob/main/docs"

var docsFormats = []string{"markdown", "man"}

// NewDocs returns the command `docs`.
func NewDocs(env *session.Env) *cobra.Command {
	var o docsOptions
	cmd := declare.Command(declare.Declaration{Effect: declare.Saves, Group: declare.Support, Pages: []string{"support.md#reference-pages-and-schemas"}, Local: true, NoStep: "it writes files of its own", Prints: "the path of a file"}, &cobra.Command{
		Use:   "docs --dir DIR",
		Short: "Generate a reference page per command",
		Long: `Generate a reference page per command from its --help, as Markdown or man pages. Existing
files of the same names are replaced. Man pages have the date of SOURCE_DATE_EPOCH, in
seconds, if that is set. No API server is contacted.`,
		Example: `  # Generate man pages
  kubectl fdb docs --dir man1 --format man`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(env, cmd.Root()) },
	})
	cmd.Flags().StringVar(&o.dir, "dir", "", "directory to write to; it is created if it does not exist")
	cmd.Flags().StringVar(&o.format, "format", "markdown", "format of the pages: markdown or man")
	cmd.Flags().StringVar(&o.pages, "pages", pagesOfRepository, "address of the directory with the other pages of the documentation, or its path from --dir, for links of Markdown pages")
	complete.Flag(cmd, "format", func() []string { return docsFormats })
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
	return os.WriteFile(filepath.Join(o.dir, markdownName(cmd)), []byte(o.markdownPage(cmd)), 0o644) //nolint:gosec // the pages are public
}

func markdownName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"
}

// markdownPage returns the reference page of a command. Global flags are on the page of the
// root command only, as in --help.
func (o docsOptions) markdownPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", cmd.CommandPath(), cmd.Short)
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n## Synopsis\n\n%s\n", fencedTables(cmd.Long))
	}
	if !cmd.HasParent() {
		o.writeOverview(&b, available(cmd))
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
	b.WriteString(o.markdownLinks(cmd))
	return b.String()
}

// markdownLinks returns links to the subcommands of a command, to its parent, and to what describes it.
func (o docsOptions) markdownLinks(cmd *cobra.Command) string {
	var b strings.Builder
	if !cmd.HasParent() {
		return ""
	}
	if children := available(cmd); len(children) > 0 {
		b.WriteString("\n## Commands\n\n")
		for _, child := range children {
			fmt.Fprintf(&b, "* [%s](%s): %s\n", child.CommandPath(), markdownName(child), child.Short)
		}
	}
	parent, root := cmd.Parent(), cmd.Root()
	b.WriteString("\n## See also\n\n")
	for _, link := range o.described(cmd) {
		fmt.Fprintf(&b, "* %s\n", link)
	}
	fmt.Fprintf(&b, "* [%s](%s): %s\n", parent.CommandPath(), markdownName(parent), parent.Short)
	fmt.Fprintf(&b, "* [Options of all commands](%s#options)\n", markdownName(root))
	return b.String()
}

// available returns the commands below a command that the help lists.
func available(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
}

// writeOverview writes a table of the commands of each group, with those below them.
func (o docsOptions) writeOverview(b *strings.Builder, commands []*cobra.Command) {
	for _, group := range declare.Groups() {
		fmt.Fprintf(b, "\n## %s\n\n| command | purpose | described in |\n|---|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range commands {
			if cmd.GroupID != group.ID {
				continue
			}
			name := named(cmd)
			var below []string
			for _, child := range available(cmd) {
				below = append(below, named(child))
			}
			if len(below) > 0 {
				name += ": " + strings.Join(below, ", ")
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", name, cmd.Short, strings.Join(o.described(cmd), ", "))
		}
	}
}

// named returns a link to the page of a command by its own name.
func named(cmd *cobra.Command) string {
	return fmt.Sprintf("[`%s`](%s)", cmd.Name(), markdownName(cmd))
}

// described returns links to the pages that describe a command: its own, or those of the command above it.
func (o docsOptions) described(cmd *cobra.Command) []string {
	var links []string
	for ; cmd != nil && len(links) == 0; cmd = cmd.Parent() {
		d, _ := declare.Of(cmd)
		for _, page := range d.Pages {
			name, _, _ := strings.Cut(page, ".md")
			links = append(links, fmt.Sprintf("[%s](%s/%s)", name, o.pages, page))
		}
	}
	return links
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
