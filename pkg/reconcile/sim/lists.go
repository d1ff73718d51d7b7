package sim

import (
	"maps"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Lists are the shared lists of all instances. The zero value has no entries.
type Lists struct {
	entries   map[fdb.SharedList]map[fdb.Member]time.Time
	addresses map[fdb.Member][]string
}

// facts are the lists as an instance reads them, which it does in global mode only.
func (l *Lists) facts(c *v1beta2.FoundationDBCluster) plan.ListFacts {
	if c.SynchronizationMode() != v1beta2.SynchronizationModeGlobal {
		return plan.ListFacts{}
	}
	f := plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{}, Addresses: maps.Clone(l.addresses)}
	for list, entries := range l.entries {
		f.Entries[list] = maps.Clone(entries)
	}
	return f
}

// change writes an instance's own entries; those that are there keep their time.
func (l *Lists) change(instance string, a plan.ChangeLists) {
	if l.entries == nil {
		l.entries, l.addresses = map[fdb.SharedList]map[fdb.Member]time.Time{}, map[fdb.Member][]string{}
	}
	member := func(group v1beta2.ProcessGroupID) fdb.Member {
		return fdb.Member{Instance: instance, Group: string(group)}
	}
	for list, groups := range a.Add {
		if l.entries[list] == nil {
			l.entries[list] = map[fdb.Member]time.Time{}
		}
		for _, group := range groups {
			if _, there := l.entries[list][member(group)]; !there {
				l.entries[list][member(group)] = a.At
			}
		}
	}
	for list, groups := range a.Remove {
		for _, group := range groups {
			delete(l.entries[list], member(group))
		}
	}
	for group, addresses := range a.Addresses {
		delete(l.addresses, member(group))
		if len(addresses) > 0 {
			l.addresses[member(group)] = addresses
		}
	}
}

// useRestarts removes the restart entries of what is about to restart.
func (l *Lists) useRestarts(members []fdb.Member) {
	for _, m := range members {
		delete(l.entries[fdb.PendingForRestart], m)
		delete(l.entries[fdb.ReadyForRestart], m)
	}
}
