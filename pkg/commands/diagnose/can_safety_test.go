package diagnose_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
			g := commandstest.Healthy(t)
			one, other := g.StoragePods()
			if tc.own {
				other = one
			}
			if report := g.Asks("delete", "sample", "pod/"+other.Name); report.Answer != lists.AnswerYes {
				t.Fatalf("refused before the restart: %s", report.Summary)
			}
			g.Cluster.KillServers(one.Name)
			g.Cluster.Tick(tc.after)
			g.Out.Reset()
			report := g.Asks("delete", "sample", "pod/"+other.Name)
			if got := refusedBy(report, plan.GateUptime); got != tc.want || (got && report.Answer != lists.AnswerNo) {
				t.Errorf("refused by %s: %t, want %t: %s", plan.GateUptime, got, tc.want, report.Summary)
			}
		})
	}
}

// TestPodsOfTwoFaultDomainsAreNotDeletedTogether asks about two pods with data. Drain replaces such
// groups, one at a time, and so may begin with the nodes of both.
func TestPodsOfTwoFaultDomainsAreNotDeletedTogether(t *testing.T) {
	g := commandstest.Healthy(t)
	one, other := g.StoragePods()
	if report := g.Asks("delete", "sample", "pod/"+one.Name); report.Answer != lists.AnswerYes {
		t.Fatalf("refused alone: %s", report.Summary)
	}
	g.Out.Reset()
	if report := g.Asks("delete", "sample", "pod/"+one.Name, "pod/"+other.Name); report.Answer != lists.AnswerNo || !refusedBy(report, plan.GateReplicas) {
		t.Errorf("%s: %s", report.Answer, report.Summary)
	}
	g.Out.Reset()
	if report := g.Asks("drain", "-c", "sample", one.Spec.NodeName, other.Spec.NodeName); report.Answer != lists.AnswerYes {
		t.Errorf("%s: %s", report.Answer, report.Summary)
	}
}
