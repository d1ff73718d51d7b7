package readings

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ListsUnread is the reason of a hold while the shared lists are unknown.
const ListsUnread = "the lists shared by control-plane instances could not be read"

// ListEditor collects changes that differ from what is listed.
type ListEditor struct {
	S      plan.Snapshot
	Change plan.ChangeLists
	// Restartable are the groups that can restart now.
	Restartable []v1beta2.ProcessGroupID
}

func (e *ListEditor) Instance() string { return e.S.Cluster.Spec.ProcessGroupIDPrefix }

// Add lists a group, unless it is a tester: those neither hold data nor take part in any common
// action.
func (e *ListEditor) Add(g *v1beta2.ProcessGroupStatus, lists ...fdb.SharedList) {
	if g.ProcessClass.IsTester() {
		return
	}
	for _, list := range lists {
		if !e.S.Coordination.Lists.Has(list, MemberOf(e.S, g.ProcessGroupID)) {
			e.Change.Add = With(e.Change.Add, list, g.ProcessGroupID)
		}
	}
}

func (e *ListEditor) Drop(id v1beta2.ProcessGroupID, lists ...fdb.SharedList) {
	for _, list := range lists {
		if e.S.Coordination.Lists.Has(list, MemberOf(e.S, id)) {
			e.Change.Remove = With(e.Change.Remove, list, id)
		}
	}
}

func (e *ListEditor) KeepAddresses(id v1beta2.ProcessGroupID, addresses []string) {
	if slices.Equal(e.S.Coordination.Lists.Addresses[MemberOf(e.S, id)], addresses) {
		return
	}
	if e.Change.Addresses == nil {
		e.Change.Addresses = map[v1beta2.ProcessGroupID][]string{}
	}
	e.Change.Addresses[id] = slices.Clone(addresses)
}

// MemberOf returns the entry of an own group in the shared lists.
func MemberOf(s plan.Snapshot, id v1beta2.ProcessGroupID) fdb.Member {
	return fdb.Member{Instance: s.Cluster.Spec.ProcessGroupIDPrefix, Group: string(id)}
}

// With returns lists with a group added to one of them.
func With(lists map[fdb.SharedList][]v1beta2.ProcessGroupID, list fdb.SharedList, id v1beta2.ProcessGroupID) map[fdb.SharedList][]v1beta2.ProcessGroupID {
	if lists == nil {
		lists = map[fdb.SharedList][]v1beta2.ProcessGroupID{}
	}
	lists[list] = append(lists[list], id)
	return lists
}

// Announcing announces a change, and acts at the earliest when every control-plane instance had
// the time to do the same.
func Announcing(d plan.Decision, change plan.ChangeLists, action safety.SynchronizedAction) plan.Decision {
	d.Why = fmt.Sprintf("all control-plane instances take part in one %s", action.Name)
	d.Actions = []plan.Action{change}
	d.Hold = &plan.Hold{
		Code:       plan.HoldOtherInstancesNotReady,
		Reason:     fmt.Sprintf("the common %s follows when all control-plane instances are ready and the lists have not changed for %s", action.Name, safety.SynchronizationQuiet),
		RetryAfter: safety.SynchronizationQuiet,
	}
	return d
}

// Withdrawing adds to a waiting decision the announcements to withdraw.
func Withdrawing(d plan.Decision, change plan.ChangeLists) plan.Decision {
	if !change.IsEmpty() {
		d.Why = "not ready any more"
		d.Actions = append(d.Actions, change)
	}
	return d
}

// NotTogether waits for the other control-plane instances.
func NotTogether(check plan.Check, missing time.Duration) *plan.Hold {
	return &plan.Hold{Code: plan.HoldOtherInstancesNotReady, Reason: check.Evidence, RetryAfter: missing}
}

// Withdrawal removes groups that leave the status from all lists; nothing in local mode. If it
// fails, the next pass finds that they have vanished.
func Withdrawal(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.ChangeLists {
	e := ListEditor{S: s, Change: plan.ChangeLists{At: s.Now}}
	for _, id := range groups {
		e.Drop(id, fdb.SharedLists()...)
		e.KeepAddresses(id, nil)
	}
	return e.Change
}
