package safety

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ActsTogether reports whether this instance excludes, restarts and includes process
// groups in common with all others that share the database.
func ActsTogether(c *v1beta2.FoundationDBCluster) bool {
	return c.SynchronizationMode() == v1beta2.SynchronizationModeGlobal
}

// How long lists have to be left alone before instances act on them together.
const (
	// SynchronizationQuiet gives every instance the time to add its own process groups.
	// Default 30 s; source: the operator's flag global-synchronization-wait-duration.
	SynchronizationQuiet = 30 * time.Second
	// partialPatience is how long after the last change an exclusion goes on without
	// those that are not ready: they may be waiting for a place in their budget. Default
	// the longer of 5 × SynchronizationQuiet and 5 min; source: the operator's rules.
	partialPatience = max(5*SynchronizationQuiet, 5*time.Minute)
)

// A Common action is one that all instances take together.
type Common struct {
	// Name is what happens to the process groups: "exclusion".
	Name string
	// Pending lists who needs it, Ready who may have it now.
	Pending, Ready fdb.SharedList
	// partial is after how long it goes on with only some of the pending; 0 for never.
	partial time.Duration
}

// CommonExclusion starts draining process groups of all instances.
func CommonExclusion() Common {
	return Common{Name: "exclusion", Pending: fdb.PendingForExclusion, Ready: fdb.ReadyForExclusion, partial: partialPatience}
}

// CommonInclusion ends the exclusions of process groups of all instances.
func CommonInclusion() Common {
	return Common{Name: "inclusion", Pending: fdb.PendingForInclusion, Ready: fdb.ReadyForInclusion}
}

// CommonRestart restarts process groups of all instances.
func CommonRestart() Common {
	return Common{Name: "restart", Pending: fdb.PendingForRestart, Ready: fdb.ReadyForRestart}
}

// Synchronized asks whether all instances are ready for a common action: nothing was put
// on its lists a moment ago, and all that are pending are ready. Members are the process
// groups to act on, all of them pending and ready by the word of their own instance.
// Missing is how long to wait at least.
//
// The operator takes equal numbers of entries for equal sets, and goes on with all that
// are ready; here a process group has to be on both lists.
func Synchronized(s plan.Snapshot, action Common) (members []fdb.Member, check plan.Check, missing time.Duration) {
	check = plan.Check{ID: plan.CheckInstancesReady, Subject: action.Name, Question: fmt.Sprintf("are all instances ready for the common %s?", action.Name), Gate: plan.GateSync}
	lists := s.Coordination.Lists
	if !lists.Read {
		check.Evidence = "the lists that instances share could not be read"
		return nil, check, SynchronizationQuiet
	}
	agreed, open := split(lists, action)
	last, age := lastChange(s, action)
	switch {
	case len(agreed) == 0:
		check.Evidence, missing = "no process group is both pending and ready", SynchronizationQuiet
	case age < SynchronizationQuiet:
		missing = SynchronizationQuiet - age
		check.Evidence = fmt.Sprintf("%s was listed %s ago, need %s", last, age.Round(time.Second), SynchronizationQuiet)
	case len(open) == 0:
		check.OK = true
		check.Evidence = fmt.Sprintf("%s %s ready, for %s", phrase.CountOf(len(agreed), len(agreed), "pending process group"), phrase.Is(len(agreed)), age.Round(time.Second))
	case action.partial > 0 && age >= action.partial:
		check.OK = true
		check.Evidence = fmt.Sprintf("%s %s ready, and nothing has changed for %s: those that are not are left out (%s)", phrase.Count(len(agreed), "process group"), phrase.Is(len(agreed)), age.Round(time.Second), someMembers(open))
	default:
		missing = SynchronizationQuiet
		check.Evidence = "not both pending and ready: " + someMembers(open)
	}
	if !check.OK {
		return nil, check, missing
	}
	return agreed, check, 0
}

// split returns the process groups that are pending and ready, and those that are only
// one of the two.
func split(lists plan.ListFacts, action Common) (agreed, open []fdb.Member) {
	for _, m := range lists.Members(action.Pending) {
		if lists.Has(action.Ready, m) {
			agreed = append(agreed, m)
		} else {
			open = append(open, m)
		}
	}
	for _, m := range lists.Members(action.Ready) {
		if !lists.Has(action.Pending, m) {
			open = append(open, m)
		}
	}
	return agreed, open
}

// lastChange is what was listed last, and how long ago. An entry of the future, by a
// clock that is ahead, counts as one of this moment.
func lastChange(s plan.Snapshot, action Common) (last fdb.Member, age time.Duration) {
	var at time.Time
	for _, list := range []fdb.SharedList{action.Pending, action.Ready} {
		for _, m := range s.Coordination.Lists.Members(list) {
			if since := s.Coordination.Lists.Entries[list][m]; since.After(at) {
				last, at = m, since
			}
		}
	}
	return last, max(0, s.Now.Sub(at))
}

func someMembers(members []fdb.Member) string {
	const most = 3
	var words []string
	for _, m := range members[:min(most, len(members))] {
		words = append(words, m.String())
	}
	if left := len(members) - most; left > 0 {
		words = append(words, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(words, ", ")
}

// Others are the process groups among the members that belong to other instances. A
// group of this record is nobody else's to announce, whatever an entry says.
func Others(s plan.Snapshot, members []fdb.Member) []*v1beta2.ProcessGroupStatus {
	var others []*v1beta2.ProcessGroupStatus
	for _, m := range members {
		id := v1beta2.ProcessGroupID(m.Group)
		if m.Instance == s.Cluster.Spec.ProcessGroupIDPrefix || s.Cluster.ProcessGroup(id) != nil {
			continue
		}
		others = append(others, &v1beta2.ProcessGroupStatus{ProcessGroupID: id, Addresses: s.Coordination.Lists.Addresses[m]})
	}
	return others
}
