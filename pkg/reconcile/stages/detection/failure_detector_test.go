package detection

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// enabled enables the failure detector.
func enabled(s *plan.Snapshot) {
	s.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb:1")}
}

func replacements(edit func(*v1beta2.AutomaticReplacementOptions)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(&s.Cluster.Spec.AutomationOptions.Replacements) }
}

// withJob gives the cluster the CronJob that it should have, changed.
func withJob(t *testing.T, edit func(*batchv1.CronJob)) func(*plan.Snapshot) {
	t.Helper()
	return func(s *plan.Snapshot) {
		copied := *s
		copied.Cluster = s.Cluster.DeepCopy()
		enabled(&copied)
		job, _, err := objects.FailureDetector(copied.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		job.UID, job.ResourceVersion = "job", "5"
		if edit != nil {
			edit(job)
		}
		s.Detector.Job = job
	}
}

func hidden(s *plan.Snapshot) { s.Detector.Hidden = "forbidden" }

func TestTheCronJobOfTheFailureDetector(t *testing.T) {
	const name = "sample-failure-detector"
	ending := func(j *batchv1.CronJob) { j.DeletionTimestamp = new(stagestest.NoonTime()) }
	foreign := func(j *batchv1.CronJob) { j.OwnerReferences = nil }
	all := stagestest.All
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		does   []string
		holds  plan.HoldCode
		manual bool
		checks []plan.CheckID
	}{
		"none by default":                     {given: all()},
		"created once enabled":                {given: enabled, does: []string{"create CronJob " + name + " (schedule 50 */2 * * *)"}},
		"nothing to do":                       {given: all(enabled, withJob(t, nil))},
		"another schedule":                    {given: all(enabled, withJob(t, func(j *batchv1.CronJob) { j.Spec.Schedule = "@daily" })), does: []string{"update CronJob " + name + " (schedule: @daily, desired 50 */2 * * *)"}},
		"another label":                       {given: all(enabled, withJob(t, func(j *batchv1.CronJob) { j.Labels = nil })), does: []string{"update CronJob " + name + " (the spec)"}},
		"a field that the template lost":      {given: all(enabled, withJob(t, func(j *batchv1.CronJob) { j.Annotations[v1beta2.AnnotationLastAppliedSpec] = "other" })), does: []string{"update CronJob " + name + " (the spec)"}},
		"suspended by a user":                 {given: all(enabled, withJob(t, func(j *batchv1.CronJob) { j.Spec.Suspend = new(true) }))},
		"deleted when disabled":               {given: withJob(t, nil), does: []string{"delete CronJob " + name}},
		"deleted without replacements":        {given: all(enabled, withJob(t, nil), replacements(func(r *v1beta2.AutomaticReplacementOptions) { r.Enabled = new(false) })), does: []string{"delete CronJob " + name}},
		"deleted with 0 replacements":         {given: all(enabled, withJob(t, nil), replacements(func(r *v1beta2.AutomaticReplacementOptions) { r.MaxConcurrentReplacements = new(0) })), does: []string{"delete CronJob " + name}},
		"not created without replacements":    {given: all(enabled, replacements(func(r *v1beta2.AutomaticReplacementOptions) { r.Enabled = new(false) }))},
		"deleted once":                        {given: withJob(t, ending)},
		"another owner's, when disabled":      {given: withJob(t, foreign)},
		"another owner's":                     {given: all(enabled, withJob(t, foreign)), holds: plan.HoldDetectorNotOwned, manual: true},
		"another cluster's of that name":      {given: all(enabled, withJob(t, func(j *batchv1.CronJob) { j.OwnerReferences[0].UID = "2" })), holds: plan.HoldDetectorNotOwned, manual: true},
		"created again once it was deleted":   {given: all(enabled, withJob(t, ending)), holds: plan.HoldDetectorTerminating},
		"no image":                            {given: all(enabled, replacements(func(r *v1beta2.AutomaticReplacementOptions) { r.FailureDetectionCronJob.Image = nil })), holds: plan.HoldImageMissing, manual: true},
		"hidden":                              {given: all(enabled, hidden), holds: plan.HoldDetectorUnknown, manual: true},
		"hidden and disabled":                 {given: hidden, checks: []plan.CheckID{plan.CheckDetectorKnown}},
		"no image while there is one already": {given: all(enabled, withJob(t, nil), replacements(func(r *v1beta2.AutomaticReplacementOptions) { r.FailureDetectionCronJob.Image = nil })), holds: plan.HoldImageMissing, manual: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := FailureDetector.Decide(s)
			if diff := cmp.Diff(tc.does, stagestest.Described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if (len(d.Actions) > 0) != (d.Why != "") {
				t.Errorf("why: %q", d.Why)
			}
			var hold plan.Hold
			if d.Hold != nil {
				hold = *d.Hold
			}
			if hold.Code != tc.holds || hold.Manual != tc.manual {
				t.Errorf("got hold %+v, want %s", hold, tc.holds)
			}
			var checks []plan.CheckID
			for _, c := range d.Checks {
				checks = append(checks, c.ID)
			}
			if diff := cmp.Diff(tc.checks, checks); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
		})
	}
}

