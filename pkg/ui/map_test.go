package ui

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// crowd returns process groups that are up, spread over zones, and the nodes of these.
func crowd(storage, log, stateless, zones int) ([]inspect.GroupView, []inspect.NodeView) {
	var groups []inspect.GroupView
	for _, class := range []struct {
		name string
		n    int
	}{{"storage", storage}, {"log", log}, {"stateless", stateless}} {
		for i := range class.n {
			g := inspect.GroupView{ID: fmt.Sprintf("%s-%d", class.name, i+1), Class: class.name, Zone: fmt.Sprintf("node-%d", i%zones+1), Processes: new(1), Exclusion: inspect.NotExcluded}
			g.Coordinator = new(class.name == "log" && i < 3)
			if class.name != "stateless" {
				g.SpaceUsed = new(float64(i*7%100) / 100)
			}
			groups = append(groups, g)
		}
	}
	var nodes []inspect.NodeView
	for i := range zones {
		name := fmt.Sprintf("node-%d", i+1)
		nodes = append(nodes, inspect.NodeView{Name: name, Zones: []string{name}, Exists: new(true), Ready: new(true)})
	}
	return groups, nodes
}

// lose stops everything in a zone.
func lose(zone string, groups []inspect.GroupView, nodes []inspect.NodeView) {
	for i := range groups {
		if groups[i].Zone == zone {
			groups[i].Processes, groups[i].SpaceUsed = new(0), nil
			groups[i].Conditions = []inspect.ConditionView{{Type: "MissingProcesses"}}
		}
	}
	for i := range nodes {
		if nodes[i].Name == zone {
			nodes[i].Ready = new(false)
		}
	}
}

// silence returns process groups of which the database reports nothing.
func silence(groups []inspect.GroupView) {
	for i := range groups {
		groups[i].Processes, groups[i].SpaceUsed, groups[i].Coordinator = nil, nil, nil
	}
}

func mapText(m inspect.Map, p Paint, width int) string {
	var b bytes.Buffer
	for _, line := range MapLines(m, p, width) {
		var text strings.Builder
		for _, s := range line {
			text.WriteString(p.toned(s))
		}
		fmt.Fprintln(layout.Guarded(&b), strings.TrimRight(text.String(), " "))
	}
	return b.String()
}

func TestTheMapShowsAllProcessGroups(t *testing.T) {
	tests := map[string]func() inspect.Map{
		"16 groups on 4 nodes": func() inspect.Map { return inspect.NewMap(crowd(8, 4, 4, 4)) },
		"16 groups, one node is lost": func() inspect.Map {
			groups, nodes := crowd(8, 4, 4, 4)
			lose("node-3", groups, nodes)
			return inspect.NewMap(groups, nodes)
		},
		"16 groups, the database does not answer and one node is lost": func() inspect.Map {
			groups, nodes := crowd(8, 4, 4, 4)
			lose("node-3", groups, nodes)
			silence(groups)
			return inspect.NewMap(groups, nodes)
		},
		"16 groups, some are replaced": func() inspect.Map {
			groups, nodes := crowd(8, 4, 4, 4)
			groups[0].RemovalSince = new(time.Time)
			groups[1].Conditions = []inspect.ConditionView{{Type: "IncorrectPodSpec"}}
			groups[9].CoordinatorReachable = new(false)
			groups = append(groups, inspect.GroupView{ID: "storage-9", Class: "storage", Processes: new(0), Exclusion: inspect.NotExcluded})
			return inspect.NewMap(groups, nodes)
		},
		"85 groups on 17 nodes": func() inspect.Map { return inspect.NewMap(crowd(60, 10, 15, 17)) },
		"300 groups on 10 nodes, two are lost": func() inspect.Map {
			groups, nodes := crowd(250, 20, 30, 10)
			lose("node-3", groups, nodes)
			lose("node-10", groups, nodes)
			return inspect.NewMap(groups, nodes)
		},
		"300 groups on 60 nodes, one is lost": func() inspect.Map {
			groups, nodes := crowd(250, 20, 30, 60)
			lose("node-41", groups, nodes)
			return inspect.NewMap(groups, nodes)
		},
		"no process group": func() inspect.Map { return inspect.NewMap(nil, nil) },
	}
	for name, made := range tests {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{80, 120} {
				fmt.Fprintf(&b, "# %d columns\n%s", width, mapText(made(), Paint{}, width))
			}
			fmt.Fprintf(&b, "# ASCII\n%s", mapText(made(), Paint{ASCII: true}, 80))
			golden.RequireEqual(t, []byte(b.String()))
		})
	}
}

