package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
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
		"the widest one is cut first":   {19, []row{cells("storage-1", "-", "a long story of it", "", "7")}, []string{"storag…  a …      7"}},
		"wide characters keep columns":  {20, []row{cells("例え例え例え", "-", "全角文字全角文字", "", "7"), cells("b", "-", "c", "", "8")}, []string{"例…   -     全角…  7", "b     -     c      8"}},
		"IPv6 is cut as a word":         {38, []row{cells("[2001:db8::7:11]:4501", "-", "a long story of it", "", "7")}, []string{"[2001:db8…  -     a long …           7"}},
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

// jittered returns a frame of the cluster that lost a node, in which any value may be shorter or longer.
func jittered(r *rand.Rand) *frame.Frame {
	f := lost()
	age := func() *time.Time { return ago(time.Duration(1+r.Int64N(1<<r.IntN(18))) * time.Second) }
	bytes := func() *int64 { return new(r.Int64N(1 << (1 + r.IntN(45)))) }
	number := func() *float64 { return new(r.Float64() * float64(int(1)<<r.IntN(30))) }
	for i := range f.Groups.Items {
		g := &f.Groups.Items[i]
		for j := range g.Conditions {
			g.Conditions[j].Since = age()
		}
		if g.RemovalSince != nil {
			g.RemovalSince = age()
		}
		if g.Processes != nil && *g.Processes > 0 {
			g.UptimeSeconds, g.Roles = number(), []string{"coordinator", "cluster_controller", "log", "storage"}[r.IntN(4):]
		}
		g.StoredBytes, g.LagSeconds, g.Restarts = bytes(), number(), new(r.IntN(2000))
	}
	for i := range f.Exclusions.Items[:1] {
		d := &f.Exclusions.Items[i]
		d.LeftBytes, d.MovedBytes, d.RateBytesPerSecond, d.ETASeconds, d.StalledSeconds = bytes(), bytes(), number(), number(), number()
	}
	n := &f.Nodes.Items[2]
	n.TaintedSince, n.DetectAt, n.ReplaceAt, n.Coordinators = age(), ago(-time.Duration(r.IntN(9000))*time.Second), ago(-time.Duration(r.IntN(90000))*time.Second), r.IntN(3)
	for i := range f.Events.Items {
		e := &f.Events.Items[i]
		e.Time, e.First, e.Count, e.Message = *age(), *age(), 1+r.IntN(9999), strings.Repeat("words ", 1+r.IntN(40))
	}
	f.Locks.Items[0].Since = age()
	p := moving("storage-1")
	p.Since, p.LeftBytes, p.MovedBytes, p.RateBytesPerSecond, p.SoonestSeconds, p.LatestSeconds = age(), bytes(), bytes(), number(), number(), number()
	f.Operation = &inspect.OperationView{ID: "r7", Command: "replace sample storage-1", User: "alice@laptop", Since: age(), Active: true, Progress: reconcile.OperationProgress{
		Actions: r.IntN(5000), Replacements: []reconcile.Replacement{p, moving("storage-12345")}, ReplacementsTotal: 2,
	}}
	ended := age()
	f.Finished = []frame.FinishedRun{{ID: "r6", Run: inspect.Run{Command: "kubectl fdb restart sample --context lab", Typed: "kubectl fdb restart sample", User: "bob@desk", Reason: strings.Repeat("CHG-41 ", 1+r.IntN(9)), Since: ended.Add(-time.Duration(r.IntN(1e6)) * time.Millisecond), Until: *ended, Actions: r.IntN(5000)}}}
	for i := range f.Plan.Holds {
		f.Plan.Holds[i].Reason = strings.Repeat("words ", 1+r.IntN(40))
	}
	for i := range f.Plan.Forecast.Phases {
		f.Plan.Forecast.Phases[i].ToSeconds = float64(r.IntN(1 << (1 + r.IntN(17))))
	}
	f.Workload = underLoad(1)[0].Frame.Workload
	for i := range f.Workload.Processes {
		p := &f.Workload.Processes[i]
		p.CPUCores, p.DiskBusy, p.QueueBytes, p.DurabilityLagSeconds = number(), new(r.Float64()), bytes(), number()
	}
	f.Workload.Load.Transactions.CommittedPerSecond, f.Workload.Load.Latency.ReadSeconds = number(), number()
	return f
}

