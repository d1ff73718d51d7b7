package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func TestATaintRuleThatNeverEndsIsShownAsNever(t *testing.T) {
	far := time.Date(2343, 10, 9, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		node   func(*inspect.NodeView)
		cells  []string // detected in, replaced in
		detail string
	}{
		"never": {func(n *inspect.NodeView) { n.Never, n.MatchedRules[0].Never = true, true }, []string{"never", "never"}, "drain never causes a replacement"},
		"three centuries": {func(n *inspect.NodeView) {
			n.DetectAt, n.ReplaceAt, n.MatchedRules[0].Seconds = &far, &far, 10_000_000_000
		}, []string{"317y", "317y"}, "drain is allowed for 10000000000s"},
		"unknown": {func(*inspect.NodeView) {}, []string{"?", "?"}, "drain is allowed for 60s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := inspect.NodeView{
				Name: "node-1", Taints: []string{"drain:NoSchedule"}, MatchedRules: []inspect.TaintRuleView{{Key: "drain", Seconds: 60}},
				TaintedSince: ago(2 * time.Hour), ProcessGroups: []string{"storage-1"},
			}
			tc.node(&n)
			f := well()
			f.Nodes.Items = []inspect.NodeView{n}
			s := clusterView{state: state{frame: f}, now: noon, o: &Options{}}
			var cells []string
			for _, cell := range nodeRow(n).build(s)[8:10] {
				cells = append(cells, cell.Text)
			}
			if !slices.Equal(cells, tc.cells) {
				t.Errorf("noted and replaced in %q, want %q", cells, tc.cells)
			}
			var detail strings.Builder
			for _, l := range s.aboutNode("node-1") {
				for _, part := range l {
					detail.WriteString(part.Text)
				}
				detail.WriteString("\n")
			}
			if !strings.Contains(detail.String(), tc.detail) {
				t.Errorf("the detail lacks %q:\n%s", tc.detail, detail.String())
			}
		})
	}
}
