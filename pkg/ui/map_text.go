package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Span is a piece of a line with a tone.
type Span struct {
	Text string
	Tone list.Tone
}

// MapLines draws process groups by class and zone, and what the symbols mean. Where there is room, disks are shown with
// how full they are; a width of 0 is that of a pipe.
func MapLines(m inspect.Map, p Paint, width int) [][]Span {
	if width == 0 {
		width = mapWidth
	}
	drawn := layOutMap(m, p, width)
	var lines [][]Span
	for begin := 0; begin < len(m.Zones); begin += drawn.side {
		lines = append(lines, drawn.band(begin, min(len(m.Zones), begin+drawn.side))...)
	}
	for i := range lines {
		lines[i] = withoutBlankEnd(lines[i])
	}
	return append(lines, drawn.legend(width)...)
}

// withoutBlankEnd returns a line without blanks at its end.
func withoutBlankEnd(line []Span) []Span {
	for n := len(line); n > 0; n-- {
		line[n-1].Text = strings.TrimRight(line[n-1].Text, " ")
		if line[n-1].Text != "" {
			return line[:n]
		}
	}
	return nil
}

// band draws some zones beside each other.
func (p picture) band(begin, end int) [][]Span {
	lines := [][]Span{p.titles(begin, end)}
	for _, c := range p.Classes {
		for line := range (mostOf(c.Zones[begin:end]) + p.across - 1) / p.across {
			title := ""
			if line == 0 {
				title = phrase.VisibleLine(c.Name)
			}
			spans := []Span{{fitCells(title, p.label), list.Faint}}
			for i := begin; i < end; i++ {
				spans = append(spans, p.groups(i, c.Zones[i], line)...)
			}
			lines = append(lines, spans)
		}
	}
	return lines
}

// titles returns the names of zones, with a mark on those that are lost.
func (p picture) titles(begin, end int) []Span {
	_, common := shortZones(p.Zones)
	if p.names == nil {
		common = zonesWord
	}
	spans := []Span{{fitCells(common, p.label), list.Faint}}
	for i := begin; i < end; i++ {
		name, tone := "", list.Strong
		if p.names != nil {
			name = p.names[i]
		}
		if p.Zones[i].Lost {
			name, tone = signDown.in(p.Paint)+strings.TrimPrefix(name, " "), list.Bad
		}
		spans = append(spans, Span{fitCells(name, p.column+p.gap), tone})
	}
	return spans
}

// groups draws a line of the process groups of a zone.
func (p picture) groups(zone int, all []inspect.GroupRow, line int) []Span {
	from, to := min(len(all), line*p.across), min(len(all), (line+1)*p.across)
	var spans []Span
	for _, g := range all[from:to] {
		tone := g.Tone
		if p.Zones[zone].Lost {
			tone = list.Bad
		}
		spans = append(spans, Span{signOf(g).in(p.Paint), tone})
		if p.cell == 2 {
			spans = append(spans, p.disk(g))
		}
	}
	return append(spans, Span{strings.Repeat(" ", p.column+p.gap-(to-from)*p.cell), list.Plain})
}

// disk draws how full the disk of a process group is; a blank where it has none, and where that is unknown.
func (p picture) disk(g inspect.GroupRow) Span {
	if g.SpaceUsed == nil {
		return Span{" ", list.Plain}
	}
	tone := map[workload.Effect]list.Tone{"": list.Faint, workload.Near: list.Warn, workload.Slows: list.Bad}[p.space.Effect(*g.SpaceUsed)]
	return Span{p.fill(*g.SpaceUsed), tone}
}

