package ui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// PlanPiece is a part of a line of a plan.
type PlanPiece struct {
	Tone list.Tone
	Text string
}

// PlanLines returns a plan as WritePlan prints it on a terminal of a width.
func PlanLines(v planned.PlanView, width int) [][]PlanPiece {
	text := widthOnly{width: width}
	if err := WritePlan(&text, v, PlanOptions{Paint: Paint{Color: true}}); err != nil {
		return [][]PlanPiece{{{list.Bad, err.Error()}}}
	}
	var all [][]PlanPiece
	for line := range strings.Lines(text.String()) {
		var pieces []PlanPiece
		for _, p := range layout.Pieces(strings.TrimSuffix(line, "\n")) {
			pieces = append(pieces, PlanPiece{tones[p.SGR], p.Text})
		}
		all = append(all, pieces)
	}
	return all
}

// tones are those of colors.
var tones = map[string]list.Tone{bold: list.Strong, faint: list.Faint, red: list.Bad, green: list.Good, yellow: list.Warn}

// widthOnly is text for a width, with its styles.
type widthOnly struct {
	strings.Builder
	width int
}

// Width is the one that text has to fit, in cells.
func (w *widthOnly) Width() int { return w.width }
