package cluster

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// restartTogether restarts the processes of all control-plane instances at once, so that a
// change of all of them costs one recovery. Every control-plane instance announces its own
// process groups; the one that holds the lock when all pending ones are ready restarts them.
//
// The operator removes the announcements of all control-plane instances before every restart,
// in local mode too. Here only those of restarted groups are removed, and none in local mode.
func restartTogether(s plan.Snapshot, b readings.Bounce, d plan.Decision) plan.Decision {
	if !s.Coordination.Lists.Read {
		d.Hold = &plan.Hold{Code: plan.HoldSharedListsUnread, Reason: "processes cannot restart together with those of other control-plane instances: " + readings.ListsUnread, RetryAfter: plan.PodDelay}
		return d
	}
	own := readings.Restartable(s, b)
	if change := readyToRestart(s, own); !change.IsEmpty() {
		return readings.Announcing(d, change, safety.CommonRestart())
	}
	members, check, missing := safety.Synchronized(s, safety.CommonRestart())
	d.Checks = append(d.Checks, check)
	if !check.OK {
		d.Hold = readings.NotTogether(check, missing)
		return d
	}
	action, notReporting := commonRestart(s, b, members)
	if len(notReporting) > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldAddressesUnknown, Reason: fmt.Sprintf("other control-plane instances announced the restart of %s, and the database does not report their addresses", readings.SomeOf(notReporting)), RetryAfter: plan.PodDelay}
		return d
	}
	d.Why = fmt.Sprintf("the processes of %s of all control-plane instances run with other arguments than they would start with now", phrase.Count(len(action.Groups), "process group"))
	d.Actions = []plan.Action{action}
	return d
}

func readyToRestart(s plan.Snapshot, own []v1beta2.ProcessGroupID) plan.ChangeLists {
	e := readings.ListEditor{S: s, Change: plan.ChangeLists{At: s.Now}}
	for _, id := range own {
		e.Add(s.Cluster.ProcessGroup(id), fdb.PendingForRestart, fdb.ReadyForRestart)
	}
	return e.Change
}

// commonRestart returns a restart of the own processes and those that the others announced.
// notReporting are groups of others of which no process reports.
func commonRestart(s plan.Snapshot, b readings.Bounce, members []fdb.Member) (a plan.RestartProcesses, notReporting []string) {
	a = plan.RestartProcesses{Groups: readings.Restartable(s, b), Addresses: slices.Clone(b.Addresses), Announced: members}
	for _, g := range safety.Others(s, members) {
		addresses := readings.AddressesOf(s.Database.Status, g.ProcessGroupID)
		if len(addresses) == 0 {
			notReporting = append(notReporting, string(g.ProcessGroupID))
		}
		a.Groups, a.Addresses = append(a.Groups, g.ProcessGroupID), append(a.Addresses, addresses...)
	}
	return a, notReporting
}
