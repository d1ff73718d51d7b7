package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
)

// The titles and cells of a view are those that a command prints of the same document.
func TestTheDashboardShowsTheListsOfTheCommandLine(t *testing.T) {
	tests := map[string]struct {
		document func(f *frame.Frame) list.Document
		// same are columns that the view leaves out, since all rows have the same.
		same []string
	}{
		"groups":       {document: func(f *frame.Frame) list.Document { return f.Groups }},
		"nodes":        {document: func(f *frame.Frame) list.Document { return f.Nodes }},
		"exclusions":   {document: func(f *frame.Frame) list.Document { return f.Exclusions }},
		"coordinators": {document: func(f *frame.Frame) list.Document { return f.Coordinators }},
		"locks":        {document: func(f *frame.Frame) list.Document { return f.Locks }, same: []string{"CLUSTER"}},
		"events":       {document: func(f *frame.Frame) list.Document { return f.Events }},
		"backups":      {document: func(f *frame.Frame) list.Document { return shownBackups(*f.Backups) }, same: []string{"NAMESPACE", "CLUSTER"}},
	}
	undeclared := []string{"plan", "pass", "load"} // rows of several documents
	for _, f := range []*frame.Frame{well(), lost()} {
		for _, v := range views() {
			tc, declared := tests[v.name]
			if !declared {
				if !slices.Contains(undeclared, v.name) {
					t.Errorf("the view %s has no declared list", v.name)
				}
				continue
			}
			if f.Backups == nil && v.name == "backups" {
				continue
			}
			s := clusterView{state: state{frame: f}, now: noon, o: &Options{}}
			if got, want := shownRows(v.page(s), s), declaredRows(tc.document(f), tc.same); !slices.Equal(got, want) {
				t.Errorf("%s shows\n%s\nnot\n%s", v.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

type shownBackups inspect.ClusterBackupsView

func (v shownBackups) List() list.Table {
	return list.Of(inspect.BackupColumns, inspect.ClusterBackupsView(v).Items())
}

// shownRows returns the titles of a page, and its rows in any order.
func shownRows(p page, s clusterView) []string {
	p.fill(s)
	var titles, rows []string
	for _, c := range p.columns[1:] {
		titles = append(titles, c.Name)
	}
	for _, r := range p.rows {
		if r.list > 0 {
			continue
		}
		var cells []string
		for _, c := range r.cells[1:] {
			cells = append(cells, c.Text)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	slices.Sort(rows)
	return append([]string{strings.Join(titles, "|")}, rows...)
}

// declaredRows returns the same of a document.
func declaredRows(v list.Document, without []string) []string {
	l := v.List()
	l.Columns = list.Without(l.Columns, without...)
	var rows []string
	for i := range l.Rows {
		var cells []string
		for _, c := range l.Columns {
			cells = append(cells, drawn(c.Cell(list.At{Now: noon}, i)).Text)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	slices.Sort(rows)
	return append([]string{strings.Join(l.Titles(), "|")}, rows...)
}
