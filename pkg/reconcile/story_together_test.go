package reconcile_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func globally(s *v1beta2.FoundationDBClusterSpec) {
	s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
}

// Two instances get the same new knob. Each loads it into its pods and announces them;
// one restart reaches the processes of both.
func TestTwoControlPlaneInstancesRestartTogetherInGlobalMode(t *testing.T) {
	s := instances(t, 21, globally, "kc1", "kc2")
	before := s.acted()
	s.change(func(spec *v1beta2.FoundationDBClusterSpec) {
		spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_available_space_ratio=0.01"}},
		}
	})
	var story bytes.Buffer
	s.settle(40, &story)
	golden.RequireEqual(t, story.Bytes())
	var restarts []int
	for _, a := range s.actedSince(before) {
		if restart, ok := a.(plan.RestartProcesses); ok {
			restarts = append(restarts, len(restart.Addresses))
		}
	}
	if diff := cmp.Diff([]int{12}, restarts); diff != "" {
		t.Errorf("processes per restart (-want +got):\n%s", diff)
	}
	s.wantNothingListed()
}

// Both instances have groups removed. They are excluded by one command and included by
// one, and no entry is left behind.
func TestTwoControlPlaneInstancesRemoveGroupsTogetherInGlobalMode(t *testing.T) {
	s := instances(t, 22, globally, "kc1", "kc2")
	before := s.acted()
	for _, name := range s.names {
		w := s.clusters[name]
		i := slices.IndexFunc(w.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == v1beta2.ProcessClassStorage })
		changeSpec(w, func(spec *v1beta2.FoundationDBClusterSpec) {
			spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{w.Resource.Status.ProcessGroups[i].ProcessGroupID}
		})
	}
	var story bytes.Buffer
	s.settle(60, &story)
	golden.RequireEqual(t, story.Bytes())
	var excluded, included []int
	for _, a := range s.actedSince(before) {
		switch a := a.(type) { //nolint:gochecksumtype // the rest are of no interest here
		case plan.Exclude:
			excluded = append(excluded, len(a.Targets))
		case plan.IncludeAndForget:
			included = append(included, len(a.Targets))
		}
	}
	if diff := cmp.Diff([]int{2}, excluded); diff != "" {
		t.Errorf("groups per exclusion (-want +got):\n%s", diff)
	}
	slices.Sort(included)
	if diff := cmp.Diff([]int{0, 2}, included); diff != "" {
		t.Errorf("groups per inclusion (-want +got):\n%s", diff)
	}
	s.wantNothingListed()
}

// change gives all instances the same wish.
func (s sites) change(edit func(*v1beta2.FoundationDBClusterSpec)) {
	for _, w := range s.clusters {
		changeSpec(w, edit)
	}
}

// acted counts what every instance has done.
func (s sites) acted() map[string]int {
	counts := map[string]int{}
	for name, w := range s.clusters {
		counts[name] = len(w.Acted)
	}
	return counts
}

// actedSince is what all instances have done since.
func (s sites) actedSince(before map[string]int) []plan.Action {
	var acted []plan.Action
	for _, name := range s.names {
		acted = append(acted, s.clusters[name].Acted[before[name]:]...)
	}
	return acted
}

func (s sites) wantNothingListed() {
	s.t.Helper()
	var snapshot plan.Snapshot
	if err := s.clusters[s.names[0]].Observe(s.t.Context(), &snapshot, plan.Coordination); err != nil {
		s.t.Fatal(err)
	}
	for _, list := range fdb.SharedLists() {
		if left := snapshot.Coordination.Lists.Members(list); len(left) > 0 {
			s.t.Errorf("%v are still in %s", left, list)
		}
	}
	if left := snapshot.Coordination.Lists.Addresses; len(left) > 0 || !snapshot.Coordination.Lists.Read {
		s.t.Errorf("addresses %v are left", left)
	}
}
