package tui

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/metrics"
)

// silenced are facts of a healthy cluster, some of which are unknown or bad.
func silenced(t *testing.T, r *rand.Rand) (inspect.Facts, []string) {
	t.Helper()
	g := inspecttest.Healthy(t)
	f := inspect.Facts{Snapshot: g.Snapshot, Gaps: g.Gaps, Desired: g.Desired, Lease: inspect.Lease{Read: true}}
	f.Coordination = plan.CoordinationFacts{Read: true, ExclusionsRead: true}
	f.Cluster.Spec.LockOptions.DisableLocks = new(r.IntN(2) == 0)
	f.Nodes = map[string]*corev1.Node{}
	for _, pod := range f.Pods {
		f.Nodes[pod.Spec.NodeName] = readyNode(pod.Spec.NodeName, corev1.ConditionTrue)
	}
	silent := func(d plan.DatabaseFacts) func() {
		return func() { f.Database, f.Coordination = d, plan.CoordinationFacts{} }
	}
	var did []string
	edits := map[string]func(){
		"the database does not answer": silent(plan.DatabaseFacts{Unreachable: "a timeout"}),
		"the database was not queried": silent(plan.DatabaseFacts{NotQueried: "no pod runs"}),
		"no quorum answers":            silent(plan.DatabaseFacts{Status: inspecttest.WithoutQuorum(t).Snapshot.Database.Status, AsOf: noon}),
		"the document is incomplete":   silent(plan.DatabaseFacts{Unreachable: "incomplete", Partial: inspecttest.Recorded(t, "05-healthy"), AsOf: noon}),
		"nodes may not be read":        func() { f.Nodes, f.NodesHidden = nil, "forbidden" },
		"nodes do not report":          func() { f.Nodes["node-1"] = readyNode("node-1", corev1.ConditionUnknown) },
		"a node was deleted":           func() { f.Nodes["node-2"] = nil },
		"the Lease was not read":       func() { f.Lease = inspect.Lease{} },
		"the lock was not read":        func() { f.Coordination = plan.CoordinationFacts{} },
		"a pod is missing":             func() { delete(f.Pods, f.Groups()[r.IntN(12)].PodName(f.Cluster)) },
		"a condition was recorded": func() {
			f.Groups()[r.IntN(12)].SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Hour))
		},
		"a group is removed": func() { f.Groups()[r.IntN(12)].MarkForRemoval(noon.Add(-time.Minute)) },
	}
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		if r.IntN(3) == 0 && (f.Nodes != nil || !strings.Contains(name, "node")) {
			edits[name]()
			did = append(did, name)
		}
	}
	return f, did
}

func readyNode(name string, ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
	}
}

// framed makes a frame; the events were read in half of all.
func framed(f inspect.Facts, events bool) *frame.Frame {
	m := inspect.Metadata{Cluster: "sample", Namespace: "fdb"}
	in := frame.Input{Facts: f, History: &inspect.DrainHistory{}, Sources: []frame.Source{frame.NewSource(frame.SourceOfKubernetes, noon, time.Time{}, "")}}
	if events {
		in.Sources = append(in.Sources, frame.NewSource(frame.SourceOfEvents, noon, time.Time{}, ""))
	}
	doc := inspect.Document{AsOf: ago(time.Minute)}
	in.Plan, in.Why = &planned.PlanView{Document: doc}, &why.Report{Document: doc, State: why.Ready} // a preview of a time when all was well
	v := frame.NewFrame(m, in)
	return &v
}

// knowledge is what of the facts is known, by the facts alone.
type knowledge struct {
	inspect.Facts
	processes, conditions, exclusions, nodes, coordinators, lock, events bool
}

func knownOf(f inspect.Facts, events bool) knowledge {
	return knowledge{
		Facts: f, processes: f.Database.Status.ListsProcesses(), conditions: f.Database.Available(), exclusions: f.Database.Status.ListsProcesses() || f.Coordination.ExclusionsRead,
		nodes: f.NodesHidden == "", coordinators: f.CoordinatorDocument() != nil, lock: f.Coordination.Read, events: events,
	}
}

// isNodeKnown reports whether a node is known to be ready or not.
func (k knowledge) isNodeKnown(name string) bool {
	node := k.Nodes[name]
	return k.nodes && (node == nil || node.Status.Conditions[0].Status != corev1.ConditionUnknown)
}

