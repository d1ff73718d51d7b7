package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/picture"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// exportFlags say how a recording is drawn.
type exportFlags struct {
	format string
	size   string
	keys   []string
}

// The formats of an export.
const (
	exportSVG  = "svg"
	exportHTML = "html"
	exportCast = "cast"
)

func exportFormats() []string { return []string{exportSVG, exportHTML, exportCast} }

// The sizes of a picture that make sense: smaller than a phone shows nothing, larger is a mistake.
const (
	minColumns, minRows = 20, 5
	maxColumns, maxRows = 400, 200
)

func (f *exportFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "export", "", "format in which to print what --replay shows: svg for its last moment, html or cast for all of it")
	flags.StringVar(&f.size, "size", "120x40", "columns and rows of --export")
	flags.StringSliceVar(&f.keys, "keys", nil, "comma-separated keys to press before --export, such as 2 or down,enter")
	complete.Flag(cmd, "export", exportFormats)
}

func (f exportFlags) given() bool { return f.format != "" }

func (f exportFlags) check(o ScreenOptions) error {
	switch {
	case !slices.Contains(exportFormats(), f.format):
		return exit.Usagef("--export must be one of %s, not %q", phrase.List(exportFormats()), f.format)
	case o.Replay == "":
		return exit.Usagef("--export requires --replay: record with --record first")
	case o.plain:
		return exit.Usagef("--export conflicts with --plain")
	}
	_, _, err := f.dimensions()
	return err
}

// dimensions returns the columns and rows of --size.
func (f exportFlags) dimensions() (columns, rows int, err error) {
	if n, err := fmt.Sscanf(f.size+"\n", "%dx%d\n", &columns, &rows); err != nil || n != 2 || columns < minColumns || columns > maxColumns || rows < minRows || rows > maxRows {
		return 0, 0, exit.Usagef("invalid --size %q: must be COLUMNSxROWS, from %dx%d to %dx%d", f.size, minColumns, minRows, maxColumns, maxRows)
	}
	return columns, rows, nil
}

// write prints the recording as a picture, a page or a cast.
func (f exportFlags) write(env *session.Env, o tui.Options) error {
	columns, rows, err := f.dimensions()
	if err != nil {
		return err
	}
	o.Color = env.Global.Color != session.ColorNever && env.Getenv("NO_COLOR") == ""
	shots, err := tui.Shots(o, columns, rows, f.keys)
	if err != nil {
		return exit.Usage(fmt.Errorf("--keys: %w", err))
	}
	out := layout.Raw(env.Out)
	switch f.format {
	case exportSVG:
		return picture.DrawSVG(out, shots[len(shots)-1].Screen)
	case exportHTML:
		return picture.DrawHTML(out, strings.Join(o.Clusters, ", "), shots)
	default:
		return picture.DrawCast(out, shots, columns, rows)
	}
}
