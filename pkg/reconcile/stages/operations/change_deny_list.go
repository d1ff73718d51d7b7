package operations

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ChangeDenyList returns a stage that adds a control-plane instance to the deny list in the database for
// a user, or removes it. Other entries stay as they are. It needs no lock: the list exists for a
// control-plane instance that holds the lock and never releases it. The user and the reason are
// recorded beside the list.
func ChangeDenyList(entry v1beta2.LockDenyListEntry, user, reason string) plan.Stage {
	return plan.Stage{
		Name:  plan.StageChangeDenyList,
		Reads: plan.ClusterResource | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			c := s.Cluster
			switch {
			case !c.LocksUsed():
				return plan.Decision{Hold: &plan.Hold{Code: plan.HoldLocksDisabled, Manual: true, Reason: "locks are not used here, so the deny list has no effect; see spec.lockOptions.disableLocks"}}
			case !s.Coordination.Read:
				return plan.Wait(plan.PodDelay, plan.HoldDenyListUnknown, "the deny list in the database could not be read")
			case slices.Contains(s.Coordination.DenyList, entry.ID) != entry.Allow:
				return plan.Decision{}
			case entry.Allow:
				return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.UpdateDenyList{Allow: []string{entry.ID}}}}
			}
			note := fdb.Denial{By: user, At: s.Now, Reason: reason}
			return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.UpdateDenyList{Deny: []string{entry.ID}, Note: note}}}
		},
	}
}
