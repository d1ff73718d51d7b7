package cluster

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// A pinned tag is the usual cause: a user raises spec.version alone.
func TestAnUpgradeToAVersionThatNoImageHasIsRefused(t *testing.T) {
	pinned := []v1beta2.ImageConfig{{Tag: "7.3.79"}}
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		holds bool
	}{
		"the version of the tag":        {func(*plan.Snapshot) {}, false},
		"a compatible version":          {func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.3.80" }, true},
		"a version of another protocol": {func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }, true},
		"no database yet": {func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Status = "7.4.6", v1beta2.FoundationDBClusterStatus{}
			s.Database = plan.DatabaseFacts{Unreachable: "no pod"}
		}, true},
		"the check is omitted by the spec": {func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Spec.IgnoreUpgradabilityChecks = "7.3.80", true
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Cluster.Spec.MainContainer.ImageConfigs = pinned
			tc.given(&s)
			d := CheckClientCompatibility.Decide(s)
			if held := d.Hold != nil && strings.Contains(d.Hold.Reason, "spec.mainContainer.imageConfigs[0].tag"); held != tc.holds {
				t.Errorf("%+v", d.Hold)
			} else if held && (!d.Hold.Manual || d.Hold.Then != plan.EndPass) {
				t.Errorf("%+v, want the pass to end", d.Hold)
			}
		})
	}
}
