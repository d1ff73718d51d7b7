package cluster

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// UpdateLockConfiguration applies the spec's deny list to the database: which control-plane
// instances may not take the lock, and which may again. Those that the spec does not name stay
// unchanged, since other control-plane instances have specs of their own.
//
// It precedes everything that needs the lock, and needs none itself: the list exists for a
// control-plane instance that holds the lock and never releases it.
var UpdateLockConfiguration = plan.Stage{
	Name:  plan.StageUpdateLockConfiguration,
	Reads: plan.ClusterResource | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		c := s.Cluster
		if len(c.Spec.LockOptions.DenyList) == 0 || !c.Status.Configured {
			return plan.Decision{}
		}
		if !c.LocksUsed() {
			if !slices.ContainsFunc(c.Spec.LockOptions.DenyList, func(e v1beta2.LockDenyListEntry) bool { return !e.Allow }) {
				return plan.Decision{} // whatever it allows is allowed already
			}
			return plan.Decision{Hold: &plan.Hold{
				Code:   plan.HoldLocksDisabled,
				Manual: true,
				Reason: "spec.lockOptions.denyList has no effect: locks are not used here, see spec.lockOptions.disableLocks",
			}}
		}
		if !s.Coordination.Read {
			return plan.Wait(plan.PodDelay, plan.HoldDenyListUnknown, "cannot compare the deny list with the spec: it could not be read from the database")
		}
		change := denyListChange(s)
		if len(change.Deny)+len(change.Allow) == 0 {
			return plan.Decision{}
		}
		d := plan.Decision{Why: "the deny list in the database differs from the spec", Actions: []plan.Action{change}}
		if slices.Contains(change.Deny, c.LockOwner()) {
			d.Checks = []plan.Check{deniesItself(fmt.Sprintf("its own spec denies it: %s is on spec.lockOptions.denyList", c.LockOwner()))}
		}
		return d
	},
}

// MendsDenyList reports whether a stage applies the spec's deny list.
func MendsDenyList(s plan.Stage) bool { return s.Name == UpdateLockConfiguration.Name }

// denyListChange returns what the database's deny list lacks of the spec's, sorted.
func denyListChange(s plan.Snapshot) plan.UpdateDenyList {
	change := plan.UpdateDenyList{Note: fdb.Denial{By: "the spec of " + s.Cluster.Name, At: s.Now}}
	for _, entry := range s.Cluster.Spec.LockOptions.DenyList {
		switch denied := slices.Contains(s.Coordination.DenyList, entry.ID); {
		case entry.Allow && denied:
			change.Allow = append(change.Allow, entry.ID)
		case !entry.Allow && !denied:
			change.Deny = append(change.Deny, entry.ID)
		}
	}
	slices.Sort(change.Allow)
	slices.Sort(change.Deny)
	change.Allow, change.Deny = slices.Compact(change.Allow), slices.Compact(change.Deny)
	return change
}

// deniesItself warns that a control-plane instance denies itself the lock. That can be intended: it
// prevents one of several from changing the database.
func deniesItself(evidence string) plan.Check {
	return plan.Check{ID: plan.CheckNotDenied, Question: "may this control-plane instance still take the lock?", Gate: plan.GateDeny, Evidence: evidence}
}
