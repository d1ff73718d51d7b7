package reconcile_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// A new engine is configured at once and at work much later. The spec is fulfilled when
// every server runs on it, and not before.
func TestAStorageEngineChangeIsReconciledOnceEveryProcessUsesIt(t *testing.T) {
	tests := map[string]struct {
		migration v1beta2.StorageMigrationType
		wiggle    *int
		ends      bool
	}{
		"all servers at once":             {v1beta2.StorageMigrationAggressive, nil, true},
		"one server after the other":      {v1beta2.StorageMigrationGradual, new(1), true},
		"never, as the wiggle is refused": {v1beta2.StorageMigrationGradual, new(0), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := oldAndQuiet(t, 51, nil)
			changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
				s.DatabaseConfiguration.StorageEngine = v1beta2.StorageEngineRedwood
				s.DatabaseConfiguration.StorageMigrationType = &tc.migration
				s.DatabaseConfiguration.PerpetualStorageWiggle = tc.wiggle
			})
			reached := false
			for range 30 {
				pass(t, w, func(reconcile.Event) {})
				reached = w.Resource.Status.Generations.Reconciled == w.Resource.Generation
				engines := enginesOf(t, w)
				if len(engines) > 1 || engines["ssd-2"] > 0 {
					if reached {
						t.Fatalf("reconciled, and the servers run on %v", engines)
					}
				} else if reached {
					break
				}
				w.Tick(10 * time.Second)
			}
			if reached != tc.ends {
				t.Errorf("reconciled: %t, want %t; the servers run on %v", reached, tc.ends, enginesOf(t, w))
			}
		})
	}
}

// enginesOf counts the storage servers by the engine that they run on.
func enginesOf(t *testing.T, w *sim.Cluster) map[string]int {
	t.Helper()
	var s plan.Snapshot
	if err := w.Observe(t.Context(), &s, plan.ClusterResource|plan.Database); err != nil {
		t.Fatal(err)
	}
	if s.Database.Status == nil {
		return nil
	}
	return s.Database.Status.StorageEngines()
}
