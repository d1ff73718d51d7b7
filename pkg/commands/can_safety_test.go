package commands

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// storagePods are two pods of class storage on different nodes.
func (g *given) storagePods() (one, other *corev1.Pod) {
	for _, pod := range g.world.Pods {
		switch {
		case pod.Labels[v1beta2.LabelProcessClass] != string(v1beta2.ProcessClassStorage):
		case one == nil:
			one = pod
		case pod.Spec.NodeName != one.Spec.NodeName:
			return one, pod
		}
	}
	g.t.Fatal("there are no two such pods")
	return nil, nil
}

// asks returns the report of kubectl fdb can.
func (g *given) asks(args ...string) lists.CanReport {
	g.t.Helper()
	g.run(append(append([]string{"can"}, args...), "-o", "json")...)
	var report lists.CanReport
	if err := json.Unmarshal(g.out.Bytes(), &report); err != nil {
		g.t.Fatalf("%v\n%s%s", err, &g.out, &g.err)
	}
	return report
}

// refusedBy reports whether a check of a gate refuses.
func refusedBy(report lists.CanReport, gate plan.Gate) bool {
	for _, item := range report.Items {
		if item.Gate == gate && !item.OK {
			return true
		}
	}
	return false
}

// letsGo reports whether every check about a pod's process group allows it to leave its node.
func letsGo(t *testing.T, report lists.CanReport, pod *corev1.Pod) bool {
	t.Helper()
	asked, allowed := 0, true
	for _, item := range report.Items {
		if item.Subject == pod.Labels[v1beta2.LabelProcessGroupID] {
			asked++
			allowed = allowed && item.OK
		}
	}
	if asked == 0 {
		t.Fatalf("nothing was checked for %s", pod.Name)
	}
	return allowed
}

// TestCanDeleteWaitsForAProcessThatJustStartedElsewhere restarts the storage process of one
// pod, and asks about that pod and about another.
func TestCanDeleteWaitsForAProcessThatJustStartedElsewhere(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration
		own   bool
		want  bool
	}{
		"another pod":            {after: 10 * time.Second, want: true},
		"its own pod":            {after: 10 * time.Second, own: true},
		"another pod 90 s later": {after: 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g := calm(t)
			one, other := g.storagePods()
			if tc.own {
				other = one
			}
			if report := g.asks("delete", "sample", "pod/"+other.Name); report.Answer != lists.AnswerYes {
				t.Fatalf("refused before the restart: %s", report.Summary)
			}
			g.world.KillServers(one.Name)
			g.world.Tick(tc.after)
			g.out.Reset()
			report := g.asks("delete", "sample", "pod/"+other.Name)
			if got := refusedBy(report, plan.GateUptime); got != tc.want || (got && report.Answer != lists.AnswerNo) {
				t.Errorf("refused by %s: %t, want %t: %s", plan.GateUptime, got, tc.want, report.Summary)
			}
		})
	}
}

// TestCanDrainWaitsForAProcessThatJustStartedElsewhere restarts the storage process of one pod,
// and asks about the nodes of that pod and of another.
func TestCanDrainWaitsForAProcessThatJustStartedElsewhere(t *testing.T) {
	g := calm(t)
	one, other := g.storagePods()
	may := func(pod *corev1.Pod) bool {
		g.out.Reset()
		return letsGo(t, g.asks("drain", "-c", "sample", pod.Spec.NodeName), pod)
	}
	if !may(one) || !may(other) {
		t.Fatal("refused before the restart")
	}
	g.world.KillServers(one.Name)
	g.world.Tick(10 * time.Second)
	if may(other) {
		t.Error("another fault domain may go 10 s after the start of a storage process")
	}
	if !may(one) {
		t.Error("the fault domain of the process may not go")
	}
	g.world.Tick(90 * time.Second)
	if !may(other) {
		t.Error("another fault domain may not go 100 s after the start")
	}
}

// TestNodesOfTwoFaultDomainsAreNotDrainedTogether asks about two nodes with data.
func TestNodesOfTwoFaultDomainsAreNotDrainedTogether(t *testing.T) {
	g := calm(t)
	one, other := g.storagePods()
	together := func(nodes ...string) bool {
		g.out.Reset()
		report := g.asks(append([]string{"drain", "-c", "sample"}, nodes...)...)
		for _, item := range report.Items {
			if item.Gate == plan.GateReplicas && item.Have == "2" && !item.OK {
				return false
			}
		}
		return true
	}
	if !together(one.Spec.NodeName) || !together(other.Spec.NodeName) {
		t.Error("one node has two fault domains")
	}
	if together(one.Spec.NodeName, other.Spec.NodeName) {
		t.Error("two fault domains may be drained together")
	}
}
