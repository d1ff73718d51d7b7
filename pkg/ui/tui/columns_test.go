package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

func TestDashboardColumnsAreDroppedAndCutToTheWidth(t *testing.T) {
	columns := []layout.Column{{Name: "ID", Min: 4}, {Name: "EXCL", Drop: 1}, {Name: "WHAT", Min: 5}, {Name: "NODE", Min: 6, Drop: 2}, {Name: "N", Right: true}}
	cells := func(texts ...string) row {
		r := row{key: texts[0]}
		for _, text := range texts {
			r.cells = append(r.cells, styled(plain, text))
		}
		return r
	}
	tests := map[string]struct {
		width int
		rows  []row
		want  []string
	}{
		"there is room":                 {120, []row{cells("storage-1", "-", "well", "node-1", "7")}, []string{"storage-1  -     well  node-1  7"}},
		"a column that gives way":       {19, []row{cells("storage-1", "-", "well", "node-1", "7")}, []string{"storage-1  well  7"}},
		"one without information":       {24, []row{cells("storage-1", "-", "well", "", "7")}, []string{"storage-1  -     well  7"}},
		"one with information in a row": {80, []row{cells("a", "-", "x", "", "7"), cells("b", "safe", "x", "", "10")}, []string{"a   -     x            7", "b   safe  x           10"}},
		"the widest one is cut first":   {19, []row{cells("storage-1", "-", "a long story of it", "", "7")}, []string{"storag…  a long…  7"}},
		"wide characters keep columns":  {20, []row{cells("例え例え例え", "-", "全角文字全角文字", "", "7"), cells("b", "-", "c", "", "8")}, []string{"例…   -     全角…  7", "b     -     c      8"}},
		"IPv6 is cut as a word":         {38, []row{cells("[2001:db8::7:11]:4501", "-", "a long story of it", "", "7")}, []string{"[2001:db8…  -     a long sto…        7"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := layOut(columns, tc.rows, tc.width)
			for i, r := range tc.rows {
				got := l.draw(paint.New(false), r, tc.width)
				if got != tc.want[i] {
					t.Errorf("\n%q, not\n%q", got, tc.want[i])
				}
				if widthOf(got) > tc.width || strings.HasSuffix(got, " ") {
					t.Errorf("%q in %d columns", got, tc.width)
				}
			}
		})
	}
}

func TestLongLinesWrapBelowTheirValue(t *testing.T) {
	tests := map[string]struct {
		line  line
		width int
		want  []string
	}{
		"it fits":               {fact("node", "node-1"), 40, []string{"  node          node-1"}},
		"under its value":       {fact("why", "one two three four"), 33, []string{"  why           one two three", "                four"}},
		"no room beside a name": {fact("why", "one two three"), 18, []string{"    why one two", "    three"}},
		"a word that is longer": {styledLine(plain, "  abcdefghij"), 8, []string{"  abcdef", "  ghij"}},
		"wide characters":       {styledLine(plain, "例え例え"), 5, []string{"例え", "例え"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range wrapped(tc.line, tc.width) {
				got = append(got, l.Text())
			}
			if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestALongSummaryKeepsTheHeaderHeightAndEndsWithAnEllipsis(t *testing.T) {
	f := lost()
	f.Status.Summary = strings.Repeat("zone-3 does not report; ", 20)
	head := shown(t, 80, 24, Options{}, entry(f)).header(clusterView{state: state{frame: f}, now: noon, o: &Options{}})
	if len(head) != 7 || !strings.HasSuffix(head[2], "…") {
		t.Errorf("%d lines: %q", len(head), head)
	}
}

// The narrowest terminal shows the worst condition of a process group, with its age.
func TestTheWorstConditionShowsFirst(t *testing.T) {
	f := lost()
	f.Groups.Items[0].Conditions = []inspect.ConditionView{
		{Type: "ProcessIsMarkedAsExcluded", Since: new(noon.Add(-99 * time.Second))},
		{Type: "MissingProcesses", Since: new(noon.Add(-88 * time.Second))},
	}
	view := shown(t, 80, 24, Options{}, entry(f)).View()
	if !strings.Contains(view, "MissingProcesses(88s)") || strings.Contains(view, "ProcessIsMarkedAsExc") {
		t.Error(view)
	}
}

func TestDashboardListsNodesWithProblemsFirst(t *testing.T) {
	unresponsive, hidden := lost(), lost()
	unresponsive.Nodes.Items[1].Ready = nil
	for i := range hidden.Nodes.Items {
		hidden.Nodes.Items[i] = inspect.NodeView{Name: hidden.Nodes.Items[i].Name}
	}
	tests := map[string]struct {
		frame *frame.Frame
		want  string
		rows  []string
	}{
		"one is down":           {lost(), "4 nodes, 2 with problems", []string{"▸✗  node-3", " !  node-4", " ✓  node-1", " ✓  node-2"}},
		"one stopped reporting": {unresponsive, "4 nodes, 3 with problems", []string{"▸✗  node-2", " ✗  node-3", " !  node-4", " ✓  node-1"}},
		"they may not be read":  {hidden, "4 nodes, 4 unknown", []string{"▸?  node-1", " ?  node-2", " ?  node-3", " ?  node-4"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 80, 24, Options{}, entry(tc.frame)), "2").View()
			for _, want := range append([]string{tc.want}, tc.rows...) {
				before, after, found := strings.Cut(view, want)
				if !found {
					t.Fatalf("no %q after\n%s", want, before)
				}
				view = after
			}
		})
	}
}
