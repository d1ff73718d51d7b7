package cluster

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// inTwoRegions puts the eligible processes into data centers, one letter each, first the four of
// class log, then the three of class storage; a dash is one that does not report. The first ones,
// as many as given, are the coordinators.
func inTwoRegions(places string, coordinators int) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Spec.DatabaseConfiguration.UsableRegions = 2
		s.Cluster.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{
			{Datacenters: []v1beta2.DataCenter{{ID: "a", Priority: 1}}}, {Datacenters: []v1beta2.DataCenter{{ID: "b"}}},
		}
		s.Database.Status.Client.Coordinators.Coordinators = nil
		i := 0
		for _, g := range slices.Clone(s.Groups()) {
			if !g.ProcessClass.IsStateful() {
				continue
			}
			address := fdb.Address{Host: g.Addresses[0], Port: 4501}
			if i < coordinators {
				s.Database.Status.Client.Coordinators.Coordinators = append(s.Database.Status.Client.Coordinators.Coordinators, fdb.CoordinatorStatus{Address: address, Reachable: true})
			}
			place := string(places[i])
			i++
			if place == "-" {
				stagestest.DropProcess(s, g)
				g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-10*startGracePeriod))
				continue
			}
			stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityDCID] = place })
		}
	}
}

// Where the desired number of coordinators cannot be placed, the best smaller number is chosen, and
// what is missing is reported.
func TestTheBestReachableCoordinatorsAreChosen(t *testing.T) {
	all := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	excluded := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Groups()[n], func(p *fdb.Process) { p.Excluded = new(true) })
		}
	}
	satellites := func(s *plan.Snapshot) {
		regions := s.Cluster.Spec.DatabaseConfiguration.Regions
		regions[0].Datacenters = append(regions[0].Datacenters, v1beta2.DataCenter{ID: "c", Satellite: 1})
	}
	triple := func(s *plan.Snapshot) {
		s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeTriple
		for _, g := range s.Groups()[4:] {
			stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-4" })
		}
	}
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		chosen int
		// in is how many of the chosen are in each data center.
		in     map[string]int
		holds  string
		manual bool
	}{
		"seven of nine": {
			given: inTwoRegions("aaaabbb", 1), chosen: 7, in: map[string]int{"a": 4, "b": 3},
			holds: "7 coordinators are the best choice for now: 7 of 9 can be placed; 2 more fault domains with a reporting process of class coordinator, log, storage, transaction required: data center a has 4, data center b has 3; at most 5 each count",
		},
		"five of nine where six could be placed": {
			given: inTwoRegions("aaaabb-", 1), chosen: 5, in: map[string]int{"a": 3, "b": 2}, holds: "6 of 9 can be placed; 3 more",
		},
		"five of nine in one data center, while the other has none": {
			given: inTwoRegions("aaaaaaa", 3), chosen: 5, in: map[string]int{"a": 5}, holds: "data center a has 7, data center b has 0; at most 5",
		},
		"three that tolerate the loss of a data center rather than five that do not": {
			given: all(inTwoRegions("aaabc--", 1), satellites), chosen: 3, in: map[string]int{"a": 1, "b": 1, "c": 1}, holds: "5 of 9 can be placed",
		},
		"five that tolerate it rather than three": {
			given: all(inTwoRegions("aabbc--", 1), satellites), chosen: 5, in: map[string]int{"a": 2, "b": 2, "c": 1}, holds: "5 of 9 can be placed",
		},
		"never fewer than there are": {
			given: all(inTwoRegions("aaabc--", 5), satellites, excluded(0)), holds: "no better coordinators are available: 4 of 9 can be placed", manual: true,
		},
		"no others that tolerate as much": {
			given: inTwoRegions("aabbbba", 7), holds: "7 coordinators, 9 desired, and no better coordinators are available: 7 of 9 can be placed; 2 more fault domains", manual: true,
		},
		"as many as now in place of one that is excluded": {
			given: all(inTwoRegions("aaabbb-", 5), excluded(0)), chosen: 5, holds: "5 of 9 can be placed",
		},
		"what is missing at once, whatever the waits": {
			given: all(inTwoRegions("aabbbba", 7), stagestest.RecoveredAgo(1)), holds: "2 more fault domains",
		},
		"the next number up once more report": {
			given: inTwoRegions("aaaabbb", 5), chosen: 7, holds: "7 of 9 can be placed",
		},
		"none yet while processes are starting": {
			given: all(inTwoRegions("aaaabbb", 1), func(s *plan.Snapshot) {
				stagestest.UnresponsiveFor(s, s.Groups()[len(s.Groups())-1], startGracePeriod-time.Second)
			}),
			holds: "the coordinator change waits for starting processes: 6 of 9 can be placed",
		},
		"without regions, three of five for one": {
			given: all(triple, func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators = s.Database.Status.Client.Coordinators.Coordinators[:1]
			}), chosen: 3, holds: "4 of 5 can be placed; 1 more fault domain with a reporting process of class coordinator, log, storage, transaction required",
		},
		"without regions, three of five stay": {
			given: triple, holds: "3 coordinators, 5 desired, and no better coordinators are available: 4 of 5 can be placed", manual: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := ChangeCoordinators.Decide(s)
			chosen := chosenProcesses(s, d)
			if len(chosen) != tc.chosen {
				t.Errorf("chose %v, want %d", stagestest.Described(d), tc.chosen)
			}
			in := map[string]int{}
			for _, p := range chosen {
				in[p.DC()]++
			}
			if diff := cmp.Diff(tc.in, in); tc.in != nil && diff != "" {
				t.Errorf("data centers (-want +got):\n%s", diff)
			}
			if !strings.Contains(stagestest.Reason(d), tc.holds) {
				t.Errorf("holds with %q, want %q", stagestest.Reason(d), tc.holds)
			}
			if d.Hold != nil && d.Hold.Manual != tc.manual {
				t.Errorf("needs a human: %t, want %t", d.Hold.Manual, tc.manual)
			}
		})
	}
}

