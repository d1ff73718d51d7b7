package stagestest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// StorageMarkedForRemoval returns a healthy cluster of four storage groups with three desired: storage-114 is
// marked for removal and its replacement reports.
func StorageMarkedForRemoval(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	id := s.Cluster.ProcessGroupIDFor(v1beta2.ProcessClassStorage, 200)
	s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{PodIP(17)}, FaultDomain: "node-17"})
	replacement := s.Groups()[len(s.Groups())-1]
	GivePod(tb, &s, replacement, 17)
	addProcess(tb, s.Database.Status, s, replacement, 17)
	FirstOf(s, v1beta2.ProcessClassStorage).MarkForRemoval(Noon.Add(-time.Hour))
	s.Coordination.ExclusionsRead = true
	return s
}

// DrainedStorage returns the same after the database has moved everything away.
func DrainedStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := StorageMarkedForRemoval(tb)
	g := FirstOf(s, v1beta2.ProcessClassStorage)
	yes := true
	EditProcess(&s, g, func(p *fdb.Process) { p.Excluded = &yes })
	s.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{{Locality: g.ExclusionString()}}
	s.Coordination.Exclusions = []string{g.ExclusionString()}
	return s
}

// RemovalCase is a row of a table: a cluster, what happens to it, and what a stage decides then.
type RemovalCase struct {
	From  func(testing.TB) plan.Snapshot
	Given func(*plan.Snapshot)
	Does  []string
	Holds string
	// Later is what is left to a later pass, and not waited for.
	Later string
}

func (tc RemovalCase) Check(t *testing.T, stage plan.Stage) {
	t.Helper()
	s := tc.From(t)
	if tc.Given != nil {
		tc.Given(&s)
	}
	d := stage.Decide(s)
	if diff := cmp.Diff(tc.Does, Described(d)); diff != "" {
		t.Errorf("actions (-want +got):\n%s\nholds with %q", diff, Reason(d))
	}
	if got := Reason(d); !strings.Contains(got, tc.Holds) || (tc.Holds == "") != (got == "") {
		t.Errorf("holds with %q, want %q", got, tc.Holds)
	}
	Explained(t, d)
	if got := laterWords(d); !strings.Contains(got, tc.Later) || (tc.Later == "") != (got == "") {
		t.Errorf("leaves %q to a later pass, want %q", got, tc.Later)
	}
}

func laterWords(d plan.Decision) string {
	if d.Housekeeping == nil {
		return ""
	}
	return d.Housekeeping.Text()
}

// RecoveredAgo sets the time since the last recovery.
func RecoveredAgo(seconds float64) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &seconds }
}

// UnresponsiveFor stops the reports of a group's process for a time.
func UnresponsiveFor(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, d time.Duration) {
	DropProcess(s, g)
	g.SetCondition(v1beta2.ConditionMissingProcesses, Noon.Add(-d))
}

// RemovableStorage is the same after the group's objects were deleted.
func RemovableStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := DrainedStorage(tb)
	LoseObjects(&s, FirstOf(s, v1beta2.ProcessClassStorage))
	return s
}

// LoseObjects deletes the objects of a drained group.
func LoseObjects(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	delete(s.Pods, g.PodName(s.Cluster))
	delete(s.Volumes, g.PVCName(s.Cluster))
	DropProcess(s, g)
	g.SetExcluded(Noon.Add(-time.Hour))
}
