package stages

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// announcing announces a change, and acts at the earliest when every control-plane instance had
// the time to do the same.
func announcing(d plan.Decision, change plan.ChangeLists, action safety.SynchronizedAction) plan.Decision {
	d.Why = fmt.Sprintf("all control-plane instances take part in one %s", action.Name)
	d.Actions = []plan.Action{change}
	d.Hold = &plan.Hold{
		Code:       plan.HoldOtherInstancesNotReady,
		Reason:     fmt.Sprintf("the common %s follows when all control-plane instances are ready and the lists have not changed for %s", action.Name, safety.SynchronizationQuiet),
		RetryAfter: safety.SynchronizationQuiet,
	}
	return d
}

// withdrawing adds to a waiting decision the announcements to withdraw.
func withdrawing(d plan.Decision, change plan.ChangeLists) plan.Decision {
	if !change.IsEmpty() {
		d.Why = "not ready any more"
		d.Actions = append(d.Actions, change)
	}
	return d
}

// notTogether waits for the other control-plane instances.
func notTogether(check plan.Check, missing time.Duration) *plan.Hold {
	return &plan.Hold{Code: plan.HoldOtherInstancesNotReady, Reason: check.Evidence, RetryAfter: missing}
}

// withdrawal removes groups that leave the status from all lists; nothing in local mode. If it
// fails, the next pass finds that they have vanished.
func withdrawal(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.ChangeLists {
	e := listEditor{s: s, change: plan.ChangeLists{At: s.Now}}
	for _, id := range groups {
		e.drop(id, fdb.SharedLists()...)
		e.keepAddresses(id, nil)
	}
	return e.change
}
