package phrase

import (
	"strings"
	"unicode"
)

// RunnerLine is what the runner of a pipeline has read of the present line of a stream. GitHub's runner obeys lines that begin
// with "::", after blanks; it and those of Azure and TeamCity obey "##[", "##vso[" and "##teamcity[" anywhere in a line. The zero
// value is the beginning of a line.
type RunnerLine struct {
	begun  bool // it has more than blanks
	colon  bool // it is one colon after blanks
	hashes int  // "#" at its end, or before the letters at its end
}

// Text returns text, which may continue a line, such that no runner finds a command in it: the character that completes the beginning of
// one is replaced.
func (l *RunnerLine) Text(text string, replace func(rune) string) string {
	if l.hashes == 0 && !l.colon && !strings.ContainsAny(text, "#:") {
		last := text[strings.LastIndexByte(text, '\n')+1:]
		l.begun = (l.begun && len(last) == len(text)) || strings.ContainsFunc(last, func(r rune) bool { return !isSkipped(r) })
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if l.completes(r) {
			b.WriteString(replace(r))
		} else {
			b.WriteRune(r)
		}
		l.read(r)
	}
	return b.String()
}

// completes reports whether a character after what was read makes it the beginning of a command.
func (l *RunnerLine) completes(r rune) bool { return r == ':' && l.colon || r == '[' && l.hashes > 1 }

func (l *RunnerLine) read(r rune) {
	switch {
	case r == '\n':
		*l = RunnerLine{}
		return
	case isIgnorable(r), !l.begun && unicode.IsSpace(r):
		return
	case r == '#':
		l.hashes++
	case r > unicode.MaxASCII || !unicode.IsLetter(r):
		l.hashes = 0
	}
	l.colon = r == ':' && !l.begun
	l.begun = true
}

// isIgnorable reports whether runners may skip a character when they compare text: marks, and joiners of words.
func isIgnorable(r rune) bool { return r == 0x200c || r == 0x200d || unicode.Is(unicode.Mn, r) }

func isSkipped(r rune) bool { return unicode.IsSpace(r) || isIgnorable(r) }
