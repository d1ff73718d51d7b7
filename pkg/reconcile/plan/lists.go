package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ListFacts are the lists by which all control-plane instances that share a database exclude,
// restart and include process groups together.
type ListFacts struct {
	// Read is false when the lists were not read: in local synchronization mode, or
	// because the database cannot be queried. Then the lists are unknown.
	Read bool
	// Entries are since when each process group, of any control-plane instance, is on a list.
	Entries map[fdb.SharedList]map[fdb.Member]time.Time
	// Addresses are the bare IPs of process groups marked for removal.
	Addresses map[fdb.Member][]string
}

// Has reports whether a process group is on a list.
func (l ListFacts) Has(list fdb.SharedList, m fdb.Member) bool {
	_, listed := l.Entries[list][m]
	return listed
}

// Members are all process groups on a list, sorted.
func (l ListFacts) Members(list fdb.SharedList) []fdb.Member {
	return slices.SortedFunc(maps.Keys(l.Entries[list]), fdb.Member.Compare)
}

// Own are the process groups of one control-plane instance on a list, sorted.
func (l ListFacts) Own(list fdb.SharedList, instance string) []v1beta2.ProcessGroupID {
	var own []v1beta2.ProcessGroupID
	for _, m := range l.Members(list) {
		if m.Instance == instance {
			own = append(own, v1beta2.ProcessGroupID(m.Group))
		}
	}
	return own
}

// ChangeLists publishes to the control-plane instances that share the database which process
// groups of this one need a synchronized action, and which of those may have it now. It
// changes no other's entries, so it needs no lock; acting on the lists requires the lock.
type ChangeLists struct {
	// Add and Remove are process groups of this control-plane instance by list. Groups that
	// are on a list already keep their time.
	Add    map[fdb.SharedList][]v1beta2.ProcessGroupID `json:"add,omitempty"`
	Remove map[fdb.SharedList][]v1beta2.ProcessGroupID `json:"remove,omitempty"`
	// Addresses are the bare IPs of process groups; an empty list removes the current ones.
	Addresses map[v1beta2.ProcessGroupID][]string `json:"addresses,omitempty"`
	// At is the time of the added entries.
	At time.Time `json:"at" fingerprint:"-"`
	// Former is the prefix that the control-plane instance had when it wrote the removed
	// entries; nil for the current one. Nothing is added with a former prefix.
	Former *string `json:"former,omitempty"`
}

// Below is the prefix of the entries that change.
func (a ChangeLists) Below(c *v1beta2.FoundationDBCluster) string {
	if a.Former != nil {
		return *a.Former
	}
	return c.Spec.ProcessGroupIDPrefix
}

// IsEmpty reports whether there is nothing to change.
func (a ChangeLists) IsEmpty() bool { return len(a.Add)+len(a.Remove)+len(a.Addresses) == 0 }

// Describe implements Action.
func (a ChangeLists) Describe() string {
	var words []string
	if len(a.Add) > 0 {
		words = append(words, "announce: "+listWords(a.Add))
	}
	if len(a.Remove) > 0 {
		words = append(words, "withdraw: "+listWords(a.Remove))
	}
	if a.Former != nil {
		words = append(words, fmt.Sprintf("all with the former prefix %q", *a.Former))
	}
	kept, dropped := a.addressWords()
	return strings.Join(append(append(words, kept...), dropped...), "; ")
}

func (a ChangeLists) addressWords() (kept, dropped []string) {
	for _, id := range slices.Sorted(maps.Keys(a.Addresses)) {
		if addresses := a.Addresses[id]; len(addresses) > 0 {
			kept = append(kept, fmt.Sprintf("set addresses of %s: %s", id, strings.Join(addresses, ", ")))
		} else {
			dropped = append(dropped, fmt.Sprintf("remove the addresses of %s", id))
		}
	}
	return kept, dropped
}

// Subject implements Action.
func (a ChangeLists) Subject() string { return phrase.List(a.groups()) }

// Apply implements Edit. Only entries of this control-plane instance change.
func (a ChangeLists) Apply(s Snapshot) Snapshot {
	l := s.Coordination.Lists
	s.Coordination.Lists.Entries = map[fdb.SharedList]map[fdb.Member]time.Time{}
	for _, list := range fdb.SharedLists() {
		entries := map[fdb.Member]time.Time{}
		for _, id := range a.Add[list] {
			entries[fdb.Member{Instance: a.Below(s.Cluster), Group: string(id)}] = a.At
		}
		maps.Copy(entries, l.Entries[list]) // existing entries keep their time
		for _, id := range a.Remove[list] {
			delete(entries, fdb.Member{Instance: a.Below(s.Cluster), Group: string(id)})
		}
		s.Coordination.Lists.Entries[list] = entries
	}
	s.Coordination.Lists.Addresses = map[fdb.Member][]string{}
	maps.Copy(s.Coordination.Lists.Addresses, l.Addresses)
	for id, addresses := range a.Addresses {
		m := fdb.Member{Instance: a.Below(s.Cluster), Group: string(id)}
		delete(s.Coordination.Lists.Addresses, m)
		if len(addresses) > 0 {
			s.Coordination.Lists.Addresses[m] = addresses
		}
	}
	return s
}

func (ChangeLists) effect() Effect { return Effect{Stale: Coordination, Impact: NoImpact} }

func listWords(lists map[fdb.SharedList][]v1beta2.ProcessGroupID) string {
	var words []string
	for _, list := range slices.Sorted(maps.Keys(lists)) {
		words = append(words, fmt.Sprintf("%s %s", list, phrase.Some(lists[list], maxGroups)))
	}
	return strings.Join(words, ", ")
}
