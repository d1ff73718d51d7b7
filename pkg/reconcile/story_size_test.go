package reconcile_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// New process groups come up in one pass, and the next finds them at work.
func TestAClusterGrows(t *testing.T) {
	st := newStory(t, 8, nil)
	st.heading("the spec has 5 storage process groups instead of 3")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Storage = 5 })
	st.run(time.Minute, always)
	if n := len(st.pods(v1beta2.ProcessClassStorage)); n != 5 || len(st.w.Pods) != 13 {
		t.Errorf("%d storage groups and %d pods", n, len(st.w.Pods))
	}
	st.ends()
}

// Groups are marked, drained, and removed one fault domain at a time.
func TestAClusterShrinks(t *testing.T) {
	st := newStory(t, 9, func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessCounts.Storage = 5 })
	st.w.FDB.Databases()[0].LoadBytes(64 << 20)
	st.heading("the spec has 3 storage process groups instead of 5")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessCounts.Storage = 3 })
	st.run(2*time.Minute, always)
	if n := len(st.pods(v1beta2.ProcessClassStorage)); n != 3 || len(st.w.Pods) != 11 || len(st.w.Volumes) != 7 {
		t.Errorf("%d storage groups, %d pods, %d PVCs", n, len(st.w.Pods), len(st.w.Volumes))
	}
	if !st.w.FDB.Databases()[0].EveryKeyOnAtLeast(2) {
		t.Error("data has too few replicas")
	}
	st.ends()
}
