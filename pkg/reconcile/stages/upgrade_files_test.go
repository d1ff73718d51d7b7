package stages

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// upgradingSplit returns a split pod of a cluster during the upgrade to 7.4.6 that has confirmed the
// whole ConfigMap, and whose sidecar has copied the new binary.
func upgradingSplit(t *testing.T) plan.Snapshot {
	t.Helper()
	s := splitGroup(t)
	s.Cluster.Spec.Version = "7.4.6"
	g := firstOf(s, "storage")
	launch, err := objects.LaunchOf(s.Pod(g), g.ProcessClass)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := objects.ConfigMapHash(s.Cluster, launch)
	if err != nil {
		t.Fatal(err)
	}
	objects.RecordConfigMap(s.Pod(g), hash)
	report(func(r *plan.PodReport) { r.Present = map[string]bool{"bin/7.4.6/fdbserver": true} })(&s)
	return s
}

// An earlier confirmation of a pod does not count during an upgrade: a process that restarts without
// the new binary does not start.
func TestDuringAnUpgradeAPodIsReadyWhenItsFilesAreInPlace(t *testing.T) {
	const binary = "storage-114 has not loaded bin/7.4.6/fdbserver"
	copies := []string{"copy bin/7.4.6/fdbserver in the sidecar of sample-storage-114", "set on pod/sample-storage-114: foundationdb.org/outdated-config-map-seen"}
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		does    []string
		holds   string
		lagging bool
	}{
		"all is in place":                  {given: func(*plan.Snapshot) {}},
		"the binary is not there":          {given: report(func(r *plan.PodReport) { r.Present = map[string]bool{"bin/7.4.6/fdbserver": false} }), does: copies, holds: binary, lagging: true},
		"the binary was not looked for":    {given: report(func(r *plan.PodReport) { r.Present = nil }), does: copies, holds: binary, lagging: true},
		"only another version's is there":  {given: report(func(r *plan.PodReport) { r.Present = map[string]bool{"bin/7.4.5/fdbserver": true} }), does: copies, holds: binary, lagging: true},
		"the sidecar could not be reached": {given: report(func(r *plan.PodReport) { *r = plan.PodReport{Unreachable: "timed out"} }), does: copies[1:], holds: "is unreachable: timed out", lagging: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := upgradingSplit(t)
			for _, g := range s.Groups()[1:] {
				if g != firstOf(s, "storage") {
					g.MarkForRemoval(noon) // whose files are not read
					g.SetExcluded(noon)
				}
			}
			s.Groups()[0].MarkForRemoval(noon)
			s.Groups()[0].SetExcluded(noon)
			tc.given(&s)
			check(t, updatePodConfig.Decide(s), tc.does, tc.holds, false)
			g := firstOf(s, "storage")
			v, err := incorrectConfigMap.judge(groupFacts{s: s, group: g, pod: s.Pod(g), hashes: configHashes{}})
			if err != nil || (v == holds) != tc.lagging {
				t.Errorf("judged %v (%v), want it to lag: %t", v, err, tc.lagging)
			}
		})
	}
}

// The unified image's monitor accepts a configuration only when it has its binary.
func TestDuringAnUpgradeAMonitorHasToAcceptTheNewVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		accepted string
		want     verdict
	}{
		"it has":     {"7.4.6", gone},
		"it has not": {"7.3.79", holds},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthyCluster(t)
			s.Cluster.Spec.Version = "7.4.6"
			g := firstOf(s, v1beta2.ProcessClassStorage)
			hash, err := configHashes{}.of(s, g, s.Pod(g))
			if err != nil {
				t.Fatal(err)
			}
			objects.RecordConfigMap(s.Pod(g), hash)
			accepted(t, func(c *fdb.MonitorConfiguration) { c.Version = tc.accepted })(&s)
			v, err := incorrectConfigMap.judge(groupFacts{s: s, group: g, pod: s.Pod(g), hashes: configHashes{}})
			if diff := cmp.Diff(tc.want, v); diff != "" || err != nil {
				t.Errorf("%s (%v)", diff, err)
			}
		})
	}
}
