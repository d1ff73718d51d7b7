package ui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// picture is a map that is fitted to a width.
type picture struct {
	Paint
	inspect.Map
	// label is the width of the titles of rows.
	label int
	// cell is the width of a process group: 2 with the fill of its disk, or 1; across is how many of a zone are beside
	// each other.
	cell, across int
	// column is the width of a zone, gap the blanks between two, and side how many are beside each other.
	column, gap, side int
	// names are those of the zones without what all have in common; nil where they have no room.
	names []string
	space workload.Rule
}

const (
	// mapHeight is the most lines that a map should have without its legend, which takes two at most.
	mapHeight = 10
	// mapWidth is the width of a map where nothing limits it.
	mapWidth = 80
	// longestZone is the width up to which names of zones are shown.
	longestZone = 16
)

// layOutMap fits a map to a width: the first way that is not too high, or else the lowest.
func layOutMap(m inspect.Map, paint Paint, width int) picture {
	var best picture
	for _, p := range waysToDraw(m, paint, width) {
		if p.height() <= mapHeight {
			return p
		}
		if best.side == 0 || p.height() < best.height() {
			best = p
		}
	}
	return best
}

// waysToDraw returns the pictures of a map that fit a width, the most readable first: with fills and names of zones,
// without names, without fills, and last with several bands of zones.
func waysToDraw(m inspect.Map, paint Paint, width int) []picture {
	names, common := shortZones(m.Zones)
	p := picture{Paint: paint, Map: m, names: names, label: 2 + max(layout.Cells(common), longestOf(classNames(m))), space: workload.RuleOf(workload.DiskSpace)}
	room := max(4, width-p.label)
	var ways []picture
	for _, cell := range []int{2, 1} {
		for _, gap := range []int{withNames, 1} {
			for across := p.most(); across > 0; across-- {
				if w := p.with(cell, across, gap); w.total(len(m.Zones)) <= room {
					ways = append(ways, w)
					break
				}
			}
		}
	}
	if w := p.with(1, 1, 0); w.total(len(m.Zones)) <= room {
		ways = append(ways, w)
	}
	bands := p.with(2, 1, withNames)
	bands.side = max(1, (room+bands.gap)/(bands.column+bands.gap))
	return append(ways, bands)
}

// withNames is the gap between zones that have their names above them; narrower ones have none.
const withNames = 2

// with returns the picture with process groups and gaps of a size.
func (p picture) with(cell, across, gap int) picture {
	p.cell, p.across, p.gap, p.side = cell, across, gap, max(1, len(p.Zones))
	if gap < withNames {
		p.names = nil
	}
	p.column = max(cell*across, longestOf(p.names))
	return p
}

func (p picture) total(zones int) int { return zones*p.column + (zones-1)*p.gap }

// most returns the number of process groups of the largest class of a zone.
func (p picture) most() int {
	most := 1
	for _, c := range p.Classes {
		most = max(most, mostOf(c.Zones))
	}
	return most
}

func mostOf(zones [][]inspect.GroupRow) int {
	most := 1
	for _, groups := range zones {
		most = max(most, len(groups))
	}
	return most
}

// height returns the number of lines without the legend.
func (p picture) height() int {
	lines := 1
	for _, c := range p.Classes {
		lines += (mostOf(c.Zones) + p.across - 1) / p.across
	}
	return lines * ((len(p.Zones) + p.side - 1) / max(1, p.side))
}

// zonesWord is above the titles of rows where all names of zones are whole.
const zonesWord = "zone"

// shortZones returns the names of zones without what they begin with in common, and that; an unknown zone is a mark.
func shortZones(zones []inspect.MapZone) (names []string, common string) {
	prefix := commonBeginning(zones)
	for _, z := range zones {
		name := phrase.VisibleLine(phrase.Or(strings.TrimPrefix(z.Name, prefix), phrase.UnknownCell))
		if z.Lost {
			name = " " + name // the place of the mark
		}
		names = append(names, layout.Cut(name, longestZone))
	}
	if prefix == "" {
		return names, zonesWord
	}
	return names, layout.Cut(phrase.VisibleLine(prefix), longestZone-1) + "*"
}

// commonBeginning returns what the names of several zones begin with, up to a separator.
func commonBeginning(zones []inspect.MapZone) string {
	prefix, seen := "", 0
	for _, z := range zones {
		if z.Name == "" {
			continue
		}
		if seen++; seen == 1 {
			prefix = z.Name
		}
		for !strings.HasPrefix(z.Name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if seen < 2 {
		return ""
	}
	return prefix[:strings.LastIndexAny(prefix, "-._/")+1]
}

func classNames(m inspect.Map) []string {
	names := make([]string, len(m.Classes))
	for i, c := range m.Classes {
		names[i] = phrase.VisibleLine(c.Name)
	}
	return names
}

func longestOf(names []string) int {
	longest := 0
	for _, name := range names {
		longest = max(longest, layout.Cells(name))
	}
	return longest
}