// An update keeps what others added to the CronJob, and the version that it was read with.
func TestACronJobUpdateKeepsForeignMetadataAndResourceVersion(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.All(enabled, withJob(t, func(j *batchv1.CronJob) {
		j.Spec.Schedule = "@daily"
		j.Annotations["theirs"], j.Labels["theirs"] = "a", "b"
	}))(&s)
	a, ok := FailureDetector.Decide(s).Actions[0].(plan.ApplyFailureDetector)
	if !ok || a.Create || a.Object.ResourceVersion != "5" || a.Object.UID != "job" || a.Object.Annotations["theirs"] != "a" || a.Object.Labels["theirs"] != "b" || a.Object.Spec.Schedule != "50 */2 * * *" {
		t.Errorf("got %+v", a)
	}
	s = a.Apply(s)
	if d := FailureDetector.Decide(s); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("and again: %v, %s", stagestest.Described(d), stagestest.Reason(d))
	}
	s.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = nil
	d := FailureDetector.Decide(s)
	if want := []plan.Action{plan.DeleteFailureDetector{Name: "sample-failure-detector", UID: "job"}}; !cmp.Equal(want, d.Actions) || !strings.Contains(d.Why, "enabled is not true") {
		t.Errorf("disabled: %v because %q", d.Actions, d.Why)
	}
}

func TestDetectFailures(t *testing.T) {
	failing := func(s *plan.Snapshot) { delete(s.Pods, stagestest.FirstOf(*s, "storage").PodName(s.Cluster)) }
	first := func(edit func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { edit(s, stagestest.FirstOf(*s, "storage")) }
	}
	unavailable := func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }
	elsewhere := func(s *plan.Snapshot) { s.Cluster.Spec.DataCenter = "dc9" }
	all := stagestest.All
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []v1beta2.ProcessGroupID
		holds plan.HoldCode
	}{
		"nothing in a healthy cluster": {given: all()},
		"a pod is missing":             {given: failing, want: []v1beta2.ProcessGroupID{"storage-114"}},
		"a process does not report":    {given: first(stagestest.DropProcess), want: []v1beta2.ProcessGroupID{"storage-114"}},
		"not what is already replaced": {given: all(failing, first(func(_ *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(stagestest.Noon) }))},
		"not what crashes on purpose": {given: all(failing, func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: v1beta2.ContainerMain, Targets: []v1beta2.ProcessGroupID{"storage-114"}}}
		})},
		"not what is under maintenance":     {given: all(stagestest.Had(v1beta2.ConditionPodPending), stagestest.UnderMaintenance("node-14"))},
		"not what replaces nothing":         {given: stagestest.Had(v1beta2.ConditionIncorrectCommandLine)},
		"not what has passed since":         {given: stagestest.Had(v1beta2.ConditionPodPending)},
		"unknown without a database":        {given: all(failing, unavailable), holds: plan.HoldDatabaseUnavailable},
		"unknown before there is one":       {given: all(failing, unavailable, func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }), holds: plan.HoldNoDatabase},
		"unknown where no process reports":  {given: elsewhere, holds: plan.HoldNotReporting},
		"known where an object shows it":    {given: all(failing, elsewhere), want: []v1beta2.ProcessGroupID{"storage-114"}},
		"the status was written by another": {given: all(failing, func(s *plan.Snapshot) { s.Cluster.Status.Health.Available = false }), want: []v1beta2.ProcessGroupID{"storage-114"}},
	}
	for what, cut := range stagestest.Partial {
		tests["unknown where "+what] = struct {
			given func(*plan.Snapshot)
			want  []v1beta2.ProcessGroupID
			holds plan.HoldCode
		}{given: func(s *plan.Snapshot) { cut(s.Database.Status) }, holds: plan.HoldDatabaseUnavailable}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := DetectFailures.Decide(s)
			var want []plan.Action
			if len(tc.want) > 0 {
				want = []plan.Action{plan.RecordFailures{Cluster: "sample", Groups: tc.want, At: stagestest.Noon}}
			}
			if diff := cmp.Diff(want, d.Actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			var code plan.HoldCode
			if d.Hold != nil {
				code = d.Hold.Code
			}
			if code != tc.holds {
				t.Errorf("holds with %s, want %s", stagestest.Reason(d), tc.holds)
			}
		})
	}
}

func TestTheTimeOfFailuresIsWrittenInRFC3339(t *testing.T) {
	s := plan.RecordFailures{At: stagestest.Noon.In(time.FixedZone("", 3600))}.Apply(stagestest.HealthyCluster(t))
	if got := s.Cluster.Annotations[v1beta2.AnnotationFailuresSeen]; got != "2026-11-20T12:00:00Z" {
		t.Errorf("got %s", got)
	}
}
