package cluster

import (
	"slices"
	"strings"
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
func TestStagesThatChangeTheDatabaseWaitUntilItIsStable(t *testing.T) {
	always := []string{"it is unavailable", "a restore has it locked", "its lock state is unknown"}
	causesRecovery := append([]string{"11 generations of logs are active", "it recovered a moment ago"}, always...)
	tests := map[string]struct {
		stage plan.Stage
		from  func(testing.TB) plan.Snapshot
		minds []string
		// needs are the documents of stagestest.Lacking on which it waits; on the others it acts.
		needs string
	}{
		"a configuration": {UpdateDatabaseConfiguration, stagestest.AnotherEngine, causesRecovery, "localities, versions, recovery_state, data, lock state, configuration"},
		"an exclusion":    {ExcludeInstances, stagestest.StorageMarkedForRemoval, causesRecovery, "localities, versions, recovery_state, lock state"},
		"coordinators":    {ChangeCoordinators, stagestest.ExcludedCoordinator, causesRecovery, "localities, versions, recovery_state, coordinators, lock state"},
		"a restart":       {BounceProcesses, stagestest.NewKnobs, causesRecovery, "localities, versions, uptimes, recovery_state, lock state"},
		"dead testers":    {BounceProcesses, stagestest.DeadTester, causesRecovery, "roles, localities, versions, uptimes, recovery_state, lock state"},
		"a maintenance":   {MaintenanceModeChecker, stagestest.Maintained, append([]string{"11 generations of logs are active"}, always...), "localities, versions, uptimes, recovery_state, lock state"},
		"new pods":        {UpdatePods(plan.Options{}), stagestest.OutdatedStorage, always, "localities, versions, uptimes, data, logs, coordinators, lock state, configuration"},
		"an inclusion":    {RemovePods, stagestest.RemovableStorage, append([]string{"its recovery is not over"}, causesRecovery...), "versions, recovery_state, lock state, configuration"},
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
		for what, cut := range stagestest.Lacking {
			t.Run(name+" on a document without "+what, func(t *testing.T) {
				s := tc.from(t)
				cut(s.Database.Status)
				if d := tc.stage.Decide(s); actsLocked(d) == slices.Contains(strings.Split(tc.needs, ", "), what) {
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
