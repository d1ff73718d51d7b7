package layout

import "strings"

// Wrap returns a text as lines of at most width cells, broken between words. Lines after the first
// begin with hang blanks. A word that is wider than a line is broken after a comma, else after
// another separator, else anywhere; nothing is left out. Without a width it returns the text.
func Wrap(text string, width, hang int) []string { return wrapAfter(text, 0, width, hang) }

// Reflow returns paragraphs that were written for another width with lines of at most width cells.
// Lines that are indented, and paragraphs that fit, stay as they are.
func Reflow(text string, width int) string {
	var all, paragraph []string
	end := func() {
		if widest(paragraph) > width {
			paragraph = Wrap(strings.Join(paragraph, " "), width, 0)
		}
		all, paragraph = append(all, paragraph...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || indentOf(line) > 0 {
			end()
			all = append(all, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(all, "\n")
}

func widest(lines []string) int {
	n := 0
	for _, line := range lines {
		n = max(n, Cells(line))
	}
	return n
}

// wrapAfter wraps a text that continues a line of which some cells are used.
func wrapAfter(text string, used, width, hang int) []string {
	if width <= 0 || used+Cells(text) <= width {
		return []string{text}
	}
	l := lines{width: width, hang: min(hang, width/2), column: used, begun: used > 0}
	for text != "" {
		word := strings.TrimLeft(text, " ")
		gap := text[:len(text)-len(word)]
		end := strings.IndexByte(word, ' ')
		if end < 0 {
			end = len(word)
		}
		l.add(gap, word[:end])
		text = word[end:]
	}
	return append(l.done, l.line.String())
}

// lines are filled with words.
type lines struct {
	width, hang, column int
	begun               bool // the line has a word
	line                strings.Builder
	done                []string
}

func (l *lines) add(gap, word string) {
	if !l.begun && len(l.done) == 0 { // the indentation of the text itself
		gap = gap[:min(len(gap), l.width/2)]
	}
	if l.column+len(gap)+Cells(word) > l.width && l.begun {
		l.next()
		gap = ""
	}
	l.put(gap)
	for l.column+Cells(word) > l.width {
		size := cut(word, l.width-l.column)
		l.put(word[:size])
		word = word[size:]
		l.next()
	}
	l.put(word)
	l.begun = l.begun || word != ""
}

func (l *lines) put(text string) {
	l.line.WriteString(text)
	l.column += Cells(text)
}

func (l *lines) next() {
	l.done = append(l.done, strings.TrimRight(l.line.String(), " "))
	l.line.Reset()
	l.column, l.begun = 0, false
	l.put(strings.Repeat(" ", l.hang))
}

// cut returns the bytes of the longest good beginning of a word that fits into room cells; at
// least one character.
func cut(word string, room int) int {
	column, comma, separator, fits := 0, 0, 0, 0
	for at := 0; at < len(word); {
		size, wide := glyph(word[at:])
		if column+wide > room && fits > 0 {
			break
		}
		column, at = column+wide, at+size
		fits = at
		switch {
		case strings.ContainsAny(word[at-size:at], ",;"):
			comma = at
		case strings.ContainsAny(word[at-size:at], "/:-._=@?&(") && column*2 >= room:
			separator = at
		}
	}
	switch {
	case comma > 0:
		return comma
	case separator > 0:
		return separator
	}
	return fits
}
