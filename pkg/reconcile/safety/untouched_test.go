package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Of storage-2 nothing was excluded.
func TestAnyExclusionOfAGroupCountsAsDataMovement(t *testing.T) {
	const excluded = "it is excluded, and its data and roles are being moved"
	document := func(targets ...fdb.ExcludedServer) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.ExcludedServers = targets }
	}
	read := func(targets ...string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Coordination.Exclusions = targets }
	}
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"another group is excluded":     {unchanged, true, "it is not excluded"},
		"its ID, in the document":       {document(fdb.ExcludedServer{Locality: "locality_instance_id:storage-2"}), false, excluded},
		"its address, in the document":  {document(fdb.ExcludedServer{Address: "10.0.0.2"}), false, excluded},
		"its ID, in the exclusions":     {read("locality_instance_id:storage-2"), false, excluded},
		"its address, in them":          {read("10.0.0.2"), false, excluded},
		"one of its addresses, in them": {both(read("10.0.0.2"), func(s *plan.Snapshot) { s.Groups()[1].Addresses = []string{"10.0.0.2", "10.0.0.22"} }), true, "it is not excluded"},
		"no addresses and no exclusion": {both(read(), func(s *plan.Snapshot) { s.Groups()[1].Addresses = nil }), true, "it is not excluded"},
		"its process is marked": {func(s *plan.Snapshot) {
			p := s.Database.Status.Cluster.Processes["b"]
			p.Excluded = new(true)
			s.Database.Status.Cluster.Processes["b"] = p
		}, false, excluded},
		"it is already drained":          {func(s *plan.Snapshot) { s.Groups()[1].MarkForRemoval(evening); s.Groups()[1].SetExcluded(evening) }, false, "it is already drained"},
		"the exclusions were not read":   {func(s *plan.Snapshot) { s.Coordination.ExclusionsRead = false }, false, "exclusions are unknown"},
		"the database gives no document": {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			if c := Untouched(s, s.Groups()[1]); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}

func TestExclusionsByLocality(t *testing.T) {
	tests := map[string]struct {
		version  string
		desired  *bool
		can, use bool
	}{
		"by default":               {"7.3.79", nil, true, true},
		"not by the spec":          {"7.3.79", new(bool), true, false},
		"not before 7.1.42":        {"7.1.41", nil, false, false},
		"from 7.1.42":              {"7.1.42", nil, true, true},
		"not by an unknown number": {"latest", new(true), false, false},
	}
	for name, tc := range tests {
		c := &v1beta2.FoundationDBCluster{}
		c.Spec.Version, c.Spec.AutomationOptions.UseLocalitiesForExclusion = tc.version, tc.desired
		if can, use := CanExcludeLocalities(c), ByLocality(c); can != tc.can || use != tc.use {
			t.Errorf("%s: can %t, uses %t; want %t, %t", name, can, use, tc.can, tc.use)
		}
	}
}

// Of four storage groups storage-1 drains, and three are desired.
func TestALongMissingGroupIsExcludedOnlyIfEnoughOthersRemain(t *testing.T) {
	s := draining(t)
	for ongoing, want := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
		left, _ := exclusionRoom(s, "storage", ongoing)
		if c := UnresponsiveExclusion(s, "storage", ongoing); c.OK != want || c.OK != (*left >= 0) {
			t.Errorf("%d ongoing: %+v, want %t", ongoing, c, want)
		}
	}
	s.Groups()[2].SetCondition(v1beta2.ConditionMissingProcesses, evening)
	if c := UnresponsiveExclusion(s, "storage", 0); c.OK || c.Have != "" {
		t.Errorf("one may come back: %+v", c)
	}
}
