package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestWhichProcessesAreCoordinatorCandidates tries the process of storage-114.
func TestWhichProcessesAreCoordinatorCandidates(t *testing.T) {
	const id = v1beta2.ProcessGroupID("storage-114")
	process := func(edit func(*fdb.Process)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { stagestest.EditProcess(s, s.Cluster.ProcessGroup(id), edit) }
	}
	byName := func(s *plan.Snapshot) { *s.Cluster.Spec.Routing.UseDNSInClusterFile = true }
	named := process(func(p *fdb.Process) { p.Locality[fdb.LocalityDNSName] = "storage-114.example" })
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		away  []v1beta2.ProcessGroupID
		want  bool
	}{
		"one that reports":                               {given: func(*plan.Snapshot) {}, want: true},
		"one that does not report":                       {given: process(func(p *fdb.Process) { p.Version = "" })},
		"one that is excluded":                           {given: process(func(p *fdb.Process) { p.Excluded = new(true) })},
		"one under maintenance":                          {given: process(func(p *fdb.Process) { p.UnderMaintenance = new(true) })},
		"one of another class":                           {given: process(func(p *fdb.Process) { p.ClassType = "stateless" })},
		"one that is marked for removal":                 {given: func(s *plan.Snapshot) { s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon) }},
		"one that coordinators leave":                    {given: func(*plan.Snapshot) {}, away: []v1beta2.ProcessGroupID{id}},
		"without a DNS name, by names":                   {given: byName},
		"with a DNS name, by names":                      {given: stagestest.Combined(byName, named), want: true},
		"with a DNS name, by IP":                         {given: named, want: true},
		"without a listener of that kind":                {given: func(s *plan.Snapshot) { s.Cluster.Spec.MainContainer.EnableTLS = true }},
		"with an unreadable command line":                {given: process(func(p *fdb.Process) { p.CommandLine = "fdbserver --public_address=?" })},
		"one of another control-plane instance, leaving": {given: listedForRemoval("west-1", id)},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			found := false
			for _, c := range coordinatorCandidates(s, tc.away) {
				found = found || c.Group == "west-1" || c.Group == id
			}
			if found != tc.want {
				t.Errorf("%t, want %t", found, tc.want)
			}
		})
	}
}

// listedForRemoval assigns the process of a group to that of another control-plane instance, which lists it.
func listedForRemoval(other string, id v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		stagestest.EditProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.Locality[fdb.LocalityInstanceID] = other })
		s.Coordination.Lists = plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{
			fdb.PendingForRemoval: {fdb.Member{Instance: "west", Group: other}: stagestest.Noon},
		}}
	}
}

// TestWhichCoordinatorCandidatesAreAwaited checks whether a group that does not report may yet become a coordinator.
func TestWhichCoordinatorCandidatesAreAwaited(t *testing.T) {
	for name, tc := range map[string]struct {
		class        v1beta2.ProcessClass
		unresponsive time.Duration // negative: the status does not have the condition
		given        func(*v1beta2.ProcessGroupStatus)
		want         bool
	}{
		"never reported":                    {class: v1beta2.ProcessClassStorage, unresponsive: -1, want: true},
		"not reporting for less than 5 min": {class: v1beta2.ProcessClassStorage, unresponsive: startGracePeriod - time.Second, want: true},
		"not reporting for 5 min":           {class: v1beta2.ProcessClassStorage, unresponsive: startGracePeriod},
		"of a class without coordinators":   {class: v1beta2.ProcessClassStateless, unresponsive: -1},
		"marked for removal":                {class: v1beta2.ProcessClassStorage, unresponsive: -1, given: func(g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(stagestest.Noon) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			if processesMayStart(s) {
				t.Fatal("a process of a healthy cluster is awaited")
			}
			g := stagestest.FirstOf(s, tc.class)
			stagestest.DropProcess(&s, g)
			if tc.unresponsive >= 0 {
				g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-tc.unresponsive))
			}
			if tc.given != nil {
				tc.given(g)
			}
			if got := processesMayStart(s); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

func TestThePrimaryDataCenterHasTheHighestPriority(t *testing.T) {
	dc := func(id string, priority, satellite int) v1beta2.DataCenter {
		return v1beta2.DataCenter{ID: id, Priority: priority, Satellite: satellite}
	}
	for want, regions := range map[string][][]v1beta2.DataCenter{
		"":   nil,
		"d1": {{dc("d1", 1, 0)}, {dc("d2", 0, 0)}},
		"d2": {{dc("d1", 1, 0)}, {dc("d2", 2, 0)}},
		"d3": {{dc("s1", 9, 1), dc("d3", 1, 0)}, {dc("s2", 9, 1), dc("d4", 1, 0)}},
		"d5": {{dc("d5", -1, 0)}, {dc("d6", -2, 0)}},
		"d8": {{dc("d7", -2, 0)}, {dc("d8", -1, 0)}},
	} {
		c := &v1beta2.FoundationDBCluster{}
		for _, dcs := range regions {
			c.Spec.DatabaseConfiguration.Regions = append(c.Spec.DatabaseConfiguration.Regions, v1beta2.Region{Datacenters: dcs})
		}
		if got := primaryDataCenter(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCoordinatorsAreSpreadOverDataHalls has the processes of the best class in one hall only.
func TestCoordinatorsAreSpreadOverDataHalls(t *testing.T) {
	c := stagestest.HealthyCluster(t).Cluster
	c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
	var candidates []readings.Candidate
	for hall := range 3 {
		for zone := range 9 {
			name := fmt.Sprintf("h%d-z%d", hall, zone)
			candidates = append(candidates, readings.Candidate{
				Group: v1beta2.ProcessGroupID(name), Priority: 10 - hall, Address: fdb.Address{Host: fmt.Sprintf("10.0.%d.%d", hall, zone), Port: 4501},
				Localities: map[string]string{fdb.LocalityZoneID: name, fdb.LocalityDataHall: fmt.Sprintf("h%d", hall)},
			})
		}
	}
	chosen, err := readings.Spread(candidates, 9, coordinatorRule(c))
	if err != nil {
		t.Fatal(err)
	}
	perHall := map[string]int{}
	for _, one := range chosen {
		perHall[one.Localities[fdb.LocalityDataHall]]++
	}
	for hall := range 3 {
		if name := fmt.Sprintf("h%d", hall); perHall[name] != 3 {
			t.Errorf("%d of 9 coordinators in %s, want 3: %v", perHall[name], name, perHall)
		}
	}
}