// unknownCells are the columns of each list whose cells are unknown, by the key of the row.
func (k knowledge) unknownCells(l, key string) []string {
	var titles []string
	add := func(unknown bool, of ...string) {
		if unknown {
			titles = append(titles, of...)
		}
	}
	switch l {
	case "groups":
		add(!k.conditions, "CONDITIONS")
		add(!k.processes, "ROLES", "UPTIME", "DC")
		add(!k.processes && strings.HasPrefix(key, "storage"), "DATA", "LAG")
		add(!k.exclusions, "EXCLUSION")
	case "nodes":
		add(!k.nodes, "READY", "CORDONED", "TAINTS", "DETECT-IN")
	case "coordinators":
		add(!k.coordinators, "REACHABLE")
	case "exclusions":
		add(!k.processes, "ROLES", "LEFT", "PROGRESS", "STATE")
	case "locks":
		add(!k.lock, "OWNER", "STATE", "LEFT")
	case "clusters":
		add(k.Database.Status == nil, "STATE", "AVAILABLE", "TOLERANCE")
		add(!k.lock && k.Cluster.LocksUsed(), "LOCK")
	}
	return titles
}

// isFine reports whether the facts prove that a row is good.
func (k knowledge) isFine(l, key string) bool {
	switch l {
	case "groups":
		return k.conditions && k.processes && k.exclusions
	case "nodes":
		return k.isNodeKnown(key)
	case "coordinators":
		return k.coordinators
	case "exclusions":
		return k.processes
	case "locks":
		return k.lock
	case "events":
		return k.events
	default:
		return true
	}
}

// saysUnknown reports whether a cell shows that its value is unknown.
func saysUnknown(text string) bool {
	return slices.ContainsFunc([]string{"?", "unknown", "not-reporting", "not-checked", "unverified"}, func(word string) bool { return strings.Contains(text, word) })
}

// claims are the words of a good state that nothing unknown may have.
var claims = []string{markGood, "no conditions", "nothing blocks", "0 with problems", "no events", "0 events"}

func claimIn(lines ...line) string {
	for _, l := range lines {
		for _, claim := range claims {
			if strings.Contains(l.Text(), claim) {
				return l.Text()
			}
		}
		for _, s := range l {
			if s.Tone == good {
				return "green " + l.Text()
			}
		}
	}
	return ""
}

// dishonest returns what of a frame shows something unknown as good; empty for nothing.
func dishonest(k knowledge, f *frame.Frame) string {
	if wrong := dishonestLists(k, f); wrong != "" {
		return wrong
	}
	s := clusterView{state: state{frame: f}, now: noon, o: &Options{}}
	for _, v := range views() {
		p := v.page(s)
		p.fill(s)
		kept := choice{problem: true}.keep(p.rows)
		for _, r := range p.rows {
			switch {
			case r.key == "" || k.isFine(v.name, r.key):
				continue
			case r.tone == good || !slices.ContainsFunc(kept, func(o row) bool { return o.key == r.key }):
				return fmt.Sprintf("view %s: row %s in tone %d, only problems %d", v.name, r.key, r.tone, len(kept))
			}
			if text := claimIn(p.head(1000)...); text != "" {
				return fmt.Sprintf("view %s with row %s: %s", v.name, r.key, text)
			}
			if v.name == "groups" {
				if text := claimIn(append(s.aboutGroup(r.key), s.whyLines(r.key, 100, heading("Why"))...)...); text != "" {
					return fmt.Sprintf("details of %s: %s", r.key, text)
				}
			}
		}
	}
	if text := claimIn(eventsPage(s).head(1000)[0], line{{Text: strings.Join(linesOf(s.eventLines("x")), " ")}}); !k.events && text != "" {
		return "events: " + text
	}
	if text := claimIn(s.stateLine()); (k.Database.Status == nil || f.Status.Database.Replicas == nil) && text != "" {
		return "header: " + text
	}
	if text := s.lockText(); !k.lock && text == "free" {
		return "the lock is " + text
	}
	return ""
}

func linesOf(lines []line) []string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text()
	}
	return texts
}

