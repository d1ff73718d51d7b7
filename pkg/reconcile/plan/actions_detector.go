package plan

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ApplyFailureDetector creates or updates the CronJob of the failure detector.
type ApplyFailureDetector struct {
	Name string `json:"name"`
	// Schedule is that of the CronJob, in cron syntax.
	Schedule string `json:"schedule"`
	// Differences are where an existing CronJob differs from the desired one.
	Differences []string         `json:"differences,omitempty" fingerprint:"-"`
	Object      *batchv1.CronJob `json:"-"`
	// Create is true when it does not exist yet.
	Create bool `json:"create,omitempty"`
}

// Describe implements Action.
func (a ApplyFailureDetector) Describe() string {
	if a.Create {
		return fmt.Sprintf("create CronJob %s (schedule %s)", a.Name, a.Schedule)
	}
	what := "the spec"
	if len(a.Differences) > 0 {
		what = phrase.Some(a.Differences, maxGroups)
	}
	return fmt.Sprintf("update CronJob %s (%s)", a.Name, what)
}

// Subject implements Action.
func (a ApplyFailureDetector) Subject() string { return "cronjob/" + a.Name }

func (ApplyFailureDetector) effect() Effect { return Effect{Stale: Detector, Impact: NoImpact} }

// Apply implements Edit.
func (a ApplyFailureDetector) Apply(s Snapshot) Snapshot {
	s.Detector = DetectorFacts{Job: a.Object}
	return s
}

// DeleteFailureDetector deletes the CronJob of the failure detector. Kubernetes deletes its jobs
// and their pods with it.
type DeleteFailureDetector struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Describe implements Action.
func (a DeleteFailureDetector) Describe() string { return "delete CronJob " + a.Name }

// Subject implements Action.
func (a DeleteFailureDetector) Subject() string { return "cronjob/" + a.Name }

func (DeleteFailureDetector) effect() Effect { return Effect{Stale: Detector, Impact: NoImpact} }

// Apply implements Edit.
func (a DeleteFailureDetector) Apply(s Snapshot) Snapshot {
	s.Detector = DetectorFacts{}
	return s
}

// RecordFailures writes to the FoundationDBCluster when failed process groups were seen. The
// change of the annotation starts the next pass of a watch, and a reconciliation of an operator.
type RecordFailures struct {
	Cluster string `json:"cluster"`
	// Groups are the failed process groups.
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	At     time.Time                `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a RecordFailures) Describe() string {
	return fmt.Sprintf("record that %s failed: %s", phrase.Count(len(a.Groups), "process group"), phrase.Some(a.Groups, maxGroups))
}

// Subject implements Action.
func (a RecordFailures) Subject() string { return a.Cluster }

func (RecordFailures) effect() Effect { return Effect{Stale: ClusterResource, Impact: NoImpact} }

// Value is the value of v1beta2.AnnotationFailuresSeen.
func (a RecordFailures) Value() string { return a.At.UTC().Format(time.RFC3339) }

// Apply implements Edit.
func (a RecordFailures) Apply(s Snapshot) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.Cluster.ObjectMeta, v1beta2.AnnotationFailuresSeen, a.Value())
	return s
}
