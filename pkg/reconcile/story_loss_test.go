package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// A coordinator is lost for good. Others take over soon, since one more loss could cost
// the quorum; the group itself is replaced when it has been away for two hours.
func TestALostCoordinatorIsReplaced(t *testing.T) {
	st := newStory(t, 10, nil)
	lost := st.coordinator()
	pod := lost.PodName(st.w.Resource)
	st.heading("%s is a coordinator, and its servers never start again", lost.ProcessGroupID)
	st.w.Broken = map[string]bool{pod: true}
	st.w.KillServers(pod)
	st.times(3, 5*time.Minute)
	if st.coordinates(lost) {
		t.Errorf("%s is still a coordinator after 15 minutes", lost.ProcessGroupID)
	}
	st.heading("two hours later")
	st.w.Tick(2 * time.Hour)
	st.run(10*time.Minute, func() bool { return st.w.Pods[pod] == nil })
	st.ends()
}

// The database is unavailable for a while. All anyone can do is wait:
// nothing is replaced, excluded, moved or removed, whatever is requested meanwhile.
func TestTheDatabaseBecomesUnavailableAndRecovers(t *testing.T) {
	st := newStory(t, 11, nil)
	st.heading("no log server can start any more")
	st.w.Broken = map[string]bool{}
	for _, pod := range st.pods(v1beta2.ProcessClassLog) {
		st.w.Broken[pod] = true
		st.w.KillServers(pod)
	}
	st.w.Tick(time.Minute)
	st.times(2, 5*time.Minute)
	st.heading("a user requests the removal of a storage group, three hours later")
	st.w.Tick(3 * time.Hour)
	marked := st.group(v1beta2.ProcessClassStorage)
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{marked.ProcessGroupID}
	})
	acted := len(st.w.Acted)
	st.times(2, 5*time.Minute)
	if len(st.w.Acted) != acted {
		t.Errorf("acts beside an unavailable database: %s", st.w.Acted[acted].Describe())
	}
	st.heading("the log servers start again")
	st.w.Broken = nil
	st.w.Tick(5 * time.Minute)
	st.run(5*time.Minute, func() bool { return st.w.Resource.ProcessGroup(marked.ProcessGroupID) == nil })
	if !st.w.FDB.Databases()[0].EveryKeyOnAtLeast(2) {
		t.Error("data has too few replicas")
	}
	st.ends()
}

// coordinator is a process group that is one.
func (st *story) coordinator() *v1beta2.ProcessGroupStatus {
	groups := st.w.Resource.Status.ProcessGroups
	i := slices.IndexFunc(groups, st.coordinates)
	if i < 0 {
		st.t.Fatal("no group is a coordinator")
	}
	return groups[i]
}

func (st *story) coordinates(g *v1beta2.ProcessGroupStatus) bool {
	coordinators := st.w.FDB.Databases()[0].ConnectionString().Coordinators
	return slices.ContainsFunc(coordinators, func(c fdb.Address) bool {
		return slices.Contains(g.Addresses, c.Host) || c.Host == g.DNSName(st.w.Resource)
	})
}
