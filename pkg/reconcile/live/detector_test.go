package live_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/detection"
)

const detectorName = "sample-failure-detector"

// detect runs only the stage that keeps the CronJob.
func (f *field) detect() reconcile.PassDone {
	f.t.Helper()
	p := reconcile.Pass{Stages: []plan.Stage{detection.FailureDetector}, Observer: f.cluster, Actor: f.cluster, Report: func(reconcile.Event) {}}
	done, err := p.Run(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return done
}

func TestFailureDetectorCronJobIsCreatedUpdatedAndDeleted(t *testing.T) {
	f := newField(t, sample())
	if done := f.detect(); done.Outcome != reconcile.Done {
		t.Errorf("without one enabled: %s", done.Outcome)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("i:1"), Schedule: new("@hourly")}
	})
	stored := func() *batchv1.CronJob {
		job := &batchv1.CronJob{}
		if err := f.api.Get(t.Context(), named(detectorName), job); err != nil {
			t.Fatal(err)
		}
		return job
	}
	f.detect()
	created := stored()
	if created.Spec.Schedule != "@hourly" || created.OwnerReferences[0].UID != "1" {
		t.Errorf("created %+v", created)
	}
	f.log.reset()
	if f.detect(); len(f.log.writes()) > 0 {
		t.Errorf("a second pass writes: %v", f.log.writes())
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.Replacements.FailureDetectionCronJob.Schedule = new("@daily")
	})
	f.detect()
	if updated := stored(); updated.Spec.Schedule != "@daily" || updated.UID != created.UID {
		t.Errorf("updated %+v", updated)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.AutomationOptions.Replacements.Enabled = new(false) })
	f.detect()
	if err := f.api.Get(t.Context(), named(detectorName), &batchv1.CronJob{}); !apierrors.IsNotFound(err) {
		t.Errorf("without replacements: %v", err)
	}
}

// A user without permission for CronJobs reconciles a cluster that has no failure detector.
func TestForbiddenCronJobsBlockOnlyAnEnabledFailureDetector(t *testing.T) {
	refuse := func(err error) func(string) error {
		return func(request string) error {
			if request == "get CronJob "+detectorName {
				return err
			}
			return nil
		}
	}
	f := newField(t, sample())
	f.log.refuse = refuse(apierrors.NewForbidden(schema.GroupResource{Resource: "cronjobs"}, detectorName, errors.New("RBAC")))
	if s := f.observe(plan.ClusterResource | plan.Detector); !strings.Contains(s.Detector.Hidden, "forbidden") || s.Detector.Job != nil {
		t.Errorf("got %+v", s.Detector)
	}
	if done := f.detect(); done.Outcome != reconcile.Done {
		t.Errorf("disabled: %s", done.Outcome)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("i:1")}
	})
	if done := f.detect(); done.Outcome != reconcile.Blocked {
		t.Errorf("enabled: %s", done.Outcome)
	}
	f.log.refuse = refuse(apierrors.NewServiceUnavailable("etcd is down"))
	var s plan.Snapshot
	err := f.cluster.Observe(t.Context(), &s, plan.ClusterResource|plan.Detector)
	if _, ok := errors.AsType[*reconcile.UnreachableError](err); !ok {
		t.Errorf("got %v, want unreachable", err)
	}
}

// The annotation is all that a job writes beside the status: a patch of anything else could undo a
// change of the owner of the spec.
func TestDetectFailuresPatchesOnlyItsAnnotation(t *testing.T) {
	f := settled(t)
	f.begin()
	s := f.observe(plan.Everything)
	var patches []string
	f.cluster.Client = patchReader{f.cluster.Client, &patches}
	before := f.resource()
	if err := f.cluster.Act(t.Context(), plan.RecordFailures{Cluster: "sample", Groups: []v1beta2.ProcessGroupID{s.Groups()[0].ProcessGroupID}, At: sim.Noon}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"metadata":{"annotations":{"kubectl-fdb/failures-seen":"2026-11-20T12:00:00Z"}}}`}, patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	after := f.resource()
	if at, seen := after.FailuresSeen(); !seen || !at.Equal(sim.Noon) {
		t.Errorf("got %v, %t", at, seen)
	}
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the spec changed (-before +after):\n%s", diff)
	}
	// Later edits of the same pass build on it.
	if err := f.cluster.Act(t.Context(), plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{s.Groups()[0].ProcessGroupID}, At: sim.Noon}); err != nil {
		t.Error(err)
	}
}

func TestDetectFailuresPassesRecordFailuresInStatusAndAnnotation(t *testing.T) {
	detecting := func(f *field, list []plan.Stage) reconcile.PassDone {
		t.Helper()
		f.log.reset()
		p := reconcile.Pass{Stages: list, Observer: f.cluster, Actor: f.cluster, Report: func(reconcile.Event) {}}
		done, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	f := settled(t)
	if done := detecting(f, stages.Detecting()); done.Outcome != reconcile.Done || len(f.log.writes()) > 0 {
		t.Errorf("all is well: %s, wrote %v", done.Outcome, f.log.writes())
	}
	pods := f.observe(plan.Pods).Pods
	for _, pod := range pods {
		if strings.Contains(pod.Name, "-storage-") {
			if err := f.api.Delete(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if done := detecting(f, stages.DetectingBesideOperator()); done.Outcome != reconcile.Changed || len(f.log.those("status")) > 0 || len(f.log.those("patch")) != 1 {
		t.Errorf("beside an operator: %s, wrote %v", done.Outcome, f.log.writes())
	}
	if done := detecting(f, stages.Detecting()); done.Outcome != reconcile.Changed || len(f.log.those("status")) != 1 || len(f.log.those("patch")) != 1 {
		t.Errorf("a failure: %s, wrote %v", done.Outcome, f.log.writes())
	}
	recorded, _ := f.resource().FailuresSeen()
	for _, pod := range pods {
		_ = f.api.Delete(t.Context(), pod) // without a database failures are unknown
	}
	if done := detecting(f, stages.Detecting()); done.Outcome != reconcile.Waiting || len(f.log.those("patch")) > 0 {
		t.Errorf("unknown: %s, wrote %v", done.Outcome, f.log.writes())
	}
	if again, _ := f.resource().FailuresSeen(); !again.Equal(recorded) {
		t.Errorf("recorded %v", again)
	}
}
