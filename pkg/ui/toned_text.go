package ui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// TonedText is a part of a line that a command prints, for the dashboard.
type TonedText struct {
	Tone list.Tone
	Text string
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

// lines returns what was written.
func (w *widthOnly) lines() [][]TonedText {
	var all [][]TonedText
	for line := range strings.Lines(w.String()) {
		var pieces []TonedText
		for _, p := range layout.Pieces(strings.TrimSuffix(line, "\n")) {
			pieces = append(pieces, TonedText{tones[p.SGR], p.Text})
		}
		all = append(all, pieces)
	}
	return all
}