// Neither an ID is cut, nor a column narrower than what it is useful with, nor are there two with the same cells, nor do columns
// come and go while values change their length.
func TestTheColumnsOfAllViewsStayUsefulWhileValuesChange(t *testing.T) {
	frames := 300
	if testing.Short() { // as under the race detector, which finds nothing more in what runs alone
		frames = 3
	}
	for _, key := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "0"} {
		for _, width := range []int{80, 120, 180} {
			r, want := rand.New(rand.NewPCG(8, 9)), ""
			for i := range frames {
				m := pressed(shown(t, width, 50, Options{}, entry(jittered(r))), key)
				s := m.clusterView()
				p := m.page(s)
				p.fill(s)
				var titles []string
				for list, table := range p.layOutAll(panes.Of(width).List - markWidth) {
					shown, problems := judged(p, list, table)
					titles = append(titles, shown...)
					if len(problems) > 0 {
						t.Fatalf("view %s at %d columns: %s", key, width, problems)
					}
				}
				if got := strings.Join(titles, " "); want == "" {
					want = got
				} else if got != want {
					t.Fatalf("view %s at %d columns has\n%s\nafter %d frames with\n%s", key, width, got, i, want)
				}
			}
		}
	}
}

// judged returns the titles of a list of a view, and what is wrong with its columns.
func judged(p page, list int, t table) (titles, problems []string) {
	seen := map[string]string{}
	for at, column := range t.Shown {
		c, widest, values := t.columns[column], 0, ""
		for _, row := range p.rows {
			if row.list == list && row.key != "" {
				widest, values = max(widest, widthOf(row.cell(column))), values+row.cell(column)+"\n"
			}
		}
		useful := widest
		switch {
		case c.Min > 0:
			useful = min(widest, c.Min)
		case c.Typical > 0:
			useful = min(widest, c.Typical)
		case strings.Contains(values, " "): // sentences are cut, words are not
			useful = min(widest, 24)
		}
		if t.Widths[at] < useful {
			problems = append(problems, fmt.Sprintf("%s has %d cells, %d are useful", c.Name, t.Widths[at], useful))
		}
		if other, is := seen[values]; is && names(values) {
			problems = append(problems, c.Name+" has the cells of "+other)
		}
		seen[values], titles = c.Name, append(titles, c.Name)
	}
	return titles, problems
}

// names reports whether cells identify something: two columns that say yes and no may well say the same.
func names(cells string) bool {
	distinct := map[string]bool{}
	for cell := range strings.Lines(cells) {
		distinct[cell] = true
	}
	return len(distinct) > 3
}

// While exclusions cannot be read, the roles that are known keep their column, and the rows are marked as unknown.
func TestUnknownExclusionsDoNotPushOutTheRoles(t *testing.T) {
	f := lost()
	for i := range f.Groups.Items {
		f.Groups.Items[i].ID, f.Groups.Items[i].Exclusion = fmt.Sprintf("stateless-%d", 12345+i), inspect.ExclusionUnknown
		f.Groups.Items[i].RemovalSince = nil
	}
	view := shown(t, 120, 40, Options{}, entry(f)).View()
	if !strings.Contains(view, "ROLES") || !strings.Contains(view, "?  stateless-") || !strings.Contains(view, "unknown  ") {
		t.Error(view)
	}
}

// What repeats another column goes before any that does not, whatever their order.
func TestAColumnThatRepeatsAnotherGoesFirst(t *testing.T) {
	tests := map[string]struct {
		zones []string
		want  string
	}{
		"zones are nodes":    {[]string{"node-1", "node-2"}, "ID ZONE ROLES"},
		"zones are halls":    {[]string{"hall-1", "hall-1"}, "ID CLASS ZONE NODE"},
		"one zone is unread": {[]string{"node-1", "?"}, "ID CLASS ZONE NODE"},
	}
	columns := []layout.Column{{Name: "ID"}, {Name: "CLASS", Drop: 1, Repeats: "ID"}, {Name: "ZONE", Drop: 1}, {Name: "NODE", Drop: 1, Repeats: "ZONE"}, {Name: "ROLES", Drop: 2, Typical: 20}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var rows []row
			for i, zone := range tc.zones {
				id, class := fmt.Sprintf("storage-%d", i), "storage"
				if tc.zones[1] != "node-2" {
					id = "a-" + id // of a prefix, which no class is
				}
				r := row{key: id}
				for _, text := range []string{id, class, zone, fmt.Sprintf("node-%d", i+1), "storage"} {
					r.cells = append(r.cells, styled(plain, text))
				}
				rows = append(rows, r)
			}
			l := layOut(columns, rows, 40)
			var got []string
			for _, i := range l.Shown {
				got = append(got, columns[i].Name)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%v", got)
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
		"one is down":           {lost(), "4 nodes, 2 with problems", []string{"❯✗  node-3", " !  node-4", " ✓  node-1", " ✓  node-2"}},
		"one stopped reporting": {unresponsive, "4 nodes, 3 with problems", []string{"❯✗  node-2", " ✗  node-3", " !  node-4", " ✓  node-1"}},
		"they may not be read":  {hidden, "4 nodes, 4 unknown", []string{"❯?  node-1", " ?  node-2", " ?  node-3", " ?  node-4"}},
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
