package live_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Of a group that went silent after it was excluded no process says so, and no pass may have
// seen it: the exclusions themselves have to be read for it to be proven drained.
func TestExclusionsAreReadForWhomTheyCanConcern(t *testing.T) {
	start := time.Unix(0, 0)
	tests := map[string]struct {
		edit func(*v1beta2.ProcessGroupStatus)
		read bool
	}{
		"nobody":                    {edit: func(*v1beta2.ProcessGroupStatus) {}},
		"a group that leaves":       {edit: func(g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(start) }, read: true},
		"a group that is excluded":  {edit: func(g *v1beta2.ProcessGroupStatus) { g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, start) }, read: true},
		"a group that went silent":  {edit: func(g *v1beta2.ProcessGroupStatus) { g.SetCondition(v1beta2.ConditionMissingProcesses, start) }, read: true},
		"a group with another flaw": {edit: func(g *v1beta2.ProcessGroupStatus) { g.SetCondition(v1beta2.ConditionPodPending, start) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := settled(t)
			excluded := ""
			f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) {
				i := slices.IndexFunc(s.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == v1beta2.ProcessClassStorage })
				excluded = s.ProcessGroups[i].ExclusionString()
				tc.edit(s.ProcessGroups[i])
			})
			f.observe(plan.Everything)
			if err := f.cli().Exclude(t.Context(), []string{excluded}); err != nil {
				t.Fatal(err)
			}
			got := f.observe(plan.Everything).Coordination
			if got.ExclusionsRead != tc.read || slices.Contains(got.Exclusions, excluded) != tc.read {
				t.Errorf("read %t: %v", got.ExclusionsRead, got.Exclusions)
			}
		})
	}
}
