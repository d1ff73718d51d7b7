package layout

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// mark begins the styles of this run of the program. Its number is random, so that no text of a cluster
// can contain one: whatever else looks like a style is shown, and not obeyed.
var mark = "\x1b[" + strconv.FormatUint(randomNumber(), 10) + ";"

// styles are the marked styles in a text, with their parameters.
var styles = regexp.MustCompile(regexp.QuoteMeta(mark) + `([0-9;]*)m`)

func randomNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// Styled returns text in a style, given as SGR parameters. Only a Guard turns it into what a terminal
// understands.
func Styled(sgr, text string) string { return mark + sgr + "m" + Clean(text) + mark + "0m" }

// Piece is a part of a text in one style.
type Piece struct {
	// SGR are the parameters of the style; empty for none.
	SGR  string
	Text string
}

// Pieces returns the parts of a text by the styles of Styled.
func Pieces(text string) (all []Piece) {
	add := func(sgr, part string) {
		if part != "" {
			all = append(all, Piece{sgr, part})
		}
	}
	sgr, last := "", 0
	for _, at := range styles.FindAllStringSubmatchIndex(text, -1) {
		add(sgr, text[last:at[0]])
		if sgr = text[at[2]:at[3]]; sgr == "0" {
			sgr = ""
		}
		last = at[1]
	}
	add(sgr, text[last:])
	return all
}

// Clean returns text as it may be shown: its secrets are hidden, and its control characters shown instead of sent,
// except for styles of Styled.
func Clean(text string) string { return visible(redact.Text(text)) }

func visible(text string) string {
	if !strings.Contains(text, mark) {
		return phrase.Visible(text)
	}
	var b strings.Builder
	last := 0
	for _, at := range styles.FindAllStringIndex(text, -1) {
		b.WriteString(phrase.Visible(text[last:at[0]]) + text[at[0]:at[1]])
		last = at[1]
	}
	return b.String() + phrase.Visible(text[last:])
}

var onOneLine = strings.NewReplacer("\n", " ", "\t", " ")

// cleanLine is Clean for what has one line, such as the cell of a table.
func cleanLine(text string) string {
	return onOneLine.Replace(Clean(text))
}

// Guard is a stream that leaves the program. It shows the control characters of all text and obeys
// none, except for the styles of this program, and no text in it is a command for the runner of a pipeline.
// It is safe for concurrent use.
type Guard struct {
	w     io.Writer
	inner bool // another guard follows
	asked bool // its text is what the user requested, secrets included

	mu      sync.Mutex
	pending []byte // the beginning of a character or style whose rest was not written yet
	line    phrase.RunnerLine
}

// Guarded returns a stream as a guard; itself if it is one already.
func Guarded(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *Guard, *Page:
		return w
	case relayed:
		return &Guard{w: w.Writer, inner: true}
	}
	return &Guard{w: w}
}

// Asked returns the stream below a page or a guard for what the user requested as it is: output of a program
// or a log, and manifests to apply. Its control characters are shown, and no secrets are hidden.
func Asked(w io.Writer) io.Writer {
	switch below := Raw(w).(type) {
	case *Guard:
		return &Guard{w: below.w, inner: below.inner, asked: true}
	case relayed:
		return &Guard{w: below.Writer, inner: true, asked: true}
	default:
		return &Guard{w: below, asked: true}
	}
}

// relayed is a stream whose text goes to another guard.
type relayed struct{ io.Writer }

// Relayed returns a stream for a command within a command: what is written to it, styles too, is written
// to a guard again.
func Relayed(w io.Writer) io.Writer { return relayed{w} }

// Write returns the length of text when all of it was written, or is a beginning that waits for its rest.
func (g *Guard) Write(text []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := append(g.pending, text...)
	g.pending = bytes.Clone(begun(all))
	if _, err := io.WriteString(g.w, g.shown(string(all[:len(all)-len(g.pending)]))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (g *Guard) shown(text string) string {
	if g.asked {
		text = visible(text)
	} else {
		text = Clean(text)
	}
	text = g.line.Text(text, func(r rune) string { return `\` + string(r) })
	if g.inner {
		return text
	}
	return styles.ReplaceAllString(text, "\x1b[${1}m")
}

// begun returns the end of text that is the beginning of a character, of a style or of the end of a line.
func begun(text []byte) []byte {
	if at := bytes.LastIndexByte(text, mark[0]); at >= 0 {
		if rest := string(text[at:]); strings.HasPrefix(mark, rest) || strings.HasPrefix(rest, mark) && !styles.MatchString(rest) && len(rest) < len(mark)+16 {
			return text[at:]
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if at := len(text) - n; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[at:]
			}
			break
		}
	}
	if bytes.HasSuffix(text, []byte("\r")) {
		return text[len(text)-1:]
	}
	return nil
}

// Terminal returns the stream itself below all pages and guards: for what draws a whole terminal, and for
// bytes that are no text.
func Terminal(w io.Writer) io.Writer {
	for {
		switch below := w.(type) {
		case *Page:
			w = below.w
		case *Guard:
			w = below.w
		default:
			return w
		}
	}
}
