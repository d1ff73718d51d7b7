package ui

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

// PlanLines returns a plan as WritePlan prints it on a terminal of a width.
func PlanLines(v planned.PlanView, width int) [][]TonedText {
	text := widthOnly{width: width}
	if err := WritePlan(&text, v, PlanOptions{Paint: Paint{Color: true}}); err != nil {
		return [][]TonedText{{{list.Bad, err.Error()}}}
	}
	return text.lines()
}