// dishonestLists checks the lists that commands print.
func dishonestLists(k knowledge, f *frame.Frame) string {
	for name, v := range map[string]list.Document{
		"groups": f.Groups, "nodes": f.Nodes, "coordinators": f.Coordinators, "exclusions": f.Exclusions, "locks": f.Locks,
		"clusters": inspect.NewStatusListView(f.Metadata, noon, []inspect.StatusView{f.Status}),
	} {
		table := v.List()
		id := table.Columns[0]
		if c, has := table.Column("ID"); has && name != "coordinators" {
			id = c
		}
		for i := range table.Rows {
			for _, c := range table.Columns {
				if cell := c.Cell(list.At{Now: noon}, i); (cell.Text == phrase.Nothing) != (cell.Value == list.Absent) || (cell.Text == phrase.UnknownCell) != (cell.Value == list.Unknown) {
					return fmt.Sprintf("list %s, %s: %q has the value %d", name, c.Title, cell.Text, cell.Value)
				}
			}
			key := id.Cell(list.At{Now: noon}, i).Text
			for _, title := range k.unknownCells(name, key) {
				c, has := table.Column(title)
				if !has {
					return fmt.Sprintf("list %s has no column %s", name, title)
				}
				if cell := c.Cell(list.At{Now: noon}, i); cell.Tone == good || !saysUnknown(cell.Text) {
					return fmt.Sprintf("list %s, %s of %s: %q in tone %d", name, title, key, cell.Text, cell.Tone)
				}
			}
		}
	}
	return ""
}

// dishonestNews returns a line about the end of something of which nothing is known.
func dishonestNews(k knowledge, lines []string) string {
	for _, l := range lines {
		switch {
		case !k.conditions && strings.Contains(l, "no longer Missing"),
			!k.lock && strings.Contains(l, "lock: free"),
			!k.Lease.Read && strings.Contains(l, "Lease: free"),
			!k.coordinators && strings.Contains(l, "answers again") && strings.Contains(l, "coordinator"),
			!k.processes && strings.Contains(l, "exclusion ended"):
			return l
		}
	}
	return ""
}

// dishonestMetrics returns a series of something unknown.
func dishonestMetrics(t *testing.T, k knowledge) string {
	t.Helper()
	m := metrics.NewObserved("sample", "fdb", func() time.Time { return noon })
	m.Report(reconcile.Observed{Facets: ^plan.Facet(0), Snapshot: k.Snapshot})
	var b bytes.Buffer
	if err := m.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	unknown := map[string]bool{
		"kubectl_fdb_database_available{":            k.Database.Status == nil,
		"kubectl_fdb_database_full_replication{":     k.Database.Status == nil,
		"kubectl_fdb_database_zones_to_lose{":        k.Database.Status == nil,
		"kubectl_fdb_coordinators_quorum_reachable{": k.Database.Status == nil,
		`kubectl_fdb_findings{code="PG-001"`:         !k.conditions,
		`kubectl_fdb_findings{code="AVAIL-002"`:      !k.conditions,
		`kubectl_fdb_findings{code="NODE-003"`:       !k.nodes,
	}
	for series, is := range unknown {
		if is && strings.Contains(text, "\n"+series) {
			return series
		}
	}
	if !k.conditions && !strings.Contains(text, `kubectl_fdb_process_group_conditions{condition="Unknown"`) {
		return "no count of process groups with unknown conditions"
	}
	return ""
}

// Whatever is unknown in the facts is neither good nor absent in any view, list, line of plain text or metric.
func TestNothingUnknownIsShownAsGood(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		writer := &ui.ChangeWriter{}
		for range 3 {
			f, did := silenced(t, r)
			events := r.IntN(2) == 0
			k, v := knownOf(f, events), framed(f, events)
			if wrong := dishonest(k, v); wrong != "" {
				t.Fatalf("seed %d, %q: %s", seed, did, wrong)
			}
			if wrong := dishonestNews(k, writer.Changes(*v)); wrong != "" {
				t.Fatalf("seed %d, %q: plain text: %s", seed, did, wrong)
			}
			if wrong := dishonestMetrics(t, k); wrong != "" {
				t.Fatalf("seed %d, %q: metrics: %s", seed, did, wrong)
			}
		}
	}
}

// A cluster of which nothing is known has no list without problems.
func TestAnUnreadClusterHasNoGoodView(t *testing.T) {
	v := frame.NewFrame(inspect.Metadata{Cluster: "sample", Namespace: "fdb"}, frame.Input{Unknown: "waiting for the API server", History: &inspect.DrainHistory{}})
	s := clusterView{state: state{frame: &v}, now: noon, o: &Options{}}
	for _, view := range views() {
		if text := claimIn(view.page(s).head(1000)...); text != "" {
			t.Errorf("view %s: %s", view.name, text)
		}
	}
}
