package check

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// keepFailing makes the spec keep a group that failed for so long, and one that does not exist.
func (f *Facts) keepFailing(since time.Duration) {
	g := f.first("storage")
	g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-since))
	f.Recorded = f.Cluster
	f.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{g.ProcessGroupID, "storage-9"}
}

// A kept group fails for long once it would have been replaced.
func TestCheckReportsKeptGroupsThatFailLongerThanReplacementTakes(t *testing.T) {
	tests := map[string]struct {
		given func(*Facts)
		want  Outcome
	}{
		"for longer than the replacement takes": {func(f *Facts) { f.keepFailing(2*time.Hour + time.Minute) }, Failed},
		"for less":                              {func(f *Facts) { f.keepFailing(2*time.Hour - time.Minute) }, Passed},
		"one that is not kept":                  {condition(v1beta2.ConditionMissingProcesses), Passed},
		"one on a tainted node": {func(f *Facts) {
			f.keepFailing(time.Minute)
			f.first("storage").SetCondition(v1beta2.ConditionNodeTaintReplacing, noon.Add(-3*time.Hour))
		}, Passed},
		"one that is marked": {func(f *Facts) { f.keepFailing(3 * time.Hour); f.first("storage").MarkForRemoval(noon) }, Passed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			if item := itemOf(t, reportOn(f, Options{}), "PG-011"); item.Outcome != tc.want {
				t.Errorf("got %s: %+v", item.Outcome, item)
			}
		})
	}
}
