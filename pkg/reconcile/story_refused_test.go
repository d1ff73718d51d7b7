package reconcile_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A group whose process does not report for long is replaced as soon as the API server accepts a successor, and not before.
func TestNoGroupIsReplacedWhileItsSuccessorIsRefused(t *testing.T) {
	w := cluster(t, 1, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(600)
	})
	settle(t, w, 14, io.Discard)
	full := plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByQuota, "pods", "exceeded")
	w.Reject = func(class v1beta2.ProcessClass) *plan.Refusal {
		if class == v1beta2.ProcessClassStorage {
			return &full
		}
		return nil
	}
	for _, g := range w.Resource.Status.ProcessGroups {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			w.Broken = map[string]bool{g.PodName(w.Resource): true}
			w.KillServers(g.PodName(w.Resource))
			break
		}
	}
	marked := func() (n int) {
		for _, g := range w.Resource.Status.ProcessGroups {
			if g.IsMarkedForRemoval() {
				n++
			}
		}
		return n
	}
	for range 10 {
		pass(t, w, func(reconcile.Event) {})
		w.Tick(3 * time.Minute)
	}
	if marked() != 0 {
		t.Errorf("marked although the successor is refused")
	}
	w.Reject = nil
	pass(t, w, func(reconcile.Event) {})
	if marked() != 1 {
		t.Errorf("%d groups marked, want 1 once the successor is accepted", marked())
	}
}

// Marks that the spec orders are recorded without a dry run of the successor: that costs a process, and no copy.
func TestDataOfAGroupThatTheSpecRemovesKeepsAllCopiesWhileItsSuccessorIsRefused(t *testing.T) {
	w := cluster(t, 1, func(*v1beta2.FoundationDBCluster) {})
	settle(t, w, 14, io.Discard)
	ofStorage := func() (ids []v1beta2.ProcessGroupID) {
		for _, g := range w.Resource.Status.ProcessGroups {
			if g.ProcessClass == v1beta2.ProcessClassStorage && w.Pods[g.PodName(w.Resource)] != nil {
				ids = append(ids, g.ProcessGroupID)
			}
		}
		return ids
	}
	full := plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByQuota, "pods", "exceeded")
	w.Reject = func(v1beta2.ProcessClass) *plan.Refusal { return &full }
	before := ofStorage()
	w.Resource.Spec.ProcessGroupsToRemove = before[:1]
	passes := func() {
		for range 20 {
			pass(t, w, func(reconcile.Event) {})
			w.Tick(time.Minute)
			if copies, known := w.LiveCopies(); !known || copies < 2 {
				t.Fatalf("%d copies of data are left (known: %t)", copies, known)
			}
		}
	}
	passes()
	if left := ofStorage(); len(left) != len(before)-1 {
		t.Errorf("%v have pods, want all of %v but the first while the successor is refused", left, before)
	}
	w.Reject = nil
	passes()
	if left := ofStorage(); len(left) != len(before) || slices.Contains(left, before[0]) {
		t.Errorf("%v have pods, want another one for %s once the successor is accepted", left, before[0])
	}
}
