package stagestest

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// InGlobalMode returns a cluster of control-plane instance dc1 that acts together with others. Its
// lists are read and empty.
func InGlobalMode(from func(testing.TB) plan.Snapshot) func(testing.TB) plan.Snapshot {
	return func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := from(tb)
		s.Cluster.Spec.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
		s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
		s.Coordination.Read = true
		s.Coordination.Lists = plan.ListFacts{
			Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{}, Addresses: map[fdb.Member][]string{},
		}
		return s
	}
}

// Listed adds groups of a control-plane instance to lists, a while ago.
func Listed(instance string, ago time.Duration, lists []fdb.SharedList, groups ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, list := range lists {
			if s.Coordination.Lists.Entries[list] == nil {
				s.Coordination.Lists.Entries[list] = map[fdb.Member]time.Time{}
			}
			for _, group := range groups {
				s.Coordination.Lists.Entries[list][fdb.Member{Instance: instance, Group: group}] = Noon.Add(-ago)
			}
		}
	}
}

// Lists returns its arguments.
func Lists(l ...fdb.SharedList) []fdb.SharedList { return l }
