package forecast_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// A process that crashes while an upgrade is prepared starts in the new version, and cannot join
// before all others restart. The upgrade completes nevertheless, as a forecast from that moment
// shows.
func TestAnUpgradeCompletesWhenProcessesCrashBeforeTheCommonRestart(t *testing.T) {
	for name, crashing := range map[string]func(*sim.Cluster) []v1beta2.ProcessGroupID{
		"a storage process": func(w *sim.Cluster) []v1beta2.ProcessGroupID {
			return []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}
		},
		"a log process": func(w *sim.Cluster) []v1beta2.ProcessGroupID {
			return []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassLog)}
		},
		"a coordinator": func(w *sim.Cluster) []v1beta2.ProcessGroupID { return []v1beta2.ProcessGroupID{coordinatorOf(w)} },
		"two of a kind": func(w *sim.Cluster) []v1beta2.ProcessGroupID {
			return []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStateless), groupOf(w, v1beta2.ProcessClassStorage)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t, nil)
			w.Resource.Spec.Version = "7.4.6"
			w.Resource.Generation++
			prepare(t, w)
			for _, id := range crashing(w) {
				w.KillServers(w.Resource.ProcessGroup(id).PodName(w.Resource))
			}
			w.Tick(10 * time.Second)
			if f := forecastOf(t, w); f.End != planned.ForecastComplete {
				t.Errorf("the forecast ends %s:\n%s", f.End, summary(f))
			}
			happens(t, w, stages.Cluster())
			if w.Resource.Status.RunningVersion != "7.4.6" {
				t.Errorf("runs %s", w.Resource.Status.RunningVersion)
			}
		})
	}
}

// prepare runs passes until the pods have the new configuration, and none of the restart.
func prepare(t *testing.T, w *sim.Cluster) {
	t.Helper()
	prepared := false
	for range 5 {
		p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Seed: 42, Report: func(e reconcile.Event) {
			if a, ok := e.(reconcile.ActionDone); ok && a.Stage == plan.StageUpdateSidecarVersions {
				prepared = true
			}
		}}
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Tick(5 * time.Second)
		if prepared {
			return
		}
	}
	t.Fatal("not prepared")
}
