package inspect_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// A rule of the largest number means never, and one of centuries means just that: neither may
// turn into a date that is near, or past.
func TestATaintRuleThatNeverEndsIsShownAsNever(t *testing.T) {
	tests := map[string]struct {
		seconds                int64
		rules, detect, replace string
		at                     string // the date in JSON; empty for null
		never                  bool
	}{
		"never":             {math.MaxInt64, "drain>never", "never", "never", "", true},
		"three centuries":   {10_000_000_000, "drain>10000000000s", "317y", "317y", "2343-", false},
		"beyond any date":   {1_000_000_000_000, "drain>never", "never", "never", "", true},
		"longer than 68 y":  {4_000_000_000, "drain>4000000000s", "126y", "126y", "2153-", false},
		"the next to never": {math.MaxInt64 - 1, "drain>never", "never", "never", "", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := of(inspecttest.Tainted(t))
			f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: new("drain"), DurationInSeconds: &tc.seconds}}
			f.Nodes["node-1"].Spec.Taints[0].Key = "drain"
			f.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Hour))
			v := f.Node("node-1", f.GroupsByNode()["node-1"], nil)
			if diff := cmp.Diff([]string{"drain=soon:NoSchedule", tc.rules, "120m", tc.detect, tc.replace}, cellsOf(v, "TAINTS", "MATCHED-RULE", "TAINTED-FOR", "DETECT-IN", "REPLACE-IN")); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				DetectAt, ReplaceAt string
				Never               bool
				MatchedRules        []struct {
					DetectAt string
					Never    bool
				}
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			rule := got.MatchedRules[0]
			for what, at := range map[string]string{"detectAt": got.DetectAt, "replaceAt": got.ReplaceAt, "the rule's detectAt": rule.DetectAt} {
				if (at == "") != (tc.at == "") || !strings.HasPrefix(at, tc.at) {
					t.Errorf("%s is %q, want %q", what, at, tc.at)
				}
			}
			if got.Never != tc.never || rule.Never != tc.never {
				t.Errorf("never: %t, of the rule %t", got.Never, rule.Never)
			}
		})
	}
}

// cellsOf returns some cells of a node.
func cellsOf(v inspect.NodeView, titles ...string) []string {
	l := inspect.NodeListView{Items: []inspect.NodeView{v}}.List()
	var cells []string
	for _, title := range titles {
		c, _ := l.Column(title)
		cells = append(cells, c.Cell(list.At{Now: noon}, 0).Text)
	}
	return cells
}

func TestNodeTable(t *testing.T) {
	noted := of(inspecttest.Tainted(t))
	noted.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Minute))
	inspecttest.RecordTaint(noted.Pod(noted.Cluster.ProcessGroup("storage-1")), "example.com/maintenance", noon.Add(-2*time.Minute))
	delete(noted.Nodes, "node-2")
	noted.Nodes["node-3"].Spec.Unschedulable = true
	noted.Nodes["node-3"].Status.Conditions[0].Status = corev1.ConditionUnknown
	hidden := of(inspecttest.Tainted(t))
	hidden.Nodes, hidden.NodesHidden = nil, "listing nodes is forbidden"
	for name, f := range map[string]inspect.Facts{"noted": noted, "not noted": of(inspecttest.Tainted(t)), "hidden": hidden} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := ui.WriteList(&b, inspect.NewNodeListView(meta, f), ui.ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
