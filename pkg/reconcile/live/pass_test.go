package live_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

func TestAClusterComesUpFromNothing(t *testing.T) {
	f := newField(t, sample())
	f.settle(14)
	s := f.record().Status
	if !s.Configured || !s.Health.Available || s.Generations.Reconciled != 1 || len(s.ProcessGroups) != 16 {
		t.Errorf("configured %t, available %t, reconciled generation %d, %d process groups", s.Configured, s.Health.Available, s.Generations.Reconciled, len(s.ProcessGroups))
	}
}

// mostRequests is how many requests a pass with nothing to do may make, however
// large the cluster.
const mostRequests = 10

func TestAPassWithNothingToDoIsCheap(t *testing.T) {
	sizes := map[string]struct{ storage, groups int }{
		"over 16 process groups":  {0, 16},
		"over 400 process groups": {387, 400},
	}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			record := sample()
			if size.storage > 0 {
				record.Spec.ProcessCounts = v1beta2.ProcessCounts{}
				record.Spec.ProcessCounts.Storage = size.storage
			}
			f := settledAs(t, record)
			if got := len(f.record().Status.ProcessGroups); got != size.groups {
				t.Fatalf("%d process groups, want %d", got, size.groups)
			}
			f.log.reset()
			if done := f.pass(); done.Outcome != reconcile.Done {
				t.Fatalf("the pass ends %s", done.Outcome)
			}
			if got := f.log.all(); len(got) > mostRequests {
				t.Errorf("%d requests, at most %d:\n%s", len(got), mostRequests, strings.Join(got, "\n"))
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
