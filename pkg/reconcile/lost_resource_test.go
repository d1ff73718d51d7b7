package reconcile_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// A resource that was recreated has an empty status, and its pods may all be down at
// that moment. What is left of the cluster file must bring the old database back, and
// no pass may make a second one over its volumes.
func TestARecreatedResourceNeverCreatesASecondDatabase(t *testing.T) {
	tests := map[string]struct {
		given func(*sim.Cluster)
		// back is whether the database comes back without a user.
		back bool
	}{
		"the ConfigMap is left": {func(*sim.Cluster) {}, true},
		"the ConfigMap is left and the first write of the record fails": {func(w *sim.Cluster) {
			w.Refuse = func(a plan.Action) error {
				if plan.KindOf(a) != "WriteStatus" {
					return nil
				}
				w.Refuse = nil
				return errors.New("the object has been modified")
			}
		}, true},
		"only the volumes are left": {func(w *sim.Cluster) { w.ConfigMap = nil }, false},
		"only the volumes are left, and a user gives the cluster file": {func(w *sim.Cluster) {
			w.Resource.Spec.SeedConnectionString = w.ConfigMap.Data["cluster-file"]
			w.ConfigMap = nil
		}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := cluster(t, 3, nil)
			settle(t, w, 14, io.Discard)
			before := w.ConfigMap.Data["cluster-file"]
			w.Resource.Status = v1beta2.FoundationDBClusterStatus{}
			for pod := range w.Pods {
				w.KillPod(pod)
			}
			w.Tick(5 * time.Second)
			tc.given(w)
			acted := len(w.Acted)
			for seed := range uint64(15) {
				p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: seed}
				done, err := p.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				w.Tick(max(done.RetryAfter, 5*time.Second))
			}
			for _, a := range w.Acted[acted:] {
				if c, ok := a.(plan.Configure); ok && c.New {
					t.Errorf("creates a database: %s", a.Describe())
				}
			}
			if n := len(w.FDB.Databases()); n != 1 {
				t.Errorf("%d databases", n)
			}
			switch {
			case !tc.back && len(w.Acted) > acted:
				t.Errorf("acts beside a lost database, first with %s", w.Acted[acted].Describe())
			case tc.back && w.Resource.Status.ConnectionString != before:
				t.Errorf("the cluster file is %q, was %q", w.Resource.Status.ConnectionString, before)
			case tc.back && !w.Resource.Status.Health.Available:
				t.Error("the database does not come back")
			}
		})
	}
}
