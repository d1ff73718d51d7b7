package tui

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	ui "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// loadPage shows the load of the database and of its processes, now and in the frames before.
func loadPage(s clusterView) page {
	p := page{empty: "the load is unknown", columns: []layout.Column{{Name: " "}}}
	for _, title := range ui.CourseColumns() {
		p.columns = append(p.columns, layout.Column{Name: title, Drop: map[string]int{"DISK": 70, "QUEUE": 80, "LAG": 90}[title]})
	}
	p.columns = append(p.columns, layout.Column{Name: diskBusy, Drop: 100})
	var documents []*workload.View
	for i, at := range s.states {
		if i == 0 || at.frame != s.states[i-1].frame {
			documents = append(documents, at.frame.Workload)
		}
	}
	if v := s.snapshot().Workload; v != nil {
		p.summary = styledLine(map[workload.State]tone{workload.Fine: good, workload.NearLimit: warn, workload.Slow: bad, workload.StateUnknown: unsure}[v.State], v.Headline())
	}
	for _, c := range ui.Courses(documents) {
		t := map[workload.Effect]tone{workload.Slows: bad, workload.Near: warn, "": good}[c.Effect]
		if t == good && c.Unknown {
			t = unsure
		}
		r := row{key: c.Key, group: c.Group, tone: t, cells: []span{styled(t, t.Mark())}, more: func(s clusterView) []line { return s.aboutLoad(c) }}
		for _, cell := range c.Cells {
			r.cells = append(r.cells, styled(plain, cell))
		}
		r.cells = append(r.cells, diskBar(c.DiskBusy))
		p.rows = append(p.rows, r)
	}
	return p
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