func TestALargeClusterFitsIntoTwelveLines(t *testing.T) {
	for zones := 1; zones <= 100; zones++ {
		m := inspect.NewMap(crowd(250, 20, 30, zones))
		if n := strings.Count(mapText(m, Paint{}, 120), "\n"); n > 12 {
			t.Errorf("300 groups in %d zones take %d lines", zones, n)
		}
	}
}

// Whoever sees no colors, and whoever sees only colors, finds the lost node.
func TestALostNodeIsARedColumn(t *testing.T) {
	groups, nodes := crowd(8, 4, 4, 4)
	lose("node-3", groups, nodes)
	silence(groups)
	m := inspect.NewMap(groups, nodes)
	text := mapText(m, Paint{Color: true}, 80)
	if n := strings.Count(text, "\x1b[31m?\x1b[0m"); n != 4 {
		t.Errorf("%d of 4 process groups are red in\n%s", n, text)
	}
	for _, want := range []string{"✗3", "zone lost: node-3"} {
		if plain := mapText(m, Paint{}, 80); !strings.Contains(plain, want) {
			t.Errorf("no %q in\n%s", want, plain)
		}
	}
}

// random returns a process group in any state.
func random(r *rand.Rand, i int) inspect.GroupView {
	g := inspect.GroupView{
		ID: fmt.Sprintf("g-%d", i), Class: []string{"storage", "log", "例え", "x\x1b[2J"}[r.IntN(4)], Zone: []string{"", "node-1", "node-2", "rack\n3", "例え"}[r.IntN(5)],
		Exclusion: []inspect.Exclusion{inspect.NotExcluded, inspect.ExclusionMoving, inspect.ExclusionUnknown}[r.IntN(3)],
	}
	if n := r.IntN(3); n > 0 {
		g.Processes = new(n - 1)
	}
	if r.IntN(4) == 0 {
		g.RemovalSince = new(time.Time)
	}
	if r.IntN(4) == 0 {
		g.Conditions = []inspect.ConditionView{{Type: "MissingProcesses"}}
	}
	if r.IntN(3) == 0 {
		g.SpaceUsed = new(r.Float64() * 1.2)
	}
	if n := r.IntN(3); n > 0 {
		g.Coordinator, g.CoordinatorReachable = new(n == 1), new(r.IntN(2) == 0)
	}
	return g
}

func TestEveryProcessGroupHasOneSymbolAndNoUnknownOneThatOfUp(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var groups []inspect.GroupView
		for i := range 1 + r.IntN(80) {
			groups = append(groups, random(r, i))
		}
		paint, width := Paint{ASCII: r.IntN(2) == 0}, 20+r.IntN(120)
		p := layOutMap(inspect.NewMap(groups, nil), paint, width)
		drawn := map[string]int{}
		for begin := 0; begin < len(p.Zones); begin += p.side {
			for _, line := range p.band(begin, min(len(p.Zones), begin+p.side))[1:] {
				for i := 1; i < len(line)-1; i++ {
					for _, s := range signs {
						if line[i].Text == s.in(paint) {
							drawn[s.meaning]++
						}
					}
				}
			}
		}
		total := 0
		for _, n := range drawn {
			total += n
		}
		unknown := 0
		for _, g := range groups {
			if g.State() == inspect.GroupUnknown || g.Tone() == list.Unsure {
				unknown++
			}
		}
		if total != len(groups) || drawn[signUnknown.meaning] != unknown {
			t.Fatalf("seed %d: %d process groups, %d unknown, drawn as %v", seed, len(groups), unknown, drawn)
		}
		for _, line := range MapLines(p.Map, paint, width) {
			text := ""
			for _, s := range line {
				text += s.Text
			}
			if strings.ContainsAny(text, "\x1b\n") {
				t.Fatalf("seed %d: control characters in %q", seed, text)
			}
			if w := layout.Cells(strings.TrimRight(text, " ")); w > max(width, 40) {
				t.Fatalf("seed %d: a line of %d cells in %d:\n%s", seed, w, width, mapText(p.Map, paint, width))
			}
		}
	}
}
