package sim

import (
	"maps"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Lists are the shared lists of all control-plane instances. The zero value has no entries.
type Lists struct {
	now plan.ListFacts
}

// facts are the lists as a control-plane instance reads them, in global mode only.
func (l *Lists) facts(c *v1beta2.FoundationDBCluster) plan.ListFacts {
	if c.SynchronizationMode() != v1beta2.SynchronizationModeGlobal {
		return plan.ListFacts{}
	}
	read := l.now
	read.Read = true
	return read
}

// change writes a control-plane instance's own entries. Earlier facts are not changed.
func (l *Lists) change(c *v1beta2.FoundationDBCluster, a plan.ChangeLists) {
	s := plan.Snapshot{Cluster: c, Coordination: plan.CoordinationFacts{Lists: l.now}}
	l.now = a.Apply(s).Coordination.Lists
}

// useRestarts removes the restart entries of process groups that are about to restart.
func (l *Lists) useRestarts(members []fdb.Member) {
	if len(members) == 0 {
		return
	}
	l.now.Entries = maps.Clone(l.now.Entries)
	for _, list := range []fdb.SharedList{fdb.PendingForRestart, fdb.ReadyForRestart} {
		l.now.Entries[list] = maps.Clone(l.now.Entries[list])
		for _, m := range members {
			delete(l.now.Entries[list], m)
		}
	}
}
