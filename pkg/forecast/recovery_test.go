package forecast_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

// An exclusion waits until the last recovery is two minutes old, in the forecast as in the cluster.
func TestAForecastIncludesTheWaitAfterARecovery(t *testing.T) {
	for name, c := range map[string]struct {
		ago         time.Duration
		least, most float64
	}{
		"long ago": {ago: 20 * time.Minute, most: 60},
		"just now": {ago: 30 * time.Second, least: 80, most: 130},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, nil)
			for _, db := range w.FDB.Databases() {
				db.Recover()
			}
			w.Tick(c.ago)
			w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}
			w.Resource.Generation++
			f := forecastOf(t, w)
			phase := f.Phase("ExcludeInstances", "Exclude")
			if f.End != planned.ForecastComplete || phase == nil || phase.FromSeconds < c.least || phase.FromSeconds > c.most {
				t.Errorf("ends %s; excludes %+v, want after %.0f to %.0f s", f.End, phase, c.least, c.most)
			}
		})
	}
}
