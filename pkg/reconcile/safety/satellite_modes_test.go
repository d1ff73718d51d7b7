package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestEachSatelliteModeNeedsExactlyItsFaultDomains has the satellites of a mode report from as
// many fault domains as it needs, from one less, and from one satellite less.
func TestEachSatelliteModeNeedsExactlyItsFaultDomains(t *testing.T) {
	for mode, need := range map[string]struct{ satellites, zones int }{
		"one_satellite_single": {1, 1}, "one_satellite_double": {1, 2}, "one_satellite_triple": {1, 3},
		"two_satellite_safe": {2, 2}, "two_satellite_fast": {2, 2},
	} {
		t.Run(mode, func(t *testing.T) {
			region := fdb.Region{SatelliteRedundancyMode: mode, DataCenters: []fdb.DataCenter{
				{ID: "dc1", Priority: 1}, {ID: "s1", Satellite: 1}, {ID: "s2", Satellite: 1}, {ID: "s3", Satellite: 1},
			}}
			holds := func(satellites, zones int) bool {
				all := map[string]int{"dc1": 2}
				for i := range satellites {
					all[region.DataCenters[1+i].ID] = zones
				}
				return CanHold(reportingIn(all), fdb.Configuration{RedundancyMode: "double", Regions: []fdb.Region{region}}).OK
			}
			if !holds(need.satellites, need.zones) {
				t.Errorf("%d satellites with %d fault domains each are refused", need.satellites, need.zones)
			}
			if holds(need.satellites, need.zones-1) {
				t.Errorf("%d satellites with %d fault domains each are enough", need.satellites, need.zones-1)
			}
			if holds(need.satellites-1, 9) {
				t.Errorf("%d satellites are enough", need.satellites-1)
			}
		})
	}
}

// TestAStatelessPodMayBeEvictedTwoMinutesAfterARecovery asks at the limit and a second before.
func TestAStatelessPodMayBeEvictedTwoMinutesAfterARecovery(t *testing.T) {
	for age, want := range map[time.Duration]bool{2*time.Minute - time.Second: false, 2 * time.Minute: true} {
		s := leavable(t)
		s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(age.Seconds())
		if got := Met(MayEvict(s, s.Cluster.ProcessGroup("stateless-1"))); got != want {
			t.Errorf("%s after a recovery: %t, want %t", age, got, want)
		}
	}
}

// TestARuleWithOneConditionReturnsItsCheck asks an "and" and an "or" of one question each.
func TestARuleWithOneConditionReturnsItsCheck(t *testing.T) {
	one := When("one", func(int) plan.Check { return plan.Check{OK: true, Gate: plan.GateCoord} })
	for name, rule := range map[string]Condition[int]{"and": AllOf(one), "or": AnyOf(one)} {
		if got := rule.Ask(0); len(got) != 1 || !got[0].OK || got[0].Gate != plan.GateCoord {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
