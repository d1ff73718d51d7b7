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
	for _, pod := range g.cluster.Pods {
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
			g := healthy(t)
			one, other := g.storagePods()
			if tc.own {
				other = one
			}
			if report := g.asks("delete", "sample", "pod/"+other.Name); report.Answer != lists.AnswerYes {
				t.Fatalf("refused before the restart: %s", report.Summary)
			}
			g.cluster.KillServers(one.Name)
			g.cluster.Tick(tc.after)
			g.out.Reset()
			report := g.asks("delete", "sample", "pod/"+other.Name)
			if got := refusedBy(report, plan.GateUptime); got != tc.want || (got && report.Answer != lists.AnswerNo) {
				t.Errorf("refused by %s: %t, want %t: %s", plan.GateUptime, got, tc.want, report.Summary)
			}
		})
	}
}

// TestPodsOfTwoFaultDomainsAreNotDeletedTogether asks about two pods with data. Drain replaces such
// groups, one at a time, and so may begin with the nodes of both.
func TestPodsOfTwoFaultDomainsAreNotDeletedTogether(t *testing.T) {
	g := healthy(t)
	one, other := g.storagePods()
	if report := g.asks("delete", "sample", "pod/"+one.Name); report.Answer != lists.AnswerYes {
		t.Fatalf("refused alone: %s", report.Summary)
	}
	g.out.Reset()
	if report := g.asks("delete", "sample", "pod/"+one.Name, "pod/"+other.Name); report.Answer != lists.AnswerNo || !refusedBy(report, plan.GateReplicas) {
		t.Errorf("%s: %s", report.Answer, report.Summary)
	}
	g.out.Reset()
	if report := g.asks("drain", "-c", "sample", one.Spec.NodeName, other.Spec.NodeName); report.Answer != lists.AnswerYes {
		t.Errorf("%s: %s", report.Answer, report.Summary)
	}
}
