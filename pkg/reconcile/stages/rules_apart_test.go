package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestAnInclusionThatWaitsForTheRecoveryAgeIsHousekeeping refuses an inclusion by one check, and tests whether a command may succeed
// before it.
func TestAnInclusionThatWaitsForTheRecoveryAgeIsHousekeeping(t *testing.T) {
	for name, tc := range map[string]struct {
		gate  plan.Gate
		given func(*plan.Snapshot)
		want  bool
	}{
		"the last recovery is too recent": {plan.GateRecovery, stagestest.RecoveredAgo(61), true},
		"it was a minute ago":             {plan.GateRecovery, stagestest.RecoveredAgo(60), true},
		"it was just now":                 {plan.GateRecovery, stagestest.RecoveredAgo(59), false},
		"its age is unknown":              {plan.GateRecovery, func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = nil }, false},
		"it is not over":                  {plan.GateRecovery, func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = "accepting_commits" }, false},
		"another gate":                    {plan.GateDBLock, stagestest.RecoveredAgo(61), false},
		"the database is unavailable":     {plan.GateRecovery, func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, false},
		"the database does not answer":    {plan.GateRecovery, func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false},
		"the document is incomplete": {plan.GateRecovery, func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages = []fdb.Message{{Name: fdb.MessageIncomplete, Reasons: []fdb.Reason{{Description: fdb.ReasonDeadlineExceeded}}}}
		}, false},
		"the document lists no process": {plan.GateRecovery, func(s *plan.Snapshot) { s.Database.Status.Cluster.Processes = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			if got := cluster.IsHousekeeping(s, plan.Check{Gate: tc.gate}); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

// TestHousekeepingIsDueAfterTheMinimumRecoveryAge tests before, at and without that time.
func TestHousekeepingIsDueAfterTheMinimumRecoveryAge(t *testing.T) {
	a := plan.IncludeAndForget{Groups: []v1beta2.ProcessGroupID{"storage-1"}, Targets: []string{"locality_instance_id:storage-1"}}
	refused := plan.Check{Gate: plan.GateRecovery}
	for age, want := range map[time.Duration]time.Duration{
		time.Minute: cluster.MinRecoveryAgeToInclude - time.Minute, cluster.MinRecoveryAgeToInclude - time.Second: time.Second, cluster.MinRecoveryAgeToInclude: 0, cluster.MinRecoveryAgeToInclude + 1: 0,
	} {
		s := stagestest.HealthyCluster(t)
		stagestest.RecoveredAgo(age.Seconds())(&s)
		h := cluster.HousekeepingOf(s, a, refused)
		if h.RetryAfter != want || h.Due.IsZero() != (want == 0) || (want > 0 && !h.Due.Equal(stagestest.Noon.Add(want))) {
			t.Errorf("%s after the recovery: due in %s at %s, want %s", age, h.RetryAfter, h.Due, want)
		}
	}
	s := stagestest.HealthyCluster(t)
	s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = nil
	if h := cluster.HousekeepingOf(s, a, refused); h.RetryAfter != 0 || !h.Due.IsZero() || len(h.Groups) != 1 || len(h.Exclusions) != 1 || len(h.Requires) != 1 {
		t.Errorf("after a recovery of unknown age: %+v", h)
	}
}

func TestMaintenanceOfAnUnavailableDatabaseIsNotEnded(t *testing.T) {
	s := stagestest.Maintained(t)
	s.Database.Status.Client.DatabaseStatus.Available = false
	d := operations.StopMaintenance.Decide(s)
	if refused, some := d.Refused(); !some || refused.Gate != plan.GateAvailable || len(d.Actions) > 0 || d.Hold == nil {
		t.Errorf("%v, held: %q", stagestest.Described(d), stagestest.Reason(d))
	}
}

// TestARestartWaveHasOneProcessClass restarts process groups of two classes without data.
func TestARestartWaveHasOneProcessClass(t *testing.T) {
	s := stagestest.AgedCluster(t)
	proxy := s.Cluster.ProcessGroup("stateless-106")
	proxy.ProcessClass = v1beta2.ProcessClassCommitProxy
	due := []*v1beta2.ProcessGroupStatus{s.Cluster.ProcessGroup("stateless-105"), proxy}
	if wave := operations.RestartByWave.Next(s, due); len(wave) != 1 || wave[0] != due[0] {
		t.Errorf("%v restart at once", readings.IDsOf(wave))
	}
	proxy.ProcessClass = v1beta2.ProcessClassStateless
	if wave := operations.RestartByWave.Next(s, due); len(wave) != 2 {
		t.Errorf("only %v of two of one class restart", readings.IDsOf(wave))
	}
}

// TestAllGroupsOfAnUndesiredClassAreSurplus counts the surplus process groups.
func TestAllGroupsOfAnUndesiredClassAreSurplus(t *testing.T) {
	for name, count := range map[string]int{"none": 0, "disabled": -1} {
		s := stagestest.HealthyCluster(t)
		s.Cluster.Spec.ProcessCounts.Test = count
		s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: "test-1", ProcessClass: v1beta2.ProcessClassTest})
		if got := replacements.SurplusGroups(s); len(got) != 1 || got[v1beta2.ProcessClassTest] != 1 {
			t.Errorf("%s: %v, want one of class test", name, got)
		}
	}
}
