package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A change of coordinators and an exclusion each cause a recovery, and wait for the last one
// to be five and two minutes ago. When process groups are replaced together and one of them
// is a coordinator, the change comes first: the other order takes five minutes longer.
func TestReplacingACoordinatorAndOthersWaitsForOnlyOneRecovery(t *testing.T) {
	st := newStory(t, 10, nil)
	coordinator := st.coordinator()
	at := slices.IndexFunc(st.w.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.ProcessClass == v1beta2.ProcessClassLog && !st.coordinates(g)
	})
	other := st.w.Resource.Status.ProcessGroups[at]
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{coordinator.ProcessGroupID, other.ProcessGroupID}
	})
	began, before := st.w.Now(), len(st.w.Acted)
	var moved, excluded time.Duration
	for excluded == 0 && st.w.Now().Sub(began) < 15*time.Minute {
		st.pass()
		for ; before < len(st.w.Acted); before++ {
			if _, is := st.w.Acted[before].(plan.ChangeCoordinators); is {
				moved = st.w.Now().Sub(began)
			}
			if _, is := st.w.Acted[before].(plan.Exclude); is {
				excluded = st.w.Now().Sub(began)
			}
		}
		st.w.Tick(15 * time.Second)
	}
	if moved == 0 || excluded < moved || excluded > 3*time.Minute {
		t.Errorf("coordinators moved after %s and groups were excluded after %s, want one wait of two minutes in between", moved, excluded)
	}
}
