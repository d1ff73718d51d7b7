package cluster

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// unrest lists the states in which a database must not be disturbed.
var unrest = map[string]func(*fdb.Status){
	"it is unavailable":                 func(s *fdb.Status) { s.Client.DatabaseStatus.Available = false },
	"a restore has it locked":           func(s *fdb.Status) { s.Cluster.DatabaseLockState.Locked = true },
	"its lock state is unknown":         func(s *fdb.Status) { s.Cluster.DatabaseLockState = nil },
	"11 generations of logs are active": func(s *fdb.Status) { s.Cluster.RecoveryState.ActiveGenerations = new(11) },
	"it recovered a moment ago":         func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(30.0) },
	"its recovery is not over":          func(s *fdb.Status) { s.Cluster.RecoveryState.Name = fdb.RecoveryAcceptingCommits },
}

// A stage that is about to change a database makes all checks first. Each stage has something to do
// that needs the lock, and does not do it.
func TestNoStageDisturbsAnUnstableDatabase(t *testing.T) {
	always := []string{"it is unavailable", "a restore has it locked", "its lock state is unknown"}
	causesRecovery := append([]string{"11 generations of logs are active", "it recovered a moment ago"}, always...)
	tests := map[string]struct {
		stage plan.Stage
		from  func(testing.TB) plan.Snapshot
		minds []string
	}{
		"a configuration": {UpdateDatabaseConfiguration, stagestest.AnotherEngine, causesRecovery},
		"an exclusion":    {ExcludeInstances, stagestest.LeavingStorage, causesRecovery},
		"coordinators":    {ChangeCoordinators, stagestest.ExcludedCoordinator, causesRecovery},
		"a restart":       {BounceProcesses, stagestest.NewKnobs, causesRecovery},
		"dead testers":    {BounceProcesses, stagestest.TesterGone, causesRecovery},
		"a maintenance":   {MaintenanceModeChecker, stagestest.Maintained, append([]string{"11 generations of logs are active"}, always...)},
		"new pods":        {UpdatePods(plan.Options{}), stagestest.OutdatedStorage, always},
		"an inclusion":    {RemovePods, stagestest.GoneStorage, append([]string{"its recovery is not over"}, causesRecovery...)},
	}
	for name, tc := range tests {
		t.Run(name+" acts on a stable one", func(t *testing.T) {
			if s := tc.from(t); !actsLocked(tc.stage.Decide(s)) {
				t.Errorf("does nothing that needs the lock; holds with %q", stagestest.Reason(tc.stage.Decide(s)))
			}
		})
		for what, cut := range stagestest.Partial {
			t.Run(name+" waits while "+what, func(t *testing.T) {
				s := tc.from(t)
				cut(s.Database.Status)
				if d := tc.stage.Decide(s); actsLocked(d) { // some stages have nothing to do without what the document lacks
					t.Errorf("does %v, and holds with %q", stagestest.Described(d), stagestest.Reason(d))
				}
			})
		}
		for _, what := range tc.minds {
			t.Run(name+" waits while "+what, func(t *testing.T) {
				s := tc.from(t)
				unrest[what](s.Database.Status)
				if d := tc.stage.Decide(s); actsLocked(d) || d.Hold == nil || d.Hold.RetryAfter <= 0 {
					t.Errorf("does %v, and holds with %q", stagestest.Described(d), stagestest.Reason(d))
				}
			})
		}
	}
}

func actsLocked(d plan.Decision) bool {
	for _, a := range d.Actions {
		if plan.EffectOf(a).Locked {
			return true
		}
	}
	return false
}
