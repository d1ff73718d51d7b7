package cluster

import (
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

// questionCase is a check of a healthy cluster with one thing wrong; refused is part of the first
// refusal, empty when all checks pass.
type questionCase struct {
	given   func(*plan.Snapshot)
	ids     []v1beta2.ProcessGroupID
	refused string
}

// Check compares the checks with the refusal, and returns the snapshot with the groups.
func (tc questionCase) Check(t *testing.T, s plan.Snapshot, ask func(plan.Snapshot, []*v1beta2.ProcessGroupStatus) []plan.Check) (plan.Snapshot, []*v1beta2.ProcessGroupStatus) {
	t.Helper()
	if tc.given != nil {
		tc.given(&s)
	}
	var groups []*v1beta2.ProcessGroupStatus
	for _, id := range tc.ids {
		groups = append(groups, s.Cluster.ProcessGroup(id))
	}
	refused, is := plan.Decision{Checks: ask(s, groups)}.Refused()
	if is != (tc.refused != "") || !strings.Contains(refused.Text(), tc.refused) {
		t.Errorf("want a refusal with %q, got %+v", tc.refused, refused)
	}
	return s, groups
}

func TestWhichPodsMayBeTakenDown(t *testing.T) {
	one := []v1beta2.ProcessGroupID{"storage-114"}
	tests := map[string]questionCase{
		"one pod of a healthy cluster": {ids: one},
		"several of one fault domain":  {ids: []v1beta2.ProcessGroupID{"storage-114", "storage-115"}, given: func(s *plan.Snapshot) { stagestest.ShareZone(s, "storage-115", stagestest.NodeName(14)) }},
		"two fault domains":            {ids: []v1beta2.ProcessGroupID{"storage-114", "storage-115"}, refused: "are the pods in one fault domain? they are in node-14, node-15"},
		"an unknown fault domain":      {ids: one, given: func(s *plan.Snapshot) { stagestest.ShareZone(s, "storage-114", "") }, refused: "the fault domain of storage-114 is unknown"},
		"the database does not answer": {ids: one, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, refused: "is the database available? no database status: timed out"},
		"a restore has locked the database": {ids: one, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "00ff"}
		}, refused: "locked with UID 00ff"},
		"an old status document": {ids: one, given: func(s *plan.Snapshot) { s.Database.AsOf = stagestest.Noon.Add(-2 * time.Minute) }, refused: "is the status document recent?"},
		"some data has one copy left": {ids: one, given: func(s *plan.Snapshot) {
			least := 1
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &least
		}, refused: "some data has 1 of 2 replicas, 2 required"},
		"the PVC of the pod is being deleted":       {ids: one, given: going("storage-114"), refused: "does storage-114 keep its volume? PVC sample-storage-114-data is being deleted since"},
		"the PVC of another group is being deleted": {ids: one, given: going("storage-115")},
		"a redundancy that tolerates nothing": {ids: one, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
		}, refused: "does the database stay available without a fault domain?"},
		"another zone is under maintenance": {ids: one, given: func(s *plan.Snapshot) {
			left := 600.0
			s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "node-16", &left
		}, refused: "zone node-16 is under maintenance"},
		"a pod of another fault domain is down, and its data was copied": {ids: one, given: func(s *plan.Snapshot) {
			g := s.Cluster.ProcessGroup("storage-115")
			delete(s.Pods, g.PodName(s.Cluster))
			g.SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon.Add(-time.Hour))
		}, refused: "are all other fault domains up? storage-115 in fault domain node-15 has no pod"},
		"a pod of the same fault domain is down": {ids: one, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
		}},
		"the spec lets no fault domain be unavailable": {ids: one, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MaxZonesWithUnavailablePods = new(int)
		}, refused: "may pods of one more fault domain be unavailable?"},
		"another pod was made a moment ago": {ids: one, given: func(s *plan.Snapshot) {
			s.Pods["sample-storage-115"].CreationTimestamp.Time = stagestest.Noon.Add(-10 * time.Second)
		}, refused: "are all pods settled? storage-115 has"},
		"a process of another fault domain has just started": {ids: one, given: func(s *plan.Snapshot) {
			stagestest.Uptime(s, "storage-116", 12*time.Second)
		}, refused: "have all processes that keep data elsewhere been up for 1m30s? storage-116 started 12s ago, 1m30s required"},
		"a process of the same fault domain has just started": {ids: one, given: func(s *plan.Snapshot) {
			stagestest.Uptime(s, "storage-114", 12*time.Second)
		}},
		"what keeps nothing, beside a process that has just started": {ids: []v1beta2.ProcessGroupID{"stateless-105"}, given: func(s *plan.Snapshot) {
			stagestest.Uptime(s, "storage-116", 12*time.Second)
		}},
		"pods would be recreated in a version with another protocol": {ids: one, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Version = "7.4.6"
		}, refused: "no pod may be recreated until all processes run 7.4.6"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, groups := tc.Check(t, stagestest.HealthyCluster(t), PodsMayGoDown)
			s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete // or a pass replaces stateless groups
			var want, deleted []string
			for _, g := range groups {
				if pod := s.Pod(g); tc.refused == "" {
					pod.Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
					want = append(want, pod.Name)
				}
			}
			for _, a := range UpdatePods(plan.Options{}).Decide(s).Actions {
				for _, pod := range a.(plan.DeletePods).Pods {
					deleted = append(deleted, pod.Name)
				}
			}
			if diff := cmp.Diff(want, deleted); diff != "" {
				t.Errorf("deleted by a pass (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExclusionMayStart(t *testing.T) {
	tests := map[string]questionCase{
		"one of a class":               {ids: []v1beta2.ProcessGroupID{"storage-114"}},
		"one of each of two classes":   {ids: []v1beta2.ProcessGroupID{"storage-114", "log-101"}},
		"more than the redundancy has": {ids: []v1beta2.ProcessGroupID{"storage-114", "storage-115"}, refused: "are enough storage processes up to exclude one? 3 up + 1 tolerated − 3 desired − 0 draining = 1"},
		"another is marked already": {ids: []v1beta2.ProcessGroupID{"storage-114"}, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-115").MarkForRemoval(stagestest.Noon)
		}, refused: "are enough storage processes up to exclude one?"},
		"it is marked itself": {ids: []v1beta2.ProcessGroupID{"storage-114"}, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon)
		}},
		"a recovery a minute ago": {ids: []v1beta2.ProcessGroupID{"storage-114"}, given: func(s *plan.Snapshot) {
			age := 60.0
			s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &age
		}, refused: "was the last recovery at least 2m0s ago? last recovery 1m0s ago, 2m0s required"},
		"the database does not answer": {ids: []v1beta2.ProcessGroupID{"storage-114"}, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, refused: "timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, groups := tc.Check(t, stagestest.HealthyCluster(t), ExclusionMayStart)
			for _, g := range groups {
				g.MarkForRemoval(stagestest.Noon)
			}
			left := len(slices.DeleteFunc(notDrained(s), func(g *v1beta2.ProcessGroupStatus) bool { return safety.Coordinates(s, g) })) // these follow
			for _, a := range ExcludeInstances.Decide(s).Actions {
				left -= len(a.(plan.Exclude).Groups)
			}
			if (left == 0) != (tc.refused == "") {
				t.Errorf("a pass leaves %d process groups, want some: %t", left, tc.refused != "")
			}
		})
	}
}

func TestUpgradeChecksRefuseAnOlderMinorVersion(t *testing.T) {
	tests := map[string]struct {
		questionCase
		to string
	}{
		"a patch release":        {to: "7.3.80"},
		"the same version":       {to: "7.3.79"},
		"an older minor version": {questionCase{refused: "cannot be downgraded from 7.3.79 to 7.1.0"}, "7.1.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, _ := tc.Check(t, stagestest.HealthyCluster(t), func(s plan.Snapshot, _ []*v1beta2.ProcessGroupStatus) []plan.Check { return UpgradeChecks(s, tc.to) })
			s.Cluster.Spec.Version = tc.to
			if d := CheckClientCompatibility.Decide(s); (d.Hold != nil) != (tc.refused != "") {
				t.Errorf("a pass holds: %+v, want a hold: %t", d.Hold, tc.refused != "")
			}
		})
	}
}
