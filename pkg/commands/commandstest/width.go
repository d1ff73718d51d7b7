package commandstest

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// OnTerminal runs a command on a terminal of a width, and returns all lines that are too long.
func (g *Given) OnTerminal(ctx context.Context, width int, args ...string) (code int, tooLong []string) {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	e := g.Environment()
	in := e.In
	e.IsTerminal = func(stream any) bool { return stream != any(in) }
	e.Columns = func(any) int { return width }
	code = commands.Run(ctx, e, args)
	for line := range strings.Lines(g.Out.String() + g.Err.String()) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > width {
			tooLong = append(tooLong, line)
		}
	}
	return code, tooLong
}

// ShowsWithin runs a command, whatever its answer, and fails where a line is wider than the terminal.
func (g *Given) ShowsWithin(width int, args ...string) {
	g.T.Helper()
	ctx, cancel := context.WithTimeout(g.T.Context(), time.Second) // a command that follows has shown enough then
	defer cancel()
	code, tooLong := g.OnTerminal(ctx, width, args...)
	if code == exit.ExitInternal || g.Out.Len()+g.Err.Len() == 0 {
		g.T.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, &g.Err)
	}
	if len(tooLong) > 0 {
		g.T.Errorf("%s: %d lines are wider than %d cells: %s", strings.Join(args, " "), len(tooLong), width, tooLong[0])
	}
	if os.Getenv("KFDB_SHOW") == strconv.Itoa(width) {
		g.T.Logf("%s\n%s%s", strings.Join(args, " "), &g.Out, &g.Err)
	}
}
