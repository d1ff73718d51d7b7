package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// Another control-plane instance restarts what was announced, prepared or not.
func TestTheAnnouncementOfARevertedUpgradeIsWithdrawn(t *testing.T) {
	const back = "withdraw the announcement that 2 process groups can start in version 7.4.6"
	given := func(edit func(*plan.Snapshot)) plan.Snapshot {
		s := stagestest.HealthyCluster(t)
		s.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"dc2-storage-1", "storage-114", "storage-9"}}
		if edit != nil {
			edit(&s)
		}
		return s
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []string
	}{
		"its own, including removed ones": {want: []string{back}},
		"those for another version":       {given: func(s *plan.Snapshot) { s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.4.7", "7.3.79" }, want: []string{back}},
		"not while the upgrade goes on":   {given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }},
		"never those of another control-plane instance": {given: func(s *plan.Snapshot) {
			s.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"dc2-storage-1"}}
		}},
		"nothing where nothing was announced": {given: func(s *plan.Snapshot) { s.Coordination.Announced = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range UpdateStatus.Decide(given(tc.given)).Actions {
				if _, ok := a.(plan.WithdrawUpgrade); ok {
					got = append(got, a.Describe())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpgradeAnnouncementsAreWithdrawnFirst(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"storage-114"}}
	s.Cluster.Status.Health.Available = false // something to write
	actions := UpdateStatus.Decide(s).Actions
	if len(actions) != 2 || plan.KindOf(actions[0]) != "WithdrawUpgrade" {
		t.Errorf("decided %v", stagestest.Described(plan.Decision{Actions: actions}))
	}
}
