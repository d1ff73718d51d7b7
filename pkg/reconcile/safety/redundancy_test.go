package safety

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// inForce has the database be configured for a redundancy, with so many replicas of all data.
func inForce(replicas int, c fdb.Configuration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		c.ExcludedServers = s.Database.Status.Cluster.Configuration.ExcludedServers
		s.Database.Status.Cluster.Configuration = &c
		for i := range s.Database.Status.Cluster.Data.TeamTrackers {
			s.Database.Status.Cluster.Data.TeamTrackers[i].State.MinReplicasRemaining = &replicas
		}
	}
}

// A database can be in a mode that no cluster asks for, set by a user: no pass can
// tell then how many copies are enough.
func TestReplicaChecksFailForAnUnknownRedundancyMode(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		// because is a part of why it is not; empty when there are enough.
		because string
	}{
		"an unknown fallback":                         {inForce(1, fdb.Configuration{RedundancyMode: "three_data_hall_fallback"}), "three_data_hall_fallback is unknown"},
		"the same, however many there are":            {inForce(9, fdb.Configuration{RedundancyMode: "three_datacenter"}), "three_datacenter is unknown"},
		"a custom one reports its own number":         {inForce(2, fdb.Configuration{StorageReplicas: 3}), "some data has 2 of 3 replicas, 3 required"},
		"a custom one that is complete":               {given: inForce(3, fdb.Configuration{StorageReplicas: 3})},
		"one that reports nothing is the spec's":      {inForce(1, fdb.Configuration{}), "some data has 1 of 2 replicas, 2 required"},
		"one that reports nothing, with all replicas": {given: inForce(2, fdb.Configuration{})},
		"nothing is reported, and the spec's is unknown": {func(s *plan.Snapshot) {
			inForce(2, fdb.Configuration{})(s)
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = "nonsense"
		}, "nonsense is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			if c := FullFaultTolerance(s); c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("tolerant: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
			unresponsive(&s, time.Hour)
			if c := Drained(s, s.Groups()[0]); c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("drained while silent: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
		})
	}
}

func TestARegionIsNotCompleteIfTheRedundancyModeIsUnknown(t *testing.T) {
	yes := true
	of := func(c *fdb.Configuration) plan.DatabaseFacts {
		s := draining(t)
		status := s.Database.Status
		status.Cluster.FullReplication, status.Cluster.Configuration = &yes, c
		tracker := status.Cluster.Data.TeamTrackers[0]
		tracker.State.Healthy, tracker.Primary = &yes, true
		other := tracker
		other.Primary = false
		status.Cluster.Data.TeamTrackers = []fdb.TeamTracker{tracker, other}
		return s.Database
	}
	tests := map[string]struct {
		configuration *fdb.Configuration
		because       string
	}{
		"double is known":           {&fdb.Configuration{RedundancyMode: fdb.RedundancyDouble}, ""},
		"custom, with a number":     {&fdb.Configuration{StorageReplicas: 3}, "too few replicas of some data, 3 required"},
		"custom, without a number":  {&fdb.Configuration{}, "is unknown for the redundancy mode unknown"},
		"a fallback":                {&fdb.Configuration{RedundancyMode: "three_data_hall_fallback"}, "is unknown for the redundancy mode three_data_hall_fallback"},
		"no configuration is known": {nil, "the status document has no configuration"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if c := RegionsReplicated(of(tc.configuration)); c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("complete: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
		})
	}
}

func TestAnUnknownRedundancyModeCannotBeSatisfied(t *testing.T) {
	c := CanHold(reporting(9, "storage", "log"), fdb.Configuration{RedundancyMode: "three_data_hall_fallback"})
	if c.OK || !strings.Contains(c.Evidence, "the number of fault domains that three_data_hall_fallback requires is unknown") {
		t.Errorf("got %+v", c)
	}
}

func TestAnUnknownRedundancyModeCountsAsUnreplicated(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"double":                        {func(*plan.Snapshot) {}, false},
		"the database cannot be asked":  {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false},
		"a fallback":                    {inForce(2, fdb.Configuration{RedundancyMode: "three_data_hall_fallback"}), true},
		"custom, with one copy of data": {inForce(1, fdb.Configuration{StorageReplicas: 1, LogReplicas: 2}), true},
		"custom, with one copy of logs": {inForce(2, fdb.Configuration{StorageReplicas: 2, LogReplicas: 1}), true},
		"custom, with two of each":      {inForce(2, fdb.Configuration{StorageReplicas: 2, LogReplicas: 2}), false},
		"the spec names an unknown one": {func(s *plan.Snapshot) {
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyMode("nonsense")
		}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			if got := withoutCopies(s); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}
