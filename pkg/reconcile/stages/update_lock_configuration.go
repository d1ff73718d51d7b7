package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// updateLockConfiguration puts the spec's deny list in force: which instances may not
// take the lock, and which may again. Those that the spec does not name stay as they
// are, since other instances have specs of their own.
//
// It comes before everything that needs the lock, and needs none itself: an instance
// that holds the lock and never comes back is what the list is for.
var updateLockConfiguration = plan.Stage{
	Name:  plan.StageUpdateLockConfiguration,
	Reads: plan.Record | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		c := s.Cluster
		if len(c.Spec.LockOptions.DenyList) == 0 || !c.Status.Configured {
			return plan.Decision{}
		}
		if !c.LocksUsed() {
			return plan.Decision{Hold: &plan.Hold{
				Code:   plan.HoldLocksDisabled,
				Human:  true,
				Reason: "lockOptions.denyList shuts nobody out: no locks are used here, see lockOptions.disableLocks",
			}}
		}
		if !s.Coordination.Read {
			return plan.Wait(podDelay, plan.HoldDenyListUnknown, "the deny list cannot be compared with the spec: what instances share was not read")
		}
		change := denyListChange(s)
		if len(change.Deny)+len(change.Allow) == 0 {
			return plan.Decision{}
		}
		d := plan.Decision{Why: "the spec's deny list is not in force yet", Actions: []plan.Action{change}}
		if slices.Contains(change.Deny, c.LockOwner()) {
			d.Checks = []plan.Check{deniesItself(fmt.Sprintf("its own spec shuts it out: %s is on lockOptions.denyList", c.LockOwner()))}
		}
		return d
	},
}

// MendsDenyList reports whether a stage puts the spec's deny list into force.
func MendsDenyList(s plan.Stage) bool { return s.Name == updateLockConfiguration.Name }

// denyListChange is what the database's deny list lacks of the spec's, sorted.
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

// deniesItself says aloud that an instance shuts out itself. That can be meant: it is how one
// of several is kept from changing the database.
func deniesItself(evidence string) plan.Check {
	return plan.Check{ID: plan.CheckNotDenied, Question: "may this instance take the lock from now on?", Gate: plan.GateDeny, Evidence: evidence}
}
