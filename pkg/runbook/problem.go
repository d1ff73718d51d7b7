package runbook

import (
	"cmp"
	"fmt"
	"slices"
)

// Problem is why a runbook is refused.
type Problem struct {
	// Line is the line of the file; 0 if the problem is not in the file, and -1 if it is in no single
	// field of it.
	Line int `json:"line,omitempty"`
	// Message is what is wrong, and what is valid.
	Message string `json:"message"`
}

// wholeFile is the Line of a problem in no single field; its message may have a line.
const wholeFile = -1

// Problems are all that is wrong with a runbook.
type Problems []Problem

func (p *Problems) addf(line int, layout string, args ...any) {
	*p = append(*p, Problem{line, fmt.Sprintf(layout, args...)})
}

// sorted returns the problems in the order of the file.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// In returns a problem with the name of its file.
func (p Problem) In(file string) string {
	switch p.Line {
	case 0:
		return p.Message
	case wholeFile:
		return file + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", file, p.Line, p.Message)
}
