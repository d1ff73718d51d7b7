package inspect

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// PauseView describes a pause: spec.skip makes operators skip the cluster.
type PauseView struct {
	// By is empty where spec.skip was set without a note.
	By string `json:"by,omitempty"`
	// Since and Until are null when they were not recorded; a pause does not end by itself.
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Reason string     `json:"reason,omitempty"`
	// Overdue is true when the pause should be over.
	Overdue bool `json:"overdue"`
}

// NewPauseView returns nil for a cluster that is not paused.
func NewPauseView(f Facts) *PauseView {
	p, paused := plan.PauseOf(f.Cluster)
	if !paused {
		return nil
	}
	return &PauseView{By: p.By, Since: Known(p.At), Until: Known(p.Until), Reason: p.Reason, Overdue: p.OverdueAt(f.Now)}
}

// Text returns the user who paused the cluster, for how long and why.
func (v PauseView) Text(now time.Time) string {
	words := []string{"spec.skip makes operators skip the cluster"}
	if v.By != "" {
		words = append(words, "set by "+v.By)
	}
	if v.Since != nil {
		words = append(words, phrase.Duration(now.Sub(*v.Since))+" ago")
	}
	switch {
	case v.Overdue && v.Until != nil:
		words = append(words, fmt.Sprintf("overdue for %s", phrase.Duration(now.Sub(*v.Until))))
	case v.Until != nil:
		words = append(words, fmt.Sprintf("for %s more", phrase.Duration(v.Until.Sub(now))))
	}
	text := strings.Join(words, ", ")
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text
}

// DetectorView describes the failure detector of a cluster.
type DetectorView struct {
	// Schedule is in cron syntax.
	Schedule string `json:"schedule"`
	// PeriodSeconds is null where the spec sets a schedule of its own.
	PeriodSeconds *int64 `json:"periodSeconds"`
	// Exists is whether there is a CronJob; null where CronJobs cannot be read.
	Exists *bool `json:"exists"`
	// Suspended is whether the CronJob starts no jobs, as set by its template or by a user.
	Suspended bool `json:"suspended"`
	// LastJob is when the last job was started; null before the first.
	LastJob *time.Time `json:"lastJob"`
	// LastSuccess is when the last successful job ended; null before the first.
	LastSuccess *time.Time `json:"lastSuccess"`
	// FailuresSeen is when a failed process group was seen last; null if never.
	FailuresSeen *time.Time `json:"failuresSeen"`
}

// NewDetectorView returns nil for a cluster that should have no failure detector.
func NewDetectorView(f Facts) *DetectorView {
	if !f.Cluster.RunsFailureDetector() {
		return nil
	}
	v := &DetectorView{Schedule: *f.Cluster.FailureDetection().Schedule}
	if period, known := objects.DetectorPeriod(f.Cluster); known {
		v.PeriodSeconds = new(int64(period.Seconds()))
	}
	if at, seen := f.Cluster.FailuresSeen(); seen {
		v.FailuresSeen = &at
	}
	if f.Detector.Hidden == "" {
		v.Exists = new(f.Detector.Job != nil)
	}
	if job := f.Detector.Job; job != nil {
		v.Suspended = ptr.Deref(job.Spec.Suspend, false)
		v.LastJob = timeOf(job.Status.LastScheduleTime)
		v.LastSuccess = timeOf(job.Status.LastSuccessfulTime)
	}
	return v
}

func timeOf(at *metav1.Time) *time.Time {
	if at == nil {
		return nil
	}
	return Known(at.Time)
}

// Text returns how often the failure detector runs, and what it saw.
func (v DetectorView) Text(now time.Time) string {
	words := []string{fmt.Sprintf("schedule %q", v.Schedule)}
	if v.PeriodSeconds != nil {
		words = []string{"every " + phrase.Seconds(*v.PeriodSeconds)}
	}
	switch {
	case v.Exists == nil:
		words = append(words, "its CronJob is unknown")
	case !*v.Exists:
		words = append(words, "its CronJob does not exist")
	case v.Suspended:
		words = append(words, "suspended")
	case v.LastSuccess != nil:
		words = append(words, "last succeeded "+phrase.Duration(now.Sub(*v.LastSuccess))+" ago")
	case v.LastJob != nil:
		words = append(words, "no job has succeeded yet")
	default:
		words = append(words, "no job yet")
	}
	if v.FailuresSeen != nil {
		words = append(words, "last saw a failure "+phrase.Duration(now.Sub(*v.FailuresSeen))+" ago")
	}
	return strings.Join(words, ", ")
}

// Paused returns the progress of pausing a cluster.
func Paused(f Facts) Target {
	t := pauseTarget(f)
	t.Reached = f.Cluster.Spec.Skip
	return t
}

// Resumed returns the progress of resuming a cluster.
func Resumed(f Facts) Target {
	t := pauseTarget(f)
	t.Reached = !f.Cluster.Spec.Skip
	return t
}

func pauseTarget(f Facts) Target {
	t := Target{ID: f.Cluster.Name, Phase: "not-paused"}
	if v := NewPauseView(f); v != nil {
		t.Phase, t.Note = "paused", v.Text(f.Now)
	}
	return t
}
