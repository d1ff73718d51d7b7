package stages

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestChangeCoordinators(t *testing.T) {
	// The coordinators are the first three of four log processes: log-101 to log-103.
	recovered := func(seconds float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &seconds }
	}
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	lostOne := func(s *plan.Snapshot) { dropProcess(s, s.Groups()[0]) }
	excludedOne := func(s *plan.Snapshot) {
		yes := true
		editProcess(s, s.Groups()[0], func(p *fdb.Process) { p.Excluded = &yes })
	}
	const withoutFirst = "change coordinators to 10.1.0.2:4501 10.1.0.3:4501 10.1.0.4:4501 and store the new connection string"
	tests := map[string]struct {
		given func(*plan.Snapshot)
		does  []string
		holds string
		human bool
	}{
		"leaves good coordinators alone":                         {given: func(*plan.Snapshot) {}},
		"replaces one that does not report":                      {given: lostOne, does: []string{withoutFirst}},
		"waits two minutes before it replaces a missing one":     {given: both(lostOne, recovered(119)), holds: "1m59s ago"},
		"replaces a missing one after two minutes":               {given: both(lostOne, recovered(120)), does: []string{withoutFirst}},
		"replaces an excluded one":                               {given: excludedOne, does: []string{withoutFirst}},
		"waits five minutes before it replaces one that reports": {given: both(excludedOne, recovered(299)), holds: "4m59s ago"},
		"replaces one that is marked for removal": {
			given: func(s *plan.Snapshot) { s.Groups()[0].MarkForRemoval(noon) }, does: []string{withoutFirst},
		},
		"moves them apart when two share a fault domain": {
			given: func(s *plan.Snapshot) {
				editProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
			}, does: []string{"change coordinators to 10.1.0.1:4501 10.1.0.3:4501 10.1.0.4:4501 and store the new connection string"},
		},
		"needs a human when too few fault domains are left": {
			given: func(s *plan.Snapshot) {
				for _, g := range s.Groups() {
					editProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
				}
			}, holds: "no better ones can be chosen", human: true,
		},
		"needs none while one that may serve as another is starting": {
			given: func(s *plan.Snapshot) {
				for _, g := range s.Groups()[:len(s.Groups())-1] {
					editProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
				}
				last := string(s.Groups()[len(s.Groups())-1].ProcessGroupID)
				maps.DeleteFunc(s.Database.Status.Cluster.Processes, func(_ string, p fdb.Process) bool { return p.InstanceID() == last })
			}, holds: "no better ones can be chosen",
		},
		"waits while the database is locked by a restore": {
			given: both(excludedOne, func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }), holds: "locked",
		},
		"waits while the database is unavailable": {
			given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out",
		},
		"has nothing to do before there is a database": {
			given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false; lostOne(s) },
		},
		"prefers the classes that the spec lists": {
			given: both(lostOne, func(s *plan.Snapshot) {
				s.Cluster.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 1}}
			}), does: []string{"change coordinators to 10.1.0.14:4501 10.1.0.15:4501 10.1.0.16:4501 and store the new connection string"},
		},
		"takes a process on another version only as a last resort": {
			given: both(lostOne, func(s *plan.Snapshot) {
				editProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Version = "7.3.77" })
			}), does: []string{"change coordinators to 10.1.0.3:4501 10.1.0.4:4501 10.1.0.14:4501 and store the new connection string"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := healthyCluster(t)
			tc.given(&s)
			d := changeCoordinators.Decide(s)
			if diff := cmp.Diff(tc.does, described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s\nholds with %q", diff, reason(d))
			}
			if got := reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if d.Hold != nil && d.Hold.Human != tc.human {
				t.Errorf("needs a human: %t, want %t", d.Hold.Human, tc.human)
			}
		})
	}
}

func TestCoordinatorsNamedByDNSAreFound(t *testing.T) {
	s := healthyCluster(t)
	s.Cluster.Spec.Routing.UseDNSInClusterFile = nil // the default: by name
	for i, g := range s.Groups() {
		name := g.DNSName(s.Cluster)
		editProcess(&s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityDNSName] = name })
		if i < 3 {
			s.Database.Status.Client.Coordinators.Coordinators[i].Address.FromHostname = true
		}
	}
	if d := changeCoordinators.Decide(s); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("wants %v and holds with %q, want nothing", described(d), reason(d))
	}
	s.Database.Status.Client.Coordinators.Coordinators[0].Address.FromHostname = false
	d := changeCoordinators.Decide(s)
	if len(d.Actions) != 1 || !strings.Contains(d.Actions[0].Describe(), "sample-log-101.sample.fdb.svc.cluster.local:4501") {
		t.Errorf("wants %v, want coordinators by name", described(d))
	}
}

// Whoever has groups give up being coordinators gets the same checks and waits as a pass.
func TestMoveCoordinators(t *testing.T) {
	const withoutFirst = "change coordinators to 10.1.0.2:4501 10.1.0.3:4501 10.1.0.4:4501 and store the new connection string"
	tests := map[string]struct {
		removalCase
		away v1beta2.ProcessGroupID
	}{
		"moves them away from a group":            {removalCase{from: healthyCluster, does: []string{withoutFirst}}, "log-101"},
		"does nothing about a group that is none": {removalCase{from: healthyCluster}, "log-104"},
		"waits five minutes, as a pass does":      {removalCase{from: healthyCluster, given: recoveredAgo(299), holds: "is to be none any more; the change has to wait"}, "log-101"},
		"never to one that is marked for removal": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			for _, g := range s.Groups() {
				if g.ProcessGroupID != "log-101" && g.ProcessGroupID != "log-102" && g.ProcessGroupID != "log-103" {
					g.MarkForRemoval(noon)
				}
			}
		}, holds: "no better ones can be chosen"}, "log-101"},
		"not while the database is unavailable": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Database.Status.Client.DatabaseStatus.Available = false
		}, holds: "coordinators cannot be judged"}, "log-101"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, MoveCoordinators(tc.away)) })
	}
}
