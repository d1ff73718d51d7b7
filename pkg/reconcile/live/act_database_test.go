package live_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/detection"
)

// Lists are read in global mode only, changed under this instance's name, and used up by
// the restart that they led to.
func TestARestartRemovesItsSharedListEntries(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
	})
	processes := f.observe(plan.Everything).Database.Status.ProcessList()
	at := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	one := []v1beta2.ProcessGroupID{"storage-1"}
	change := plan.ChangeLists{
		At: at, Addresses: map[v1beta2.ProcessGroupID][]string{"storage-1": {"10.1.0.1"}},
		Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForRestart: one, fdb.ReadyForRestart: one, fdb.PendingForRemoval: one},
	}
	if err := f.cluster.Act(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	own := fdb.Member{Instance: f.resource().Spec.ProcessGroupIDPrefix, Group: "storage-1"}
	lists := f.observe(plan.Everything).Coordination.Lists
	if !lists.Read || !lists.Has(fdb.ReadyForRestart, own) || !lists.Entries[fdb.PendingForRestart][own].Equal(at) || len(lists.Addresses[own]) != 1 {
		t.Errorf("after the change: %+v", lists)
	}
	err := f.cluster.Act(t.Context(), plan.RestartProcesses{Groups: one, Addresses: []fdb.Address{processes[0].Address}, Announced: []fdb.Member{own}})
	if err != nil {
		t.Fatal(err)
	}
	lists = f.observe(plan.Everything).Coordination.Lists
	if lists.Has(fdb.ReadyForRestart, own) || lists.Has(fdb.PendingForRestart, own) || !lists.Has(fdb.PendingForRemoval, own) {
		t.Errorf("after the restart: %+v", lists)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.AutomationOptions.SynchronizationMode = nil })
	if got := f.observe(plan.Everything).Coordination.Lists; got.Read || got.Entries != nil {
		t.Errorf("read in local mode: %+v", got)
	}
}

// An instance that got another prefix takes its own entries along, and no other's.
func TestListEntriesUnderAFormerPrefixAreRemovedForOwnGroupsOnly(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
	})
	const own = "kc1-storage-1"
	former := "kc1"
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = former })
	f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.ProcessGroups[0].ProcessGroupID = own })
	f.observe(plan.Everything)
	list := func(ids ...v1beta2.ProcessGroupID) map[fdb.SharedList][]v1beta2.ProcessGroupID {
		return map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForInclusion: ids}
	}
	at := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	if err := f.cluster.Act(t.Context(), plan.ChangeLists{At: at, Add: list(own, "kc1-storage-9")}); err != nil {
		t.Fatal(err)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = "east" })
	f.observe(plan.Everything)
	for what, refused := range map[string]plan.ChangeLists{
		"another's entry":     {Former: &former, Remove: list(own, "kc1-storage-9")},
		"another's addresses": {Former: &former, Addresses: map[v1beta2.ProcessGroupID][]string{"kc1-storage-9": nil}},
		"something new":       {Former: &former, Add: list(own)},
		"new addresses":       {Former: &former, Addresses: map[v1beta2.ProcessGroupID][]string{own: {"10.1.0.1"}}},
	} {
		if err := f.cluster.Act(t.Context(), refused); err == nil {
			t.Errorf("%s was changed below the prefix %q", what, former)
		}
	}
	if err := f.cluster.Act(t.Context(), plan.ChangeLists{Former: &former, Remove: list(own)}); err != nil {
		t.Fatal(err)
	}
	lists := f.observe(plan.Everything).Coordination.Lists
	if left := lists.Members(fdb.PendingForInclusion); len(left) != 1 || left[0].Group != "kc1-storage-9" {
		t.Errorf("left on the list: %v, want the other instance's", left)
	}
}

// A restart that fails has used up its announcements all the same: instances announce
// again what is ready then.
func TestAFailedRestartAlsoRemovesItsAnnouncements(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
	})
	f.observe(plan.Everything)
	one := []v1beta2.ProcessGroupID{"storage-1"}
	own := fdb.Member{Instance: f.resource().Spec.ProcessGroupIDPrefix, Group: "storage-1"}
	add := map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForRestart: one, fdb.ReadyForRestart: one}
	if err := f.cluster.Act(t.Context(), plan.ChangeLists{At: f.cluster.Clock.Now(), Add: add}); err != nil {
		t.Fatal(err)
	}
	absent := []fdb.Address{{Host: "192.0.2.1", Port: 4501}}
	if err := f.cluster.Act(t.Context(), plan.RestartProcesses{Groups: one, Addresses: absent, Announced: []fdb.Member{own}}); err == nil {
		t.Fatal("no process was restarted, without an error")
	}
	if lists := f.observe(plan.Everything).Coordination.Lists; !lists.Read || lists.Has(fdb.ReadyForRestart, own) {
		t.Errorf("after the restart that failed: %+v", lists)
	}
}

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