// chosenProcesses returns those that a decision makes coordinators.
func chosenProcesses(s plan.Snapshot, d plan.Decision) []fdb.Process {
	var chosen []fdb.Process
	for _, action := range d.Actions {
		change, ok := action.(plan.ChangeCoordinators)
		if !ok {
			continue
		}
		for _, p := range s.Database.Status.ProcessList() {
			if slices.ContainsFunc(change.Coordinators, func(a fdb.Address) bool { return a.HostPort() == p.Address.HostPort() }) {
				chosen = append(chosen, p)
			}
		}
	}
	return chosen
}

// However the processes are spread, a change tolerates more than before, has no fewer coordinators,
// an odd number of them, and is followed by no other change.
func TestEveryCoordinatorChangeIncreasesFaultTolerance(t *testing.T) {
	changes := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 11))
		s := stagestest.HealthyCluster(t)
		var places strings.Builder
		for range 7 {
			places.WriteByte("aaabbc-"[random.IntN(7)])
		}
		inTwoRegions(places.String(), 1+random.IntN(6))(&s)
		before := safety.JudgeCoordinators(s)
		count := len(s.Database.Status.Coordinators())
		d := ChangeCoordinators.Decide(s)
		chosen := chosenProcesses(s, d)
		if len(chosen) == 0 {
			continue
		}
		changes++
		become(&s, chosen)
		after := safety.JudgeCoordinators(s)
		if len(chosen)%2 == 0 || len(chosen) < count || !after.Tolerance.StrongerThan(before.Tolerance) {
			t.Fatalf("seed %d: %s: from %d that tolerate %+v to %d that tolerate %+v", seed, places.String(), count, before.Tolerance, len(chosen), after.Tolerance)
		}
		if again := ChangeCoordinators.Decide(s); len(again.Actions) > 0 {
			t.Fatalf("seed %d: %s: changes once more: %v", seed, places.String(), stagestest.Described(again))
		}
	}
	if changes < 50 {
		t.Errorf("only %d of the histories have a change", changes)
	}
}

func become(s *plan.Snapshot, chosen []fdb.Process) {
	coordinators := make([]fdb.CoordinatorStatus, len(chosen))
	for i, p := range chosen {
		coordinators[i] = fdb.CoordinatorStatus{Address: fdb.Address{Host: p.Address.Host, Port: p.Address.Port}, Reachable: true}
	}
	s.Database.Status.Client.Coordinators.Coordinators = coordinators
}
