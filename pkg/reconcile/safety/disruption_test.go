package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// disruptionRefusals break one thing each, so that one question and no other refuses.
var disruptionRefusals = map[string]struct {
	given  func(*plan.Snapshot)
	refuse plan.CheckID
}{
	"an old status document": {later, plan.CheckStatusRecent},
	"a single copy":          {func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.LogReplicas = 1 }, plan.CheckToleratesLoss},
	"a replica is missing": {func(s *plan.Snapshot) {
		s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
	}, plan.CheckFaultTolerant},
	"a pod is missing":           {func(s *plan.Snapshot) { delete(s.Pods, "sample-storage-3") }, plan.CheckOtherDomainsUp},
	"a process has just started": {edit("storage-3", func(p *fdb.Process) { p.UptimeSeconds = new(20.0) }), plan.CheckOthersUpLong},
	"a zone is under maintenance": {func(s *plan.Snapshot) {
		s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "z3", new(60.0)
	}, plan.CheckNoOtherMaintenance},
}

func TestDisruptionIsAllowedOnlyIfTheDatabaseCanLoseAnyPod(t *testing.T) {
	if checks := MayLoseAnyPod(leavable(t)); !Met(checks) {
		t.Fatalf("a healthy database keeps its pods: %+v", checks)
	}
	for name, tc := range disruptionRefusals {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			var refused []plan.CheckID
			for _, c := range MayLoseAnyPod(s) {
				if !c.OK {
					refused = append(refused, c.ID)
				}
				if c.Question == "" || c.Evidence == "" {
					t.Errorf("a check without words: %+v", c)
				}
			}
			if len(refused) != 1 || refused[0] != tc.refuse {
				t.Errorf("refused by %v, want %s", refused, tc.refuse)
			}
		})
	}
}

func TestNoDisruptionIsAllowedWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	s := leavable(t)
	s.Database = plan.DatabaseFacts{Unreachable: "timed out", AsOf: evening}
	if Met(MayLoseAnyPod(s)) || NeverDisruptable(s) {
		t.Error("an unknown state is one that can lose a pod, or one that never ends")
	}
	s.Cluster.Status.Configured, s.Database = false, plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	if !Met(MayLoseAnyPod(s)) {
		t.Error("pods without a database hold something")
	}
	s = leavable(t)
	single(&s)
	if Met(MayLoseAnyPod(s)) || !NeverDisruptable(s) {
		t.Error("the only copy of data may go")
	}
}

func TestAgentsMayAlwaysBeEvictedAndTolerateALostNodeForAMinute(t *testing.T) {
	if !Met(MayEvictAgent()) {
		t.Errorf("%+v", MayEvictAgent())
	}
	for _, toleration := range TolerationsForAgents() {
		if got := time.Duration(*toleration.TolerationSeconds) * time.Second; got != time.Minute {
			t.Errorf("%s: %s", toleration.Key, got)
		}
	}
}
