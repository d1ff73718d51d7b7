package detection

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// DetectFailures records on the FoundationDBCluster that process groups have failed. It decides on
// the facts and not on the written status, so that it can run beside an operator, where no
// status is written. Where failures are unknown it records nothing.
var DetectFailures = plan.Stage{
	Name:  plan.StageDetectFailures,
	Reads: plan.Everything &^ (plan.Detector | plan.DisruptionBudgets),
	Decide: func(s plan.Snapshot) plan.Decision {
		failed, unknown, err := Failures(s)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		var d plan.Decision
		if len(failed) > 0 {
			d.Why = "the change of the annotation starts the next pass"
			d.Actions = []plan.Action{plan.RecordFailures{Cluster: s.Cluster.Name, Groups: failed, At: s.Now}}
		} else if unknown != nil {
			d.Hold = unknown
		}
		return d
	},
}

// Failures returns the process groups that have a condition for which they are replaced once it
// lasts, unless they crash on purpose or are under maintenance. The hold is why other failures are unknown;
// nil where all are known.
func Failures(s plan.Snapshot) (failed []v1beta2.ProcessGroupID, unknown *plan.Hold, err error) {
	if !s.Cluster.Status.Configured && !s.Database.Available() {
		return nil, failuresUnknown(plan.HoldNoDatabase, "there is no database yet"), nil
	}
	if !s.Database.Available() {
		return nil, failuresUnknown(plan.HoldDatabaseUnavailable, "the database is unavailable"), nil
	}
	written, err := status.NewStatus(s)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range written.ProcessGroups {
		f := status.GroupFacts{S: s, Group: g}
		if !g.IsMarkedForRemoval() && !readings.CrashesOnPurpose(s.Cluster, g) && !f.UnderMaintenance() && slices.ContainsFunc(v1beta2.ReplacementConditions(), g.HasCondition) {
			failed = append(failed, g.ProcessGroupID)
		}
	}
	if !status.ProcessesReport(s) {
		unknown = failuresUnknown(plan.HoldNotReporting, "no process of the data center reports")
	}
	return failed, unknown, nil
}

func failuresUnknown(code plan.HoldCode, why string) *plan.Hold {
	return &plan.Hold{Code: code, Reason: "cannot determine which process groups have failed: " + why, RetryAfter: plan.PodDelay}
}