// legend counts the process groups by their symbols, and names lost zones.
func (p picture) legend(width int) [][]Span {
	counts, disks := map[*sign]int{}, false
	for _, c := range p.Classes {
		for _, g := range slices.Concat(c.Zones...) {
			counts[signOf(g)]++
			disks = disks || g.SpaceUsed != nil && p.cell == 2
		}
	}
	var pieces []Span
	for _, s := range signs {
		if n := counts[s]; n > 0 {
			pieces = append(pieces, Span{fmt.Sprintf("%s %d %s", s.in(p.Paint), n, s.meaning), list.Plain})
		}
	}
	if disks {
		pieces = append(pieces, Span{p.fill(0) + "-" + p.fill(1) + " disk used", list.Plain})
	}
	if lost := p.Lost(); len(lost) > 0 {
		pieces = append(pieces, Span{signDown.in(p.Paint) + " " + phrase.Either(len(lost), "zone", "zones") + " lost: " + phrase.VisibleLine(phrase.Some(lost, inspect.MostNamed)), list.Bad})
	}
	return flowedSpans(pieces, width)
}

// flowedSpans puts pieces into lines of at most a width.
func flowedSpans(pieces []Span, width int) [][]Span {
	separator := Span{" · ", list.Faint}
	var lines [][]Span
	used := 0
	for _, piece := range pieces {
		wide := layout.Cells(piece.Text)
		if n := len(lines); n > 0 && used+layout.Cells(separator.Text)+wide <= width {
			lines[n-1] = append(lines[n-1], separator, piece)
			used += layout.Cells(separator.Text) + wide
			continue
		}
		lines, used = append(lines, []Span{piece}), wide
	}
	return lines
}

// WriteMap prints a map in the width of its terminal.
func WriteMap(w io.Writer, m inspect.Map, p Paint) error {
	for _, line := range MapLines(m, p, layout.Width(w)) {
		var b strings.Builder
		for _, s := range line {
			b.WriteString(p.toned(s))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// toned colors a piece by its tone.
func (p Paint) toned(s Span) string {
	return p.as(s.Tone, s.Text)
}

// fitCells returns a text in exactly a width.
func fitCells(text string, width int) string {
	text = layout.Cut(text, width)
	return text + strings.Repeat(" ", max(0, width-layout.Cells(text)))
}

// sign is a symbol of the map.
type sign struct {
	// mark is the symbol, and ascii the one where the locale has no UTF-8.
	mark, ascii string
	meaning     string
}

// The signs of process groups, in the order of the legend.
var (
	signUp          = &sign{"●", "o", "up"}
	signCoordinator = &sign{"◆", "@", "up, coordinator"}
	signUnreachable = &sign{"◇", "%", "up, coordinator not reachable"}
	signCondition   = &sign{list.MarkWarn, "!", "up, with a condition"}
	signNew         = &sign{"○", "+", "new"}
	signDraining    = &sign{"◐", "~", "draining"}
	signDown        = &sign{list.MarkBad, "x", "down"}
	signUnknown     = &sign{phrase.UnknownCell, "?", "unknown"}
	signs           = []*sign{signUp, signCoordinator, signUnreachable, signCondition, signNew, signDraining, signDown, signUnknown}
)

// signOf returns the one sign of a process group.
func signOf(g inspect.GroupRow) *sign {
	switch g.State() {
	case inspect.GroupUp:
		return signOfUp(g)
	case inspect.GroupDraining:
		if g.Tone == list.Unsure {
			return signUnknown
		}
		return signDraining
	case inspect.GroupDown:
		return signDown
	case inspect.GroupNew:
		return signNew
	case inspect.GroupUnknown:
	}
	return signUnknown
}

// signOfUp returns the sign of a process group that is up. Its conditions, which only colors would show else, hide that
// it is a coordinator.
func signOfUp(g inspect.GroupRow) *sign {
	switch {
	case !ptr.Deref(g.CoordinatorReachable, true):
		return signUnreachable
	case g.Tone >= list.Warn:
		return signCondition
	case g.Tone == list.Unsure:
		return signUnknown
	case ptr.Deref(g.Coordinator, false):
		return signCoordinator
	default:
		return signUp
	}
}

// in returns the symbol.
func (s *sign) in(p Paint) string {
	if p.ASCII {
		return s.ascii
	}
	return s.mark
}

// fill returns how full a disk is, in a cell: an eighth per step, or the first digit of the percentage.
func (p Paint) fill(used float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	if p.ASCII {
		bars = []rune("0123456789")
	}
	return string(bars[min(len(bars)-1, max(0, int(used*float64(len(bars)))))])
}
