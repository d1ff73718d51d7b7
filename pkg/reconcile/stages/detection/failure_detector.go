// Package detection holds the stages that detect failures between passes: one keeps the CronJob of
// the failure detector, the other is what its jobs do.
package detection

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// FailureDetector creates, updates and deletes the CronJob of the failure detector. It
// exists only with automatic replacements: without them nothing acts on what it detects.
var FailureDetector = plan.Stage{
	Name:  plan.StageFailureDetector,
	Reads: plan.ClusterResource | plan.Detector,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.RunsFailureDetector() {
			return withoutDetector(s)
		}
		if s.Detector.Hidden != "" {
			return manual(plan.HoldDetectorUnknown, "cannot determine whether CronJob %s exists: %s", objects.FailureDetectorName(s.Cluster), s.Detector.Hidden)
		}
		want, image, err := objects.FailureDetector(s.Cluster)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		if image == "" {
			return manual(plan.HoldImageMissing, "%s.image is not set, and there is no published image: build one, see docs/failure-detection.md", v1beta2.ExtensionFailureDetectionCronJob)
		}
		return apply(s, want)
	},
}

// withoutDetector deletes a CronJob that is no longer desired. One of another owner stays.
func withoutDetector(s plan.Snapshot) plan.Decision {
	have := s.Detector.Job
	switch {
	case s.Detector.Hidden != "":
		return plan.Decision{Checks: []plan.Check{{
			ID: plan.CheckDetectorKnown, Question: "can the CronJob of the failure detector be read?",
			Evidence: s.Detector.Hidden + "; an undesired CronJob is not deleted",
		}}}
	case have == nil || have.DeletionTimestamp != nil || !metav1.IsControlledBy(have, s.Cluster):
		return plan.Decision{}
	default:
		return plan.Decision{Why: whyUndesired(s.Cluster), Actions: []plan.Action{plan.DeleteFailureDetector{Name: have.Name, UID: have.UID}}}
	}
}

func whyUndesired(c *v1beta2.FoundationDBCluster) string {
	switch {
	case !*c.FailureDetection().Enabled:
		return fmt.Sprintf("%s.enabled is not true", v1beta2.ExtensionFailureDetectionCronJob)
	case !c.ReplacementsEnabled():
		return "spec.automationOptions.replacements.enabled is false"
	default:
		return "spec.automationOptions.replacements.maxConcurrentReplacements is 0"
	}
}

// apply creates the CronJob, or updates it where it differs. Fields that only the existing one
// has, such as the defaults of the API server, stay.
func apply(s plan.Snapshot, want *batchv1.CronJob) plan.Decision {
	have := s.Detector.Job
	action := plan.ApplyFailureDetector{Name: want.Name, Schedule: want.Spec.Schedule, Object: want}
	switch {
	case have == nil:
		action.Create = true
		return plan.Decision{Why: "the CronJob of the failure detector does not exist", Actions: []plan.Action{action}}
	case !metav1.IsControlledBy(have, s.Cluster):
		return manual(plan.HoldDetectorNotOwned, "CronJob %s exists and does not belong to this cluster; delete or rename it", have.Name)
	case have.DeletionTimestamp != nil:
		return plan.Wait(plan.PodDelay, plan.HoldDetectorTerminating, fmt.Sprintf("CronJob %s is being deleted; it is created again after that", have.Name))
	}
	differences, err := objects.SpecDifferences(want.Spec, have.Spec)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	if len(differences) == 0 && objects.ContainsMetadata(have.ObjectMeta, want.ObjectMeta) {
		return plan.Decision{}
	}
	updated := have.DeepCopy()
	want.Spec.DeepCopyInto(&updated.Spec)
	readings.MergeMetadata(&updated.ObjectMeta, want.ObjectMeta)
	action.Object, action.Differences = updated, differences
	return plan.Decision{Why: "the CronJob of the failure detector differs from the spec", Actions: []plan.Action{action}}
}

func manual(code plan.HoldCode, format string, args ...any) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: code, Reason: fmt.Sprintf(format, args...), Manual: true}}
}

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
