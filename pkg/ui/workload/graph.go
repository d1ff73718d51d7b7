package workload

import (
	"math"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

const (
	// courseLasts is the time that a course shows, courseCells its width.
	courseLasts = 10 * time.Minute
	courseCells = 30
	// halfHeight is how many heights a line of a course has.
	halfHeight = 8
	// farLimit is how many times as large as all values a limit may be to be the top of their scale: what is close to
	// nothing beside a limit would not be seen there.
	farLimit = 10
)

// moment is a sample and the cell of a course that it is in.
type moment struct {
	*Sample
	cell int
}

// lately returns the samples of the last ten minutes before the last one, which is in the last cell.
func lately(before []*Sample, last *Sample) []moment {
	all := []moment{{last, courseCells - 1}}
	for _, s := range before {
		if s == nil || s.asOf == nil || last.asOf == nil {
			continue
		}
		ago := last.asOf.Sub(*s.asOf)
		if cell := courseCells - 1 - int(ago*courseCells/courseLasts); ago >= 0 && cell >= 0 {
			all = append(all, moment{s, cell})
		}
	}
	return all
}

// highestOf returns the highest value in each cell of a course; nil for those in which it is unknown.
func highestOf(all []moment, value func(workload.Load) *float64) []*float64 {
	cells := make([]*float64, courseCells)
	for _, at := range all {
		keepHighest(cells, at.cell, value(at.load))
	}
	return cells
}

// busiest returns the same of the CPU of all processes, by their subject.
func busiest(all []moment) map[string][]*float64 {
	courses := map[string][]*float64{}
	for _, at := range all {
		for i, subject := range at.subjects {
			if courses[subject] == nil {
				courses[subject] = make([]*float64, courseCells)
			}
			keepHighest(courses[subject], at.cell, at.busy[i])
		}
	}
	return courses
}

func keepHighest(cells []*float64, i int, n *float64) {
	if n != nil && (cells[i] == nil || *n > *cells[i]) {
		cells[i] = n
	}
}

// axis is the scale of all figures that count the same, from 0 to top.
type axis struct {
	unit workload.Unit
	// least is the least top, so that little is drawn as little.
	least float64
	top   float64
}

// cover extends the axis to the values and the limit of a figure.
func (a *axis) cover(values []*float64, limit *float64) {
	highest := a.least
	for _, n := range values {
		if n != nil {
			highest = max(highest, *n)
		}
	}
	a.top = max(a.top, a.rounded(highest))
	if limit != nil && (a.least == 0 || *limit <= farLimit*a.top) {
		a.top = max(a.top, *limit)
	}
}

// rounded returns the next number of those that are 1, 2 or 5 times a power of ten, or that are a power of two bytes.
func (a *axis) rounded(n float64) float64 {
	switch {
	case n <= 0:
		return 0
	case a.unit == workload.Bytes:
		return math.Pow(2, math.Ceil(math.Log2(n)))
	}
	power := math.Pow(10, math.Floor(math.Log10(n)))
	for _, step := range []float64{1, 2, 5} {
		if n <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// graph is the course of a figure on its axis.
type graph struct {
	axis
	values []*float64
	limit  *float64
}

// cells returns the course in one line, its limit, and the top of its scale.
func (g graph) cells() []string {
	return []string{g.line(0, halfHeight), in(g.unit, g.limit, phrase.Nothing), in(g.unit, new(g.top), "")}
}

// tall returns the course in two lines, and what is beside its axis: the limit where it is, else the ends of the scale.
func (g graph) tall() Tall {
	limit := in(g.unit, g.limit, "")
	t := Tall{Lines: [2]string{g.line(halfHeight, 2*halfHeight), g.line(0, 2*halfHeight)}, Scale: [2]string{in(g.unit, new(g.top), ""), "0"}}
	for i, above := range []int{halfHeight, 0} {
		if g.hasLimit(above, 2*halfHeight) {
			t.Scale[i] = limit
		}
	}
	return t
}

// line returns the line of a course that is so many heights above 0, of all heights. Unknown values are blank, the least
// known one is not. The limit is marked on the axis, and crosses what two lines leave free.
func (g graph) line(above, heights int) string {
	bars := []rune(" ▁▂▃▄▅▆▇█")
	free, axis := ' ', "│"
	if g.hasLimit(above, heights) {
		axis = "┤"
		if heights > halfHeight {
			free = '╌'
		}
	}
	var b strings.Builder
	for _, n := range g.values {
		bar := ' '
		if n != nil {
			bar = bars[min(halfHeight, max(0, g.height(*n, heights)-above))]
		}
		if bar == ' ' {
			bar = free
		}
		b.WriteRune(bar)
	}
	return b.String() + axis
}

// hasLimit reports whether the limit is in a line.
func (g graph) hasLimit(above, heights int) bool {
	if g.limit == nil || *g.limit > g.top {
		return false
	}
	at := int(math.Ceil(*g.limit/g.top*float64(heights))) - above
	return at > 0 && at <= halfHeight
}

// height returns how high a value is drawn, at least 1.
func (g graph) height(n float64, heights int) int {
	if g.top <= 0 {
		return 1
	}
	return min(heights, max(1, int(math.Round(n/g.top*float64(heights)))))
}
