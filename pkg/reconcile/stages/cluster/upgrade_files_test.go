package cluster

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// upgradingSplit returns a split pod of a cluster during the upgrade to 7.4.6 that has confirmed the
// whole ConfigMap, and whose sidecar has copied the new binary.
func upgradingSplit(t *testing.T) plan.Snapshot {
	t.Helper()
	s := splitGroup(t)
	s.Cluster.Spec.Version = "7.4.6"
	g := stagestest.FirstOf(s, "storage")
	launch, err := objects.LaunchOf(s.Pod(g), g.ProcessClass)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := objects.ConfigMapHash(s.Cluster, launch)
	if err != nil {
		t.Fatal(err)
	}
	objects.RecordConfigMap(s.Pod(g), hash)
	writeConfigMap(t, &s)
	stagestest.Report(func(r *plan.PodReport) { r.Present = map[string]bool{"bin/7.4.6/fdbserver": true} })(&s)
	return s
}

// An earlier confirmation of a pod does not count during an upgrade: a process that restarts without
// the new binary does not start.
func TestAnUpgradeWaitsUntilThePodHasTheNewFiles(t *testing.T) {
	const binary = "storage-114 has not loaded bin/7.4.6/fdbserver"
	copies := []string{"copy bin/7.4.6/fdbserver in the sidecar of sample-storage-114", "set on pod/sample-storage-114: foundationdb.org/outdated-config-map-seen"}
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		does    []string
		holds   string
		lagging bool
	}{
		"all is in place":                  {given: func(*plan.Snapshot) {}},
		"the binary is not there":          {given: stagestest.Report(func(r *plan.PodReport) { r.Present = map[string]bool{"bin/7.4.6/fdbserver": false} }), does: copies, holds: binary, lagging: true},
		"the binary was not looked for":    {given: stagestest.Report(func(r *plan.PodReport) { r.Present = nil }), does: copies, holds: binary, lagging: true},
		"only another version's is there":  {given: stagestest.Report(func(r *plan.PodReport) { r.Present = map[string]bool{"bin/7.4.5/fdbserver": true} }), does: copies, holds: binary, lagging: true},
		"the sidecar could not be reached": {given: stagestest.Report(func(r *plan.PodReport) { *r = plan.PodReport{Unreachable: "timed out"} }), does: copies[1:], holds: "is unreachable: timed out", lagging: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := upgradingSplit(t)
			for _, g := range s.Groups()[1:] {
				if g != stagestest.FirstOf(s, "storage") {
					g.MarkForRemoval(stagestest.Noon) // whose files are not read
					g.SetExcluded(stagestest.Noon)
				}
			}
			s.Groups()[0].MarkForRemoval(stagestest.Noon)
			s.Groups()[0].SetExcluded(stagestest.Noon)
			tc.given(&s)
			check(t, UpdatePodConfig.Decide(s), tc.does, tc.holds, false)
			g := stagestest.FirstOf(s, "storage")
			if lags := lagsBehindConfigMap(t, s, g); lags != tc.lagging {
				t.Errorf("lags: %t, want %t", lags, tc.lagging)
			}
		})
	}
}

// The unified image's monitor accepts a configuration only when it has its binary.
func TestAnUpgradeWaitsUntilTheMonitorAcceptsTheNewVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		accepted string
		lagging  bool
	}{
		"it has":     {"7.4.6", false},
		"it has not": {"7.3.79", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Cluster.Spec.Version = "7.4.6"
			g := stagestest.FirstOf(s, v1beta2.ProcessClassStorage)
			hash, err := readings.ConfigHashes{}.Of(s, g, s.Pod(g))
			if err != nil {
				t.Fatal(err)
			}
			objects.RecordConfigMap(s.Pod(g), hash)
			accepted(t, func(c *fdb.MonitorConfiguration) { c.Version = tc.accepted })(&s)
			if lags := lagsBehindConfigMap(t, s, g); lags != tc.lagging {
				t.Errorf("lags: %t, want %t", lags, tc.lagging)
			}
		})
	}
}

// lagsBehindConfigMap reports whether the status of a pass has the condition for a group.
func lagsBehindConfigMap(t *testing.T, s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	t.Helper()
	for _, written := range statusWritten(t, s).ProcessGroups {
		if written.ProcessGroupID == g.ProcessGroupID {
			return written.HasCondition(v1beta2.ConditionIncorrectConfigMap)
		}
	}
	t.Fatalf("%s is not in the status", g.ProcessGroupID)
	return false
}
