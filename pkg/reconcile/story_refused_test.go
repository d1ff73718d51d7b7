package reconcile_test

import (
	"io"
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
