package stages

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ShutOut puts an instance on the deny list in the database for a person, or takes it off.
// Others on the list stay as they are. It needs no lock: an instance that holds the lock
// and never comes back is what the list is for. Who did so, and why, is noted beside the list.
func ShutOut(owner string, deny bool, person, reason string) plan.Stage {
	return plan.Stage{
		Name:  plan.StageShutOut,
		Reads: plan.Record | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			c := s.Cluster
			switch {
			case !c.LocksUsed():
				return plan.Decision{Hold: &plan.Hold{Code: plan.HoldLocksDisabled, Human: true, Reason: "no locks are used here, so the deny list shuts nobody out; see spec.lockOptions.disableLocks"}}
			case !s.Coordination.Read:
				return plan.Wait(podDelay, plan.HoldDenyListUnknown, "the deny list in the database could not be read")
			case slices.Contains(s.Coordination.DenyList, owner) == deny:
				return plan.Decision{}
			case !deny:
				return plan.Decision{Why: "a person asks for it", Actions: []plan.Action{plan.UpdateDenyList{Allow: []string{owner}}}}
			}
			note := fdb.Denial{By: person, At: s.Now, Reason: reason}
			d := plan.Decision{Why: "a person asks for it", Actions: []plan.Action{plan.UpdateDenyList{Deny: []string{owner}, Note: note}}}
			if owner == c.LockOwner() {
				d.Checks = []plan.Check{deniesItself("a person shuts out the very instance that does it: " + owner)}
			}
			return d
		},
	}
}
