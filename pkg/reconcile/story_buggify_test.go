package reconcile_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// A pod that crashes because of the spec is recreated, and recreated again when the
// spec has changed. It is never taken for a failure: hours later it is still the same
// process group with the same volume.
func TestACrashLoopFromBuggifyIsNotTreatedAsAFailure(t *testing.T) {
	st := newStory(t, 13, nil)
	groups := classes(st.w)
	target := st.group(v1beta2.ProcessClassStorage)
	st.heading("the spec has the main container of %s crash", target.ProcessGroupID)
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: v1beta2.ContainerMain, Targets: []v1beta2.ProcessGroupID{target.ProcessGroupID}}}
	})
	st.times(2, 5*time.Minute)
	st.heading("three hours later")
	st.w.Tick(3 * time.Hour)
	st.times(1, time.Minute)
	st.heading("the spec has it crash no more")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) { s.Buggify = v1beta2.BuggifyConfig{} })
	st.run(5*time.Minute, always)
	st.heading("the spec lets no node take the pod of %s", target.ProcessGroupID)
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.Buggify.NoSchedule = []v1beta2.ProcessGroupID{target.ProcessGroupID}
	})
	st.times(2, 5*time.Minute)
	st.heading("nodes may take it again")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) { s.Buggify = v1beta2.BuggifyConfig{} })
	st.run(5*time.Minute, always)
	if st.w.Resource.ProcessGroup(target.ProcessGroupID) == nil || len(classes(st.w)) != len(groups) {
		t.Errorf("%s was replaced", target.ProcessGroupID)
	}
	st.ends()
}
