package cluster

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// compareRecoveryChecks compares the results of all checks before an action. The operator is given the
// minimum age of the last recovery; here it is a constant, so the recorded age moves to the same
// side of it.
func compareRecoveryChecks(c opcases.Case, ask func(plan.Snapshot) (checks []plan.Check, recorded, least time.Duration)) (operator, ours opcases.Outcome, err error) {
	var in stagestest.RecordedInput
	var out stagestest.RecordedVerdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.Snapshot(nil)
	s.Database = plan.DatabaseFacts{Status: in.Status.Complete(s.Cluster.RunningVersion()), AsOf: s.Now}
	recovery := s.Database.Status.Cluster.RecoveryState
	_, recorded, least := ask(s)
	*recovery.SecondsSinceLastRecovered += (least - recorded).Seconds()
	if v, err := fdb.ParseVersion(s.Cluster.RunningVersion()); err == nil && !v.HasRecoveryAge() {
		*recovery.SecondsSinceLastRecovered = -1 // what those versions write
	}
	checks, _, _ := ask(s)
	return out.Outcome(), opcases.Verdict(safety.Met(checks)), nil
}

// compareExcludeChecks compares when processes may be excluded.
func compareExcludeChecks(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareRecoveryChecks(c, func(s plan.Snapshot) ([]plan.Check, time.Duration, time.Duration) {
		d, _ := CheckStable(readings.NewExclusions(s))
		return append(d.Checks, safety.Available(s.Database)), MinRecoveryAgeToExclude, MinRecoveryAgeToExclude
	})
}

// compareIncludeChecks compares when exclusions may end.
func compareIncludeChecks(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareRecoveryChecks(c, func(s plan.Snapshot) ([]plan.Check, time.Duration, time.Duration) {
		return IncludeChecks(s), 5 * time.Minute, MinRecoveryAgeToInclude
	})
}

// compareConfigureChecks compares when the configuration may change. Only this program checks whether
// the processes can hold the data.
func compareConfigureChecks(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareRecoveryChecks(c, func(s plan.Snapshot) ([]plan.Check, time.Duration, time.Duration) {
		checks := configureChecks(s, fdb.Configuration{})
		return slices.DeleteFunc(checks, func(c plan.Check) bool { return c.Gate == plan.GateConfig }), MinRecoveryAgeToConfigure, MinRecoveryAgeToConfigure
	})
}

// compareCoordinatorChecks compares when coordinators may change.
func compareCoordinatorChecks(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareRecoveryChecks(c, func(s plan.Snapshot) ([]plan.Check, time.Duration, time.Duration) {
		verdict := safety.JudgeCoordinators(s)
		if len(verdict.Missing) > 0 {
			return coordinatorChecks(s, verdict), 5 * time.Minute, minRecoveryAgeMissingCoordinator
		}
		return coordinatorChecks(s, verdict), 10 * time.Minute, minRecoveryAgeUndesiredCoordinator
	})
}
