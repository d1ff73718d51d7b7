package inspect

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestTheAutomationViewDescribesTheFailureDetector(t *testing.T) {
	enabled := func(f *Facts) {
		f.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true)}
	}
	job := func(edit func(*batchv1.CronJob)) func(*Facts) {
		return func(f *Facts) { f.Detector.Job = &batchv1.CronJob{}; edit(f.Detector.Job) }
	}
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(-d)} }
	seen := func(f *Facts) {
		f.Cluster.Annotations = map[string]string{v1beta2.AnnotationFailuresSeen: noon.Add(-5 * time.Minute).Format(time.RFC3339)}
	}
	tests := map[string]struct {
		given []func(*Facts)
		want  string
	}{
		"none":            {nil, ""},
		"not yet created": {[]func(*Facts){enabled}, "every 120m, its CronJob does not exist"},
		"hidden":          {[]func(*Facts){enabled, func(f *Facts) { f.Detector.Hidden = "forbidden" }}, "every 120m, its CronJob is unknown"},
		"new":             {[]func(*Facts){enabled, job(func(*batchv1.CronJob) {})}, "every 120m, no job yet"},
		"failing":         {[]func(*Facts){enabled, job(func(j *batchv1.CronJob) { j.Status.LastScheduleTime = ago(time.Hour) })}, "every 120m, no job has succeeded yet"},
		"at work": {[]func(*Facts){enabled, seen, job(func(j *batchv1.CronJob) {
			j.Status.LastScheduleTime, j.Status.LastSuccessfulTime = ago(time.Hour), ago(time.Hour)
		})}, "every 120m, last succeeded 60m ago, last saw a failure 5m ago"},
		"suspended": {[]func(*Facts){enabled, job(func(j *batchv1.CronJob) { j.Spec.Suspend = new(true) })}, "every 120m, suspended"},
		"another schedule": {[]func(*Facts){enabled, job(func(*batchv1.CronJob) {}), func(f *Facts) {
			f.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionCronJob.Schedule = new("@daily")
		}}, `schedule "@daily", no job yet`},
		"of no replacement": {[]func(*Facts){enabled, func(f *Facts) { f.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(false) }}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			for _, given := range tc.given {
				given(&f)
			}
			got := ""
			if v := NewStatusView(Metadata{}, f).Reconciliation.FailureDetector; v != nil {
				got = v.Text(noon)
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
