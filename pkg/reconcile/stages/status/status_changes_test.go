package status

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestEachStatusChangeIsDescribedOnce changes one field, and looks for its new value.
func TestEachStatusChangeIsDescribedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1beta2.FoundationDBClusterStatus)
		value  string
	}{
		"configured":        {func(s *v1beta2.FoundationDBClusterStatus) { s.Configured = true }, "true"},
		"health":            {func(s *v1beta2.FoundationDBClusterStatus) { s.Health.Available = true }, "true"},
		"running version":   {func(s *v1beta2.FoundationDBClusterStatus) { s.RunningVersion = "7.4.6" }, "7.4.6"},
		"connection string": {func(s *v1beta2.FoundationDBClusterStatus) { s.ConnectionString = "x:y@1.1.1.1:1" }, "x:y@1.1.1.1:1"},
		"generation":        {func(s *v1beta2.FoundationDBClusterStatus) { s.Generations.Reconciled = 41 }, "41"},
		"a process group": {func(s *v1beta2.FoundationDBClusterStatus) {
			s.ProcessGroups = append(s.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: "log-7"})
		}, "log-7"},
		"a condition": {func(s *v1beta2.FoundationDBClusterStatus) {
			g := s.ProcessGroups[0].DeepCopy()
			g.SetCondition(v1beta2.ConditionPodPending, stagestest.Noon)
			g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon)
			s.ProcessGroups[0] = g
		}, string(v1beta2.ConditionMissingProcesses) + "+" + string(v1beta2.ConditionPodPending)},
		"reconciled groups": {func(s *v1beta2.FoundationDBClusterStatus) { s.DesiredProcessGroups, s.ReconciledProcessGroups = 43, 42 }, "42"},
	} {
		t.Run(name, func(t *testing.T) {
			old := v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "log-1"}}}
			fresh := *old.DeepCopy()
			unnamed := strings.Join(statusChanges(old, fresh), "\n")
			tc.change(&fresh)
			changes := statusChanges(old, fresh)
			if len(changes) != 1 || !strings.Contains(changes[0], tc.value) || changes[0] == unnamed {
				t.Errorf("%q, want one change with %q", changes, tc.value)
			}
		})
	}
}

// TestAGroupWithoutConditionsHasItsOwnDescription compares both.
func TestAGroupWithoutConditionsHasItsOwnDescription(t *testing.T) {
	g := &v1beta2.ProcessGroupStatus{}
	if conditionWords(g) == "" {
		t.Error("a group without conditions has no description")
	}
	g.SetCondition(v1beta2.ConditionPodPending, stagestest.Noon)
	if got := conditionWords(g); got != string(v1beta2.ConditionPodPending) {
		t.Errorf("%q of a group with one condition", got)
	}
}
