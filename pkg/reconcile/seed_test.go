package reconcile

import (
	"errors"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// An approved plan names the groups that it adds: a pass that follows on a failure adds the same ones.
func TestASeedLastsUntilProcessGroupsAreAdded(t *testing.T) {
	tests := map[string]struct {
		event   Event
		another bool
	}{
		"groups were added":            {event: ActionDone{Action: plan.AddGroups{}}, another: true},
		"groups could not be added":    {event: ActionDone{Action: plan.AddGroups{}, Err: errors.New("conflict")}},
		"something else was done":      {event: ActionDone{Action: plan.CreatePod{}}},
		"groups are about to be added": {event: ActionStarted{Action: plan.AddGroups{}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NextSeed(7, tc.event); (got != 7) != tc.another || got != NextSeed(7, tc.event) {
				t.Errorf("seed %d", got)
			}
		})
	}
}
