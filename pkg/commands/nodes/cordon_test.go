package nodes_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCordonExitCodes(t *testing.T) {
	tests := map[string]struct {
		given    func(*commandstest.Given)
		args     []string
		want     int
		says     string
		cordoned bool
	}{
		"keeps new pods away":                  {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample"}, cordoned: true, says: "undo: kubectl fdb uncordon NODE -c sample -n fdb --context test"},
		"evacuates by taint only when agreed":  {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint"}, want: exit.ExitUnconfirmed, says: "nothing was changed"},
		"a taint of a rule only when agreed":   {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--taint=example.com/maintenance"}, want: exit.ExitUnconfirmed, says: "nothing was changed"},
		"the plan shows that data moves":       {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--dry-run"}, want: exit.ExitNo, says: "data-move"},
		"taints as the first rule wants it":    {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--yes"}, cordoned: true, says: "example.com/maintenance:NoSchedule"},
		"prints when groups would be replaced": {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--dry-run"}, want: exit.ExitNo, says: "REPLACE-AT"},
		"without a rule a user has to choose":  {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--yes"}, want: exit.ExitUsage, says: "use --evacuate=now or none"},
		"a taint without a rule":               {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--taint", "disk=slow", "--yes"}, cordoned: true},
		"replaces at once only when agreed":    {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=now"}, want: exit.ExitUnconfirmed},
		"by label":                             {args: []string{"cordon", "-l", "rack=NODE", "-c", "sample", "--evacuate=none"}, cordoned: true},
		"a label that no node has":             {args: []string{"cordon", "-l", "rack=9", "-c", "sample", "--evacuate=none"}, want: exit.ExitUsage, says: "no node matches the labels"},
		"all nodes that have a taint": {given: func(g *commandstest.Given) {
			commandstest.WithTaintRule(g)
			g.Taint(corev1.Taint{Key: "example.com/maintenance", Value: "4711", Effect: corev1.TaintEffectPreferNoSchedule})
		}, args: []string{"cordon", "--taint", "example.com/maintenance", "-c", "sample", "--yes"}, cordoned: true, says: "undo: kubectl fdb uncordon NODE -c sample -n fdb"},
		"a taint that ends pods, and already exists": {given: func(g *commandstest.Given) {
			commandstest.WithTaintRule(g)
			g.Taint(corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoExecute})
		}, args: []string{"cordon", "--taint", "example.com/maintenance:NoExecute", "-c", "sample", "--yes"}, cordoned: true},
		"a taint with another effect than any node has": {given: func(g *commandstest.Given) {
			commandstest.WithTaintRule(g)
			g.Taint(corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoExecute})
		}, args: []string{"cordon", "--taint", "example.com/maintenance:NoSchedule", "-c", "sample", "--yes"}, want: exit.ExitUsage, says: "no node has the taint example.com/maintenance:NoSchedule"},
		"what a taint selects is confirmed": {given: func(g *commandstest.Given) {
			commandstest.WithTaintRule(g)
			g.Taint(corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule})
		}, args: []string{"cordon", "--taint", "example.com/maintenance", "-c", "sample"}, want: exit.ExitUnconfirmed},
		"node names must not be empty": {
			given: func(g *commandstest.Given) {
				g.Cluster.Pods["sample-"+string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)].Spec.NodeName = ""
			},
			args: []string{"drain", "", "-c", "sample", "--yes"}, want: exit.ExitUsage, says: "node names must not be empty",
		},
		"a taint that no node has": {given: commandstest.WithTaintRule, args: []string{"cordon", "--taint", "example.com/maintenance", "-c", "sample", "--yes"}, want: exit.ExitUsage, says: "no node has the taint example.com/maintenance\n"},
		"a mistyped node":          {args: []string{"cordon", "NODEx", "-c", "sample", "--evacuate=none"}, want: exit.ExitUsage, says: "error: node NODEx not found; did you mean NODE?"},
		"an unknown node":          {args: []string{"cordon", "n9", "-c", "sample", "--evacuate=none"}, want: exit.ExitUsage, says: "hint: kubectl get nodes --context test"},
		"no node":                  {args: []string{"cordon", "-c", "sample", "--evacuate=none"}, want: exit.ExitUsage, says: "nodes are required"},
		"a bad taint":              {args: []string{"cordon", "NODE", "-c", "sample", "--taint", "a:Never"}, want: exit.ExitUsage, says: "KEY[=VALUE][:EFFECT]"},
		"waits for groups to leave only when agreed": {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--wait"}, want: exit.ExitUnconfirmed},
		"a taint that ends all pods at once":         {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=none", "--taint", "a=b:NoExecute"}, want: exit.ExitUsage, says: "would evict every pod on the nodes at once"},
		"by taint where nothing is replaced": {given: func(g *commandstest.Given) {
			commandstest.WithTaintRule(g)
			g.Cluster.Resource.Spec.AutomationOptions.Replacements.Enabled = new(bool)
		}, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--yes"}, want: exit.ExitUsage, says: "automatic replacements are disabled"},
		"a bad way to leave":          {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=soon"}, want: exit.ExitUsage},
		"nothing to wait for":         {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=none", "--wait"}, want: exit.ExitUsage},
		"rights on nodes are missing": {given: func(g *commandstest.Given) { g.Denied = []string{"patch nodes"} }, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=none"}, want: exit.ExitForbidden, says: "patch nodes"},
		"nodes are hidden":            {given: func(g *commandstest.Given) { g.Cluster.NodesHidden = "forbidden" }, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=none"}, want: exit.ExitRefused, says: "nodes are unknown"},
		"a live operator":             {given: func(g *commandstest.Given) { g.Evaluated = commandstest.OperatorLives }, args: []string{"drain", "NODE", "-c", "sample", "--yes"}, want: exit.ExitRefused},
		"drain cannot see the agents": {
			given: func(g *commandstest.Given) { g.Cluster.AgentsHidden = "listing FoundationDBBackups is forbidden" }, args: []string{"drain", "NODE", "-c", "sample", "--dry-run"}, want: exit.ExitNo,
			says: "pods of backup agents are left on the nodes: listing FoundationDBBackups is forbidden",
		},
		"drain asks first":             {args: []string{"drain", "NODE", "-c", "sample"}, want: exit.ExitUnconfirmed},
		"drain shows what it would do": {args: []string{"drain", "NODE", "-c", "sample", "--dry-run"}, want: exit.ExitNo, says: "cordon node NODE"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			if tc.given != nil {
				tc.given(g)
			}
			node := g.NodeOf(v1beta2.ProcessClassStorage)
			var args []string
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "NODE", node))
			}
			got := g.Run(args...)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, strings.ReplaceAll(tc.says, "NODE", node)) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got, tc.want, tc.says, output)
			}
			if g.Cluster.Cordoned[node] != tc.cordoned {
				t.Errorf("cordoned: %t", g.Cluster.Cordoned[node])
			}
		})
	}
}

// The controller of budgets, for one, writes the status of an object whenever pods change.
func TestADrainRepeatsAPassInWhichOthersWroteFirst(t *testing.T) {
	g := commandstest.Up(t)
	node := g.NodeWith(true)
	refused := 0
	g.Cluster.Refuse = func(a plan.Action) error {
		if plan.KindOf(a) == "WriteStatus" && len(g.PodsOn(node)) == 0 && refused == 0 {
			refused++
			return commandstest.ErrConflict
		}
		return nil
	}
	if code := g.Run("drain", node, "-c", "sample", "--yes", "--timeout", "3h"); code != exit.ExitDone || refused != 1 || len(g.PodsOn(node)) > 0 {
		t.Errorf("exit code %d after %d conflicts:\n%s%s", code, refused, &g.Out, &g.Err)
	}
}

func TestDrainAndCordonEvacuateNodes(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
	}{
		"drain":                       {args: []string{"drain", "NODE", "-c", "sample", "--yes", "--timeout", "3h"}},
		"cordon, and replace at once": {args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=now", "--wait", "--yes", "--timeout", "3h"}},
		"cordon, and leave by taint":  {given: commandstest.WithTaintRule, args: []string{"cordon", "NODE", "-c", "sample", "--evacuate=by-taint", "--wait", "--yes", "--timeout", "3h"}},
	}
	for name, tc := range tests {
		for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassStateless, v1beta2.ProcessClassLog} {
			t.Run(name+" of "+string(class), func(t *testing.T) {
				g := commandstest.Roomy(t)
				if tc.given != nil {
					tc.given(g)
				}
				node := g.NodeOf(class)
				groups := len(g.Cluster.Resource.Status.ProcessGroups)
				var args []string
				for _, arg := range tc.args {
					args = append(args, strings.ReplaceAll(arg, "NODE", node))
				}
				if code := g.Run(args...); code != exit.ExitDone {
					t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
				}
				if left := g.PodsOn(node); len(left) > 0 || !g.Cluster.Cordoned[node] {
					t.Errorf("left: %v, cordoned %t", left, g.Cluster.Cordoned[node])
				}
				if code := g.Run("reconcile", "sample", "--wait=all", "--yes", "--timeout", "3h"); code != exit.ExitDone || len(g.Cluster.Resource.Status.ProcessGroups) != groups {
					t.Errorf("afterwards: exit code %d: %s%s", code, &g.Out, &g.Err)
				}
				if code := g.Run("uncordon", node, "-c", "sample", "--taint", "example.com/maintenance"); code != exit.ExitDone || g.Cluster.Cordoned[node] || len(g.Cluster.Taints[node]) > 0 {
					t.Errorf("uncordon: exit code %d: %s%s", code, &g.Out, &g.Err)
				}
			})
		}
	}
}

// Nodes that were cordoned before are not uncordoned.
func TestTheCordonUndoHintOmitsNodesCordonedBefore(t *testing.T) {
	g := commandstest.Roomy(t)
	g.Run("cordon", "node-1", "-c", "sample", "--evacuate=none")
	g.Run("cordon", "node-1", "node-2", "-c", "sample", "--evacuate=none")
	if output := g.Err.String(); !strings.Contains(output, "undo: kubectl fdb uncordon node-2 -c sample -n fdb") {
		t.Errorf("%s", output)
	}
}

// Pods that leave must not come back before the maintenance, because one write failed.
func TestADrainThatFailsAfterMarkingGroupsKeepsItsNodeCordoned(t *testing.T) {
	g := commandstest.Roomy(t)
	node := g.NodeOf(v1beta2.ProcessClassStorage)
	g.Cluster.Refuse = commandstest.Refuse("CreatePod", errors.New("etcdserver: request timed out"))
	if code := g.Run("drain", node, "-c", "sample", "--yes", "--timeout", "1h"); code == exit.ExitDone || len(g.Marked()) == 0 {
		t.Fatalf("exit code %d, marked %v: %s%s", code, g.Marked(), &g.Out, &g.Err)
	}
	if !g.Cluster.Cordoned[node] {
		t.Errorf("uncordoned again: %s%s", &g.Out, &g.Err)
	}
}

// What ran on a removed node must still be drained, and the same command again finds it.
func TestADrainContinuesAfterItsNodeIsRemoved(t *testing.T) {
	for name, again := range map[string]bool{"in the middle of it": false, "before the same command again": true} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			node := g.NodeOf(v1beta2.ProcessClassStorage)
			if again {
				g.Run("drain", node, "-c", "sample", "--yes", "--wait=false")
			}
			vanish := func() {
				g.Cluster.Nodes = slices.DeleteFunc(g.Cluster.Nodes, func(n string) bool { return n == node })
			}
			if again {
				vanish()
			}
			g.Cluster.Refuse = func(a plan.Action) error {
				if plan.KindOf(a) == "CreatePod" {
					vanish()
				}
				return nil
			}
			if code := g.Run("drain", node, "-c", "sample", "--yes", "--timeout", "2h"); code != exit.ExitDone || len(g.PodsOn(node)) > 0 {
				t.Errorf("exit code %d, left %v: %s%s", code, g.PodsOn(node), &g.Out, &g.Err)
			}
			if slices.Contains(g.Cluster.Nodes, node) {
				t.Error("the node is there: this showed nothing")
			}
		})
	}
}

// A node that cannot be drained would otherwise stay unschedulable without notice.
func TestADrainThatFailsBeforeMarkingGroupsUncordonsItsNode(t *testing.T) {
	g := commandstest.Roomy(t)
	node := g.NodeOf(v1beta2.ProcessClassStorage)
	g.Cluster.Refuse = commandstest.Refuse("MarkForRemoval", commandstest.ErrForbidden)
	g.Cluster.Acted = nil
	if code := g.Run("drain", node, "-c", "sample", "--yes", "--timeout", "1h"); code == exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	var kinds []string
	for _, a := range g.Cluster.Acted {
		kinds = append(kinds, plan.KindOf(a))
	}
	if !slices.Contains(kinds, "CordonNode") || g.Cluster.Cordoned[node] {
		t.Errorf("%v, cordoned %t: %s%s", kinds, g.Cluster.Cordoned[node], &g.Out, &g.Err)
	}
}

// The nodes have a taint with another effect: it is not ours, and stays unchanged.
func TestCordonLeavesAnExistingTaintUnchanged(t *testing.T) {
	g := commandstest.Roomy(t)
	commandstest.WithTaintRule(g)
	node := g.NodeOf(v1beta2.ProcessClassStorage)
	theirs := []corev1.Taint{{Key: "example.com/maintenance", Value: "4711", Effect: corev1.TaintEffectPreferNoSchedule}}
	g.Taint(theirs...)
	code := g.Run("cordon", "--taint", "example.com/maintenance", "-c", "sample", "--yes", "-o", "json")
	if code != exit.ExitDone || !g.Cluster.Cordoned[node] {
		t.Fatalf("exit code %d:\n%s%s", code, &g.Out, &g.Err)
	}
	if diff := cmp.Diff(theirs, g.Cluster.Taints[node]); diff != "" {
		t.Error(diff)
	}
	if output := g.Out.String() + g.Err.String(); strings.Contains(output, "cordon "+node+" -c") {
		t.Errorf("the same again names the node, and would taint it:\n%s", output)
	}
	if code := g.Run("uncordon", "--taint", "example.com/maintenance=4711:PreferNoSchedule", "-c", "sample"); code != exit.ExitUnconfirmed || !g.Cluster.Cordoned[node] {
		t.Errorf("exit code %d: all nodes that have a taint are opened unasked", code)
	}
	if code := g.Run("uncordon", "--taint", "example.com/maintenance=4711:PreferNoSchedule", "-c", "sample", "--yes"); code != exit.ExitDone || g.Cluster.Cordoned[node] || len(g.Cluster.Taints[node]) != 0 {
		t.Errorf("exit code %d, taints %v:\n%s%s", code, g.Cluster.Taints[node], &g.Out, &g.Err)
	}
}
