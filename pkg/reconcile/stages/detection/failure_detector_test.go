package detection

import (
	"strings"
	"testing"

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
		"created once enabled":                {given: enabled, does: []string{"create CronJob " + name + " (schedule 23 */2 * * *)"}},
		"nothing to do":                       {given: all(enabled, withJob(t, nil))},
		"another schedule":                    {given: all(enabled, withJob(t, func(j *batchv1.CronJob) { j.Spec.Schedule = "@daily" })), does: []string{"update CronJob " + name + " (schedule: @daily, desired 23 */2 * * *)"}},
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
	if !ok || a.Create || a.Object.ResourceVersion != "5" || a.Object.UID != "job" || a.Object.Annotations["theirs"] != "a" || a.Object.Labels["theirs"] != "b" || a.Object.Spec.Schedule != "23 */2 * * *" {
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
