package stages

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// announcing announces, and acts at the earliest when every instance had the time to do
// the same.
func announcing(d plan.Decision, change plan.ChangeLists, action safety.SynchronizedAction) plan.Decision {
	d.Why = fmt.Sprintf("all instances take part in one %s", action.Name)
	d.Actions = []plan.Action{change}
	d.Hold = &plan.Hold{
		Code:       plan.HoldOtherInstancesNotReady,
		Reason:     fmt.Sprintf("the common %s follows when all instances are ready and nothing has been listed for %s", action.Name, safety.SynchronizationQuiet),
		RetryAfter: safety.SynchronizationQuiet,
	}
	return d
}

// withdrawing adds to a decision that waits what is not to be announced any longer.
func withdrawing(d plan.Decision, change plan.ChangeLists) plan.Decision {
	if !change.IsEmpty() {
		d.Why = "they are not ready any more"
		d.Actions = append(d.Actions, change)
	}
	return d
}

// notTogether waits for the other instances.
func notTogether(check plan.Check, missing time.Duration) *plan.Hold {
	return &plan.Hold{Code: plan.HoldOtherInstancesNotReady, Reason: check.Words(), RetryAfter: missing}
}

// withdrawal takes groups that the record forgets off all lists; nothing in local mode.
// Should it fail, the next pass finds that they have vanished.
func withdrawal(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.ChangeLists {
	e := listEditor{s: s, change: plan.ChangeLists{At: s.Now}}
	for _, id := range groups {
		e.drop(id, fdb.SharedLists()...)
		e.keepAddresses(id, nil)
	}
	return e.change
}
