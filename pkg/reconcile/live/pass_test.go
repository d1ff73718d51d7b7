package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestLivePassesReconcileANewCluster(t *testing.T) {
	f := newField(t, sample())
	f.settle(14)
	s := f.resource().Status
	if !s.Configured || !s.Health.Available || s.Generations.Reconciled != 1 || len(s.ProcessGroups) != 16 {
		t.Errorf("configured %t, available %t, reconciled generation %d, %d process groups", s.Configured, s.Health.Available, s.Generations.Reconciled, len(s.ProcessGroups))
	}
}

// maxRequests is how many requests a pass with nothing to do may make, however
// large the cluster.
const maxRequests = 10

func TestAPassWithNothingToDoSendsFewRequests(t *testing.T) {
	sizes := map[string]struct{ storage, groups int }{
		"over 16 process groups":  {0, 16},
		"over 400 process groups": {387, 400},
	}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			cluster := sample()
			if size.storage > 0 {
				cluster.Spec.ProcessCounts = v1beta2.ProcessCounts{}
				cluster.Spec.ProcessCounts.Storage = size.storage
			}
			f := settledAs(t, cluster)
			if got := len(f.resource().Status.ProcessGroups); got != size.groups {
				t.Fatalf("%d process groups, want %d", got, size.groups)
			}
			f.log.reset()
			if done := f.pass(); done.Outcome != reconcile.Done {
				t.Fatalf("the pass ends %s", done.Outcome)
			}
			if got := f.log.all(); len(got) > maxRequests {
				t.Errorf("%d requests, at most %d:\n%s", len(got), maxRequests, strings.Join(got, "\n"))
			}
			if writes := f.log.writes(); len(writes) > 0 {
				t.Errorf("wrote %v", writes)
			}
			execs := f.log.those("exec")
			if len(execs) != 1 || !strings.Contains(execs[0], "status json") {
				t.Errorf("ran %v, want one status json", execs)
			}
		})
	}
}

// TestTheFirstObservationReusesARecentlyReadResource counts the reads of the resource.
func TestTheFirstObservationReusesARecentlyReadResource(t *testing.T) {
	for name, tc := range map[string]struct {
		age   time.Duration
		reads []int // after each observation
	}{
		"just read":                {0, []int{0, 1, 2}},
		"read before five seconds": {5 * time.Second, []int{0, 1, 2}},
		"read before longer":       {5*time.Second + 1, []int{1, 2, 3}},
		"read in the future":       {-time.Second, []int{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			f := settled(t)
			f.log.reset()
			given := f.resource()
			given.Labels = map[string]string{"read": "before"}
			f.log.reset()
			f.cluster.UseFirst(live.Given{Cluster: given, At: f.cluster.Clock.Now().Add(-tc.age)})
			for i, want := range tc.reads {
				s := f.observe(plan.ClusterResource)
				if first := s.Cluster.Labels["read"] == "before"; first != (want == 0) {
					t.Errorf("observation %d: the given resource %t", i+1, first)
				}
				if got := f.log.those("get"); len(got) != want {
					t.Errorf("observation %d: %d reads, want %d: %v", i+1, len(got), want, f.log.all())
				}
			}
		})
	}
}
