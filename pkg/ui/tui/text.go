package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// heading is over a section of a text.
func heading(text string) line { return sayLine(strong, text) }

// factWidth is where the values of facts begin.
const factWidth = 14

// fact is a name and its value.
func fact(name, value string) line { return factIn(plain, name, value) }

func factIn(t tone, name, value string) line {
	return line{say(faint, "  "+fit(name, factWidth)), say(t, value)}
}

// wrapped is a line in as many lines as it needs: what does not fit goes on below where
// its last piece began.
func wrapped(l line, width int) []line {
	if len(l) == 0 || widthOf(l.text()) <= width {
		return []line{l}
	}
	head, last := l[:len(l)-1], l[len(l)-1]
	indent := widthOf(head.text()) + blanksBefore(last.text)
	if indent > width/2 { // no room beside the head: all goes below each other
		head, last = nil, span{l.text(), last.tone}
		indent = min(4, width/4)
	}
	var lines []line
	text := strings.TrimLeft(last.text, " ")
	room := max(1, width-indent)
	for i, part := range wordsIn(text, room) {
		begin := line{{strings.Repeat(" ", indent), plain}}
		if i == 0 && head != nil {
			begin = append(slices.Clone(head), span{strings.Repeat(" ", blanksBefore(last.text)), plain})
		}
		lines = append(lines, append(begin, span{part, last.tone}))
	}
	return lines
}

// shortened is at most so many lines; that there are more shows at the end of the last, which
// is too long then, and is cut where it is drawn.
func shortened(lines []line, most int) []line {
	if len(lines) <= most {
		return lines
	}
	next := strings.TrimSpace(lines[most].text())
	lines = slices.Clone(lines[:most])
	last := slices.Clone(lines[most-1])
	last[len(last)-1].text += " " + next
	lines[most-1] = last
	return lines
}

// flowed are pieces in as many lines as they need, none broken in two; between each two of a
// line is a separator, and lines after the first begin further in.
func flowed(pieces []line, separator span, indent, width int) []line {
	var lines []line
	for _, piece := range pieces {
		n := len(lines)
		if n > 0 && widthOf(lines[n-1].text())+widthOf(separator.text)+widthOf(piece.text()) <= width {
			lines[n-1] = append(append(lines[n-1], separator), piece...)
			continue
		}
		if n > 0 {
			piece = append(line{{strings.Repeat(" ", indent), plain}}, piece...)
		}
		lines = append(lines, slices.Clone(piece))
	}
	return lines
}

// wordsIn is a text in lines of at most width columns, broken between words, and within
// words that are longer than a line.
func wordsIn(text string, width int) []string {
	var lines []string
	last, used := "", 0
	for word := range strings.FieldsSeq(text) {
		w := widthOf(word)
		if used > 0 && used+1+w <= width {
			last, used = last+" "+word, used+1+w
			continue
		}
		if used > 0 {
			lines = append(lines, last)
		}
		for w > width {
			begin := beginning(word, width)
			lines, word = append(lines, begin), word[len(begin):]
			w = widthOf(word)
		}
		last, used = word, w
	}
	return append(lines, last)
}

// beginning is as much of a word as fits, and one character at least.
func beginning(word string, width int) string {
	for w := width; ; w++ {
		if begin := ansi.Truncate(word, w, ""); begin != "" {
			return begin
		}
	}
}

func blanksBefore(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// commandLines are whole commands to copy, under a heading; none for none.
func commandLines(commands ...string) []line {
	if len(commands) == 0 {
		return nil
	}
	lines := []line{heading("Commands")}
	for _, c := range commands {
		lines = append(lines, sayLine(plain, "  "+c))
	}
	return lines
}
