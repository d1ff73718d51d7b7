package stages

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// together has an inclusion end the exclusions of all instances' groups that are gone,
// and reports whether it may happen now. This instance's groups are announced first, when
// nothing is left of them. Only the records of its own are dropped; another instance finds
// that nothing of its groups is excluded any more, and drops theirs.
func (r *removal) together(d *plan.Decision, a *plan.IncludeAndForget) bool {
	if !r.s.Coordination.Lists.Read {
		r.waiting.addAll(r.gone, "%s: gone, but the exclusions stay for now (%s)", a.Subject(), listsUnread)
		return false
	}
	if change := r.announcement(); !change.IsEmpty() {
		d.Why = "nothing is left of them"
		d.Actions = append(d.Actions, change)
		r.waiting.addAll(r.gone, "%s: gone; the common inclusion follows when all instances are ready and nothing has been listed for %s", a.Subject(), safety.SynchronizationQuiet)
		return false
	}
	members, check, _ := safety.Synchronized(r.s, safety.CommonInclusion())
	if check.OK {
		check = r.othersGone(members)
	}
	d.Checks = append(d.Checks, check)
	if !check.OK {
		r.waiting.addAll(r.gone, "%s: gone, but the exclusions stay for now (%s)", a.Subject(), check.Words())
		return false
	}
	for _, g := range safety.Others(r.s, members) {
		a.Targets = append(a.Targets, exclusionsOf(r.s, g)...)
	}
	return true
}

func (r *removal) announcement() plan.ChangeLists {
	e := listEditor{s: r.s, change: plan.ChangeLists{At: r.s.Now}}
	for _, g := range r.gone {
		e.add(g, fdb.PendingForInclusion, fdb.ReadyForInclusion)
	}
	return e.change
}

// othersGone asks whether the processes of other instances' groups have ended whose
// exclusions would end. An operator announces a group when its pod terminates; a server
// that still runs would be given data again, and take it along.
func (r *removal) othersGone(members []fdb.Member) plan.Check {
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
