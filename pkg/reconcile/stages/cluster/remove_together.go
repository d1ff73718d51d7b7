package cluster

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// together extends an inclusion to the exclusions of removed groups of all control-plane
// instances, and reports whether it may happen now. Own groups are announced first, when they
// have no objects left. Only own groups are removed from the status; the other control-plane
// instances find their groups included, and remove them.
func (r *removal) together(d *plan.Decision, a *plan.IncludeAndForget) bool {
	if !r.s.Coordination.Lists.Read {
		r.waiting.AddAll(r.removable, "%s: removed, exclusions kept for now (%s)", a.Subject(), readings.ListsUnread)
		return false
	}
	if change := r.announcement(); !change.IsEmpty() {
		d.Why = "their objects are deleted"
		d.Actions = append(d.Actions, change)
		r.waiting.AddAll(r.removable, "%s: removed; the common inclusion follows when all control-plane instances are ready and the lists have not changed for %s", a.Subject(), safety.SynchronizationQuiet)
		return false
	}
	members, check, _ := safety.Synchronized(r.s, safety.CommonInclusion())
	if check.OK {
		check = r.othersRemoved(members)
	}
	d.Checks = append(d.Checks, check)
	if !check.OK {
		r.waiting.AddAll(r.removable, "%s: removed, exclusions kept for now (%s)", a.Subject(), check.Evidence)
		return false
	}
	for _, g := range safety.Others(r.s, members) {
		a.Targets = append(a.Targets, exclusionsOf(r.s, g)...)
	}
	return true
}

func (r *removal) announcement() plan.ChangeLists {
	e := readings.ListEditor{S: r.s, Change: plan.ChangeLists{At: r.s.Now}}
	for _, g := range r.removable {
		e.Add(g, fdb.PendingForInclusion, fdb.ReadyForInclusion)
	}
	return e.Change
}

// othersRemoved checks whether the processes of other control-plane instances' groups have ended
// whose exclusions would end. An operator announces a group when its pod terminates; a process
// that still runs would get data again, and lose it.
func (r *removal) othersRemoved(members []fdb.Member) plan.Check {
	check := plan.Check{ID: plan.CheckProcessesEnded, Question: "have the processes ended whose exclusions would end?", Gate: plan.GateSync, OK: true, Evidence: "none of them reports"}
	if !r.s.Database.Status.ListsProcesses() {
		check.OK, check.Evidence = false, "unknown: the status document has no complete list of processes"
		return check
	}
	for _, g := range safety.Others(r.s, members) {
		if len(exclusionsOf(r.s, g)) > 0 && len(r.s.Database.Status.ProcessesOf(string(g.ProcessGroupID))) > 0 {
			check.OK, check.Evidence = false, fmt.Sprintf("%s still reports", g.ProcessGroupID)
			return check
		}
	}
	return check
}

// minRecoveryAge is the minimum time since the last recovery before a process that the
// database does not list is proven to be removed: after a recovery the processes register with
// the cluster controller again, and until then the list of a status document is incomplete.
const minRecoveryAge = time.Minute

// IsHousekeeping reports whether a refused check of an inclusion only requires more time since
// the last recovery, and the database is stable enough to prove that the groups are removed.
// Any other refusal is waited for.
func IsHousekeeping(s plan.Snapshot, refused plan.Check) bool {
	return refused.Gate == plan.GateRecovery && safety.Available(s.Database).OK && !s.Database.Status.Incomplete() &&
		safety.Recovered(s.Database).OK && safety.RecoveredFor(s.Database, minRecoveryAge).OK
}

// HousekeepingOf returns what a later pass does instead of an inclusion that is refused now.
func HousekeepingOf(s plan.Snapshot, a plan.IncludeAndForget, refused plan.Check) *plan.Housekeeping {
	h := &plan.Housekeeping{Groups: a.Groups, Exclusions: a.Targets, Requires: []plan.Check{refused}}
	age, known := s.Database.Status.RecoveryAge()
	if left := MinRecoveryAgeToInclude - age; known && left > 0 {
		h.RetryAfter, h.Due = left, s.Now.Add(left)
	}
	return h
}
