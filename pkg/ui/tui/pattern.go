package tui

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// pattern is what a user searches for. The zero pattern is in every text.
type pattern struct {
	expression *regexp.Regexp
	// absent selects texts without it.
	absent bool
}

// patternOf returns the pattern of a regular expression, in which only a capital letter makes case
// count. A text that is none, such as one that is still being typed, stands for itself.
func patternOf(text string) pattern {
	if text == "" {
		return pattern{}
	}
	flags := ""
	if !strings.ContainsFunc(text, unicode.IsUpper) {
		flags = "(?i)"
	}
	expression, err := regexp.Compile(flags + text)
	if err != nil {
		expression = regexp.MustCompile(flags + regexp.QuoteMeta(text))
	}
	return pattern{expression: expression}
}

// filterOf returns the pattern of a filter of rows, whose "!" at the beginning selects those without it.
func filterOf(text string) pattern {
	text, absent := strings.CutPrefix(text, "!")
	p := patternOf(text)
	p.absent = absent && text != ""
	return p
}

// selects reports whether any of some texts has the pattern, or none of them where that is to be absent.
func (p pattern) selects(texts ...string) bool {
	if p.expression == nil {
		return true
	}
	return slices.ContainsFunc(texts, p.expression.MatchString) != p.absent
}

// marked returns a line with what matches highlighted.
func (p pattern) marked(l line) line {
	var all line
	for _, s := range l {
		at := 0
		for _, match := range p.expression.FindAllStringIndex(s.Text, -1) {
			if match[0] == match[1] {
				continue
			}
			all = append(all, span{Text: s.Text[at:match[0]], Tone: s.Tone}, span{Text: s.Text[match[0]:match[1]], Tone: paint.Found})
			at = match[1]
		}
		all = append(all, span{Text: s.Text[at:], Tone: s.Tone})
	}
	return all
}
