package layout

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// IsCommand reports whether a hint is a command line to copy, and not a sentence.
func IsCommand(hint string) bool { return strings.HasPrefix(hint, "kubectl ") }

// Entry prints a text after its label, which may be empty or only an indentation. A command is
// printed such that it can be copied; other text is wrapped at words, and continues below its
// beginning. Where the width is unknown, as on a pipe, each text is one line: what reads lines, such as the
// runner of a pipeline, must not take a line of an error for one of its own.
func Entry(w io.Writer, label, text string) { fmt.Fprintln(w, Labeled(label, text, Width(w))) }

// Labeled returns what Entry prints within width cells, without the end of the last line.
func Labeled(label, text string, width int) string {
	label, text = cleanLine(label), Clean(text)
	if IsCommand(text) {
		return strings.Join(Command(label, text, width), "\n")
	}
	if width <= 0 {
		return label + oneLine(text, `\n`)
	}
	hang := hangOf(label, width)
	var all []string
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			label = strings.Repeat(" ", hang)
		}
		all = append(all, Wrap(label+line, width, hang)...)
	}
	return strings.Join(all, "\n")
}

// OneLine returns a text as one line where the width is unknown, as Entry does. On a terminal its other lines are
// indented.
func OneLine(w io.Writer, text string) string {
	if Width(w) <= 0 {
		return oneLine(text, `\n`)
	}
	return oneLine(text, "\n    ")
}

// Fprintf is fmt.Fprintf for lines of text: no argument begins a line of its own, whose ends in it are shown as "\n".
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case error:
			args[i] = inLine(arg.Error())
		case fmt.Stringer:
			args[i] = inLine(arg.String())
		default:
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
				args[i] = inLine(v.String())
			}
		}
	}
	return fmt.Fprintf(w, format, args...)
}

// Line prints a line as Fprintf does, and its end.
func Line(w io.Writer, format string, args ...any) { _, _ = Fprintf(w, format+"\n", args...) }

// inLine returns a text as a part of a line.
func inLine(text string) string { return oneLine(Clean(text), `\n`) }

func oneLine(text, end string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", end)
}

// hangOf returns where text after a label continues: below its beginning, unless too little of the
// line would be left.
func hangOf(label string, width int) int {
	if hang := Cells(label); hang*2 <= width {
		return hang
	}
	return indentOf(label) + 4
}

func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// Command returns a command line after its label as lines of at most width cells. What does not fit
// on one line is broken such that a shell reads the lines as that command: between words with " \",
// and inside a word that is too long with "\" at the end of the line.
func Command(label, command string, width int) []string {
	if width <= 0 || Cells(label)+Cells(command) <= width {
		return []string{label + command}
	}
	const more = " \\"
	hang := strings.Repeat(" ", min(indentOf(label)+4, width/2))
	line, empty := label, true
	var all []string
	for _, word := range withValues(shellWords(command)) {
		gap := " "
		if empty {
			gap = ""
		}
		if !empty && Cells(line)+1+Cells(word)+len(more) > width {
			all = append(all, line+more)
			line, gap = hang, ""
		}
		if Cells(line)+len(gap)+Cells(word)+len(more) <= width {
			line, empty = line+gap+word, false
			continue
		}
		pieces := splitWord(word, width-Cells(line)-len(gap)-len(more), width-len(more))
		pieces[0] = line + gap + pieces[0]
		all = append(all, pieces[:len(pieces)-1]...)
		line, empty = pieces[len(pieces)-1], false
	}
	return append(all, line)
}

// shellWords splits a command at blanks outside of quotes; the words keep their quotes.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	var q quoting
	for i := range len(command) {
		if command[i] == ' ' && q.quote == 0 && !q.escaped {
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		}
		q.read(command[i])
		word.WriteByte(command[i])
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// withValues joins a flag with the word after it, which usually is its value.
func withValues(words []string) []string {
	var all []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		if strings.HasPrefix(word, "-") && word != "--" && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			word += " " + words[i]
		}
		all = append(all, word)
	}
	return all
}

// quoting is how a shell reads the next character.
type quoting struct {
	quote   byte // ' or " inside of quotes, else 0
	escaped bool
}

func (q *quoting) read(c byte) {
	switch {
	case q.escaped:
		q.escaped = false
	case c == '\\' && q.quote != '\'':
		q.escaped = true
	case q.quote == 0 && (c == '\'' || c == '"'):
		q.quote = c
	case c == q.quote:
		q.quote = 0
	}
}

// splitWord splits a word of a command into lines: the first has room for first cells and the
// others for rest, besides the characters that continue a line. A shell reads what is joined by "\"
// and the end of a line as one word; inside of single quotes these are ended and begun again.
func splitWord(word string, first, rest int) []string {
	var pieces []string
	var piece strings.Builder
	var q quoting
	room := max(first, 4)
	for at := 0; at < len(word); {
		size, _ := glyph(word[at:])
		reserve := 1 // for the quote that ends it
		if Cells(piece.String())+Cells(word[at:at+size])+reserve > room && !q.escaped {
			end, begin := `\`, ""
			if q.quote == '\'' {
				end, begin = `'\`, "'"
			}
			pieces = append(pieces, piece.String()+end)
			piece.Reset()
			piece.WriteString(begin)
			room = rest
		}
		for _, c := range []byte(word[at : at+size]) {
			q.read(c)
		}
		piece.WriteString(word[at : at+size])
		at += size
	}
	return append(pieces, piece.String())
}
