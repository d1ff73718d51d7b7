package replacements

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestReplaceFailedPods(t *testing.T) {
	failed := func(id int, age time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Groups()[id].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-age))
		}
	}
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	two := 2
	tests := map[string]stagestest.RemovalCase{
		"leaves a healthy cluster alone":  {From: stagestest.HealthyCluster},
		"waits two hours":                 {From: stagestest.HealthyCluster, Given: failed(13, 2*time.Hour)},
		"replaces what failed for longer": {From: stagestest.HealthyCluster, Given: failed(13, 2*time.Hour+time.Second), Does: []string{"mark for removal: storage-114"}},
		"replaces one at a time":          {From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour)), Does: []string{"mark for removal: storage-114"}, Holds: "replacement of storage-115 waits"},
		"replaces as many at a time as allowed": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.Replacements.MaxConcurrentReplacements = &two
			}), Does: []string{"mark for removal: storage-114, storage-115"},
		},
		"counts removals that others asked for": {From: stagestest.StorageMarkedForRemoval, Given: failed(14, 3*time.Hour), Holds: "replacement of storage-115 waits"},
		"waits while the database is unavailable": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), Holds: "none is replaced",
		},
		"does nothing when switched off": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool) }),
		},
		"replaces nothing while no process is to run": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.Buggify.EmptyMonitorConf = true }),
		},
		"replaces nothing that may fail for longer than any duration has": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(math.MaxInt)
			}),
		},
		"leaves alone what crashes on purpose, in whatever container": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: "a", Targets: []v1beta2.ProcessGroupID{"storage-114"}}, {ContainerName: "b"}}
			}),
		},
		"leaves a zone under maintenance alone": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-14" }),
		},
		"never replaces for information only": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Groups()[13].SetCondition(v1beta2.ConditionIncorrectPodMetadata, stagestest.Noon.Add(-3*time.Hour))
			},
		},
		"replaces nothing while the database goes to another protocol, which a replacement speaks already": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }),
			Holds: "none is replaced during the upgrade from version 7.3.79 to 7.4.6",
		},
		"replaces no group without a trace while something is missing": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
				s.Groups()[13].Addresses = nil
				s.Database.Status.Client.Coordinators.QuorumReachable = false
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ReplaceFailedPods) })
	}
}

// The manual has automatic replacement off, so a plan that relies on the default names the field.
func TestAReplacementByDefaultNamesItsAutomationField(t *testing.T) {
	for name, tc := range map[string]struct {
		enabled *bool
		want    bool
	}{
		"by default":     {nil, true},
		"set explicitly": {new(true), false},
	} {
		s := stagestest.HealthyCluster(t)
		s.Cluster.Spec.AutomationOptions.Replacements.Enabled = tc.enabled
		s.Groups()[13].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-3*time.Hour))
		d := ReplaceFailedPods.Decide(s)
		if got := strings.Contains(d.Why, "spec.automationOptions.replacements.enabled"); got != tc.want || len(d.Actions) != 1 {
			t.Errorf("%s: %v because %q", name, stagestest.Described(d), d.Why)
		}
	}
}
