package tui

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	ui "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// loadPage shows the load of the database and of its processes, now and in the ten minutes before.
func loadPage(s clusterView) page {
	p := page{empty: "the load is unknown", columns: []layout.Column{{Name: " "}}, tall: s.tall}
	typical := map[string]int{"NOW": 8, "LIMIT": 7, "SCALE": 7, "DISK": 4, "QUEUE": 7, "LAG": 6}
	drop := map[string]int{"LAST-10M": 60, "LIMIT": 62, "SCALE": 65, "DISK": 70, "QUEUE": 80, "LAG": 90}
	for i, title := range ui.CourseColumns() {
		if !s.tall || i != ui.LimitCell {
			p.columns = append(p.columns, layout.Column{Name: title, Typical: typical[title], Drop: drop[title]})
		}
	}
	p.columns = append(p.columns, layout.Column{Name: diskBusy, Drop: 100})
	if v := s.snapshot().Workload; v != nil {
		p.summary = styledLine(map[workload.State]tone{workload.Fine: good, workload.NearLimit: warn, workload.Slow: bad, workload.StateUnknown: unsure}[v.State], v.Headline())
	}
	for _, c := range s.courses.upTo(s) {
		p.rows = append(p.rows, s.loadRow(c))
	}
	return p
}

func (s clusterView) loadRow(c ui.Course) row {
	t := map[workload.Effect]tone{workload.Slows: bad, workload.Near: warn, "": good}[c.Effect]
	if t == good && c.Unknown {
		t = unsure
	}
	r := row{key: c.Key, group: c.Group, tone: t, cells: []span{styled(t, t.Mark())}, more: func(s clusterView) []line { return s.aboutLoad(c) }}
	for i, cell := range c.Cells {
		switch {
		case s.tall && i == ui.CourseCell:
			r.cells = append(r.cells, styled(plain, c.Tall.Lines[1]), styled(plain, c.Tall.Scale[1]))
		case s.tall && (i == ui.LimitCell || i == ui.ScaleCell): // beside the course
		default:
			r.cells = append(r.cells, styled(plain, cell))
		}
	}
	if s.tall {
		r.above = append(make([]span, 1+ui.CourseCell), styled(plain, c.Tall.Lines[0]), styled(plain, c.Tall.Scale[0]))
	}
	r.cells = append(r.cells, diskBar(c.DiskBusy))
	return r
}

// drawnCourses are the courses up to a frame, which are drawn once.
type drawnCourses struct {
	frame *frame.Frame
	rows  []ui.Course
}

// upTo returns the courses up to what is displayed.
func (d *drawnCourses) upTo(s clusterView) []ui.Course {
	if d != nil && d.frame == s.frame && s.frame != nil {
		return d.rows
	}
	var before []*ui.Sample
	for _, at := range s.states {
		before = append(before, at.load)
	}
	rows := ui.Courses(before, s.snapshot().Workload)
	if d != nil {
		d.frame, d.rows = s.frame, rows
	}
	return rows
}

// diskBusy is the title of the bars of disks, which are as wide.
const diskBusy = "DISK-BUSY"

// diskBar shows how busy a disk is. What keeps no data, and what does not report it, has no bar.
func diskBar(busy *float64) span {
	if busy == nil {
		return styled(plain, "")
	}
	return styled(plain, blocks(*busy, len(diskBusy)))
}

func (s clusterView) aboutLoad(c ui.Course) []line {
	lines := []line{heading("Load of " + c.Cells[0]), fact("now", c.Cells[1])}
	for _, cause := range c.Causes {
		lines = append(lines, styledLine(warn, "  "+string(cause.Code)+": "+cause.Summary))
	}
	return append(append(lines, s.aboutGroup(c.Group)...), commandLines(s.o.fdb("top", s.cluster()), s.o.fdb("why", s.cluster(), "--performance"))...)
}
