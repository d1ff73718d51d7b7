package replacements

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// markingAll is a stage that marks the first storage and the first log group.
func markingAll() plan.Stage {
	return WithSuccessors(plan.Stage{Name: "Mark", Reads: plan.ClusterResource, Decide: func(s plan.Snapshot) plan.Decision {
		var groups []v1beta2.ProcessGroupID
		for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog} {
			i := slices.IndexFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class })
			groups = append(groups, s.Groups()[i].ProcessGroupID)
		}
		return plan.Decision{Why: "a test", Actions: []plan.Action{plan.MarkForRemoval{Groups: groups, At: s.Now}}, Hold: &plan.Hold{Reason: "others wait", RetryAfter: time.Second}}
	}})
}

func refusal(kind plan.RefusalKind) plan.Refusal {
	return plan.NewRefusal(plan.WrittenPod, "sample-storage-1", kind, "rule", "the text")
}

func TestAGroupIsMarkedOnlyIfTheAPIServerAcceptsItsSuccessor(t *testing.T) {
	storage := v1beta2.ProcessClassStorage
	tests := map[string]struct {
		facts  plan.SuccessorFacts
		marked int
		manual bool
		says   string
	}{
		"both are accepted":        {facts: plan.SuccessorFacts{Read: true}, marked: 2, says: "others wait"},
		"a quota refuses storage":  {facts: plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{storage: refusal(plan.RefusedByQuota)}}, marked: 1, says: "others wait; storage-"},
		"a policy refuses storage": {facts: plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{storage: refusal(plan.RefusedByPolicy)}}, marked: 1, manual: true, says: "would not accept the successor"},
		"the answer is unknown":    {facts: plan.SuccessorFacts{Read: true, Unknown: map[v1beta2.ProcessClass]string{storage: "no answer"}}, marked: 1, says: "cannot determine whether the API server accepts"},
		"nothing was tried":        {facts: plan.SuccessorFacts{}, marked: 0, says: "cannot determine whether the API server accepts"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Successors = tc.facts
			stage := markingAll()
			if stage.Facets(s)&plan.Successors == 0 {
				t.Error("the dry run is not read")
			}
			d := stage.Decide(s)
			marked := 0
			for _, a := range d.Actions {
				marked += len(a.(plan.MarkForRemoval).Groups)
			}
			if marked != tc.marked || d.Hold.Manual != tc.manual || !strings.Contains(d.Hold.Text(), tc.says) {
				t.Errorf("marked %d, hold %+v; want %d, manual %t, %q", marked, d.Hold, tc.marked, tc.manual, tc.says)
			}
			if c, refused := d.Refused(); tc.marked < 2 && (!refused || c.Gate != plan.GateAdmission) {
				t.Errorf("checks %+v", d.Checks)
			}
		})
	}
}

// No dry run is made by a pass that replaces nothing.
func TestSuccessorsAreReadOnlyIfAGroupIsAboutToBeMarked(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	for _, stage := range []plan.Stage{ReplaceFailedPods, ReplaceMisconfiguredPods(plan.Options{})} {
		if stage.Facets(s)&plan.Successors != 0 {
			t.Errorf("%s tries successors on a healthy cluster", stage.Name)
		}
	}
}
