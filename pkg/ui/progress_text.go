package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteProgress prints a line for each target that has changed, after the time of at, where that is
// not zero.
func WriteProgress(w io.Writer, at time.Time, before, now []inspect.Target) {
	for _, t := range now {
		if !slices.Contains(before, t) {
			label := fmt.Sprintf("%-27s  %-7s  ", t.ID, t.Phase)
			if t.Note == "" {
				label = strings.TrimRight(label, " ")
			}
			layout.Entry(w, stamp(at)+label, t.Note)
		}
	}
}

// stamp returns how a line begins that is written at a time, so that logs of several programs can be
// read side by side; nothing for the zero time.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("15:04:05Z") + "  "
}
