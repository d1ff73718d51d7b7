package session

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// The width is read from the terminal itself, with every write; a file has none.
func TestOutputWidthIsReadFromTheTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	term := "xterm"
	getenv := func(name string) string { return map[string]string{"TERM": term}[name] }
	e := &Env{IOStreams: genericiooptions.IOStreams{Out: tty, ErrOut: io.Discard}, IsTerminal: printers.IsTerminal, Columns: columnsOf, Getenv: getenv}
	FitTerminal(e)
	if !e.IsTerminal(e.Out) || e.IsTerminal(e.ErrOut) || layout.Terminal(e.Out) != io.Writer(tty) {
		t.Error("a page does not stand for its stream")
	}
	for _, width := range []uint16{80, 200} {
		if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: width}); err != nil {
			t.Fatal(err)
		}
		if got := layout.Width(e.Out); got != int(width) {
			t.Errorf("width %d, want %d", got, width)
		}
	}
	if e.Footer == nil {
		t.Error("a terminal has no footer")
	}
	term = "dumb"
	dumb := &Env{IOStreams: genericiooptions.IOStreams{Out: tty, ErrOut: tty}, IsTerminal: printers.IsTerminal, Columns: columnsOf, Getenv: getenv}
	if FitTerminal(dumb); dumb.Footer != nil {
		t.Error("a terminal that cannot move its cursor has a footer")
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	e = &Env{IOStreams: genericiooptions.IOStreams{Out: file, ErrOut: file}, IsTerminal: printers.IsTerminal, Columns: columnsOf, Getenv: getenv}
	if FitTerminal(e); e.Footer != nil {
		t.Error("a file has a footer")
	}
	long := strings.Repeat("word ", 100)
	fmt.Fprint(e.Out, long)
	if text, err := os.ReadFile(file.Name()); err != nil || string(text) != long {
		t.Errorf("%v: %q", err, text)
	}
}
