package session

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// FitTerminal guards the streams of the program, and makes all text that is written to those which are
// terminals fit their width, in signs that they have. What must not be wrapped is written to layout.Raw of the stream.
func FitTerminal(e *Env) {
	isTerminal := e.IsTerminal
	e.IsTerminal = func(stream any) bool {
		if w, ok := stream.(io.Writer); ok {
			stream = layout.Terminal(w)
		}
		return isTerminal(stream)
	}
	e.Out, e.ErrOut = pageOf(e, e.Out), pageOf(e, e.ErrOut)
	e.Footer = footerOf(e)
}

// footerOf returns the footer of the terminal that text is written to; nil where stdout is none, or
// one that cannot move its cursor.
func footerOf(e *Env) *layout.Footer {
	out, is := e.Out.(*layout.Page)
	if !is || e.Getenv("TERM") == "dumb" {
		return nil
	}
	terminal := layout.Terminal(out)
	footer := layout.NewFooter(terminal, func() int { return e.Columns(terminal) })
	footer.WithoutEcho(func() { setEcho(e.In, echoOff) }, func() { setEcho(e.In, echoOn) })
	out.Above(footer)
	if errs, is := e.ErrOut.(*layout.Page); is {
		errs.Above(footer)
	}
	if isASCII(e.Getenv) {
		footer.InASCII()
	}
	return footer
}

// echo is whether a terminal shows the keys that are typed. Signals of keys work without, too.
type echo int

const (
	echoOff echo = iota
	echoOn
)

func setEcho(stream any, to echo) {
	if file, ok := stream.(*os.File); ok {
		setEchoOf(int(file.Fd()), to)
	}
}

// pageOf returns a stream as a page if it is a terminal, else as a guard. The width is read with every
// write, since terminals are resized.
func pageOf(e *Env, stream io.Writer) io.Writer {
	if e.Columns == nil || !e.IsTerminal(stream) {
		return layout.Guarded(stream)
	}
	terminal := layout.Terminal(stream)
	page := layout.NewPage(terminal, func() int { return e.Columns(terminal) })
	if isASCII(e.Getenv) {
		page.InASCII()
	}
	return page
}

// columnsOf returns the width of a terminal.
func columnsOf(stream any) int {
	file, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Paint returns whether a stream gets colors, and pictures in other characters than ASCII.
func (e *Env) Paint(stream any) ui.Paint {
	return ui.Paint{Color: hasColors(e, stream), ASCII: isASCII(e.Getenv)}
}

func hasColors(e *Env, stream any) bool {
	switch {
	case e.Global.Color == ColorAlways:
		return true
	case e.Global.Color == ColorNever, e.Getenv("NO_COLOR") != "":
		return false
	case e.Getenv("CLICOLOR_FORCE") != "" && e.Getenv("CLICOLOR_FORCE") != "0":
		return true
	default:
		return e.IsTerminal(stream) && e.Getenv("TERM") != "dumb"
	}
}

// isASCII reports whether the locale has no UTF-8, or the font of the terminal few of its characters, as that of the
// Linux console. Without a locale, as in many containers, terminals are taken to be of this century.
func isASCII(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	utf8 := strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
	return locale != "" && !utf8 || getenv("TERM") == "linux"
}
