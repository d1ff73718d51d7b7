package objects

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func detecting(edit func(*v1beta2.FailureDetectionCronJob)) given {
	return func(c *v1beta2.FoundationDBCluster) {
		job := &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("registry/kubectl-fdb:1")}
		if edit != nil {
			edit(job)
		}
		c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = job
	}
}

// templateOf decodes a template as the API server stores it.
func templateOf(t *testing.T, text string) func(*v1beta2.FailureDetectionCronJob) {
	t.Helper()
	var template batchv1.CronJobSpec
	if err := yaml.UnmarshalStrict([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	return func(job *v1beta2.FailureDetectionCronJob) { job.Template = &template }
}

const customDetector = `
timeZone: Etc/UTC
suspend: true
startingDeadlineSeconds: 60
jobTemplate:
  metadata:
    labels: {team: storage}
  spec:
    activeDeadlineSeconds: 120
    template:
      metadata:
        annotations: {example.org/scrape: "true"}
      spec:
        serviceAccountName: detector
        nodeSelector: {node-role.kubernetes.io/infra: ""}
        volumes:
          - name: ca
            configMap: {name: ca}
        containers:
          - name: proxy
            image: registry/proxy:2
          - name: kubectl-fdb
            env:
              - {name: HTTPS_PROXY, value: "http://localhost:3128"}
            resources:
              limits: {memory: 1Gi}
`

func TestFailureDetectorCronJobsFromDefaultsAndTemplates(t *testing.T) {
	tests := map[string][]given{
		"by default": {detecting(nil)},
		"with a template": {detecting(templateOf(t, customDetector)), func(c *v1beta2.FoundationDBCluster) {
			c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(1800)
			c.Spec.Labels.ResourceLabels = map[string]string{"team": "storage"}
		}},
	}
	for name, changes := range tests {
		t.Run(name, func(t *testing.T) {
			job, image, err := FailureDetector(sample(t, changes...))
			if err != nil {
				t.Fatal(err)
			}
			if image != "registry/kubectl-fdb:1" {
				t.Errorf("got the image %q", image)
			}
			text, err := yaml.Marshal(job)
			if err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, text)
		})
	}
}

func TestTheScheduleOfAFailureDetector(t *testing.T) {
	minute := "50" // of the namespace and the name of the sample
	seconds := func(n int) given {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(n)
		}
	}
	tests := map[string]struct {
		given []given
		want  string
	}{
		"every two hours by default":     {[]given{detecting(nil)}, minute + " */2 * * *"},
		"the time of failure detection":  {[]given{detecting(nil), seconds(1800)}, "*/30 * * * *"},
		"that of the spec":               {[]given{detecting(func(j *v1beta2.FailureDetectionCronJob) { j.Schedule = new("@daily") })}, "@daily"},
		"that of the template":           {[]given{detecting(templateOf(t, "schedule: '@weekly'"))}, "@weekly"},
		"that of the spec with template": {[]given{detecting(templateOf(t, "suspend: true")), seconds(60)}, "* * * * *"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job, _, err := FailureDetector(sample(t, tt.given...))
			if err != nil || job.Spec.Schedule != tt.want {
				t.Errorf("got %q and %v, want %q", job.Spec.Schedule, err, tt.want)
			}
		})
	}
}

// Whatever a template changes, the container that looks for failures stays, and no pod of a job
// counts as a pod of the database.
func TestFailureDetectorTemplatesKeepTheDetectorContainer(t *testing.T) {
	templates := map[string]string{
		"no containers":       "jobTemplate: {spec: {template: {spec: {containers: []}}}}",
		"null as containers":  "jobTemplate: {spec: {template: {spec: {containers: null}}}}",
		"another container":   "jobTemplate: {spec: {template: {spec: {containers: [{name: other, image: 'o:1'}]}}}}",
		"another image of it": "jobTemplate: {spec: {template: {spec: {containers: [{name: kubectl-fdb, image: 'o:1'}]}}}}",
		"nothing":             "{}",
	}
	for name, text := range templates {
		t.Run(name, func(t *testing.T) {
			c := sample(t, detecting(templateOf(t, text)))
			job, image, err := FailureDetector(c)
			if err != nil {
				t.Fatal(err)
			}
			pod := job.Spec.JobTemplate.Spec.Template
			detector := container(pod.Spec.Containers, ContainerDetector)
			if detector == nil || detector.Image != image || image == "" || detector.Args[0] != "detect-failures" || detector.Args[1] != c.Name {
				t.Errorf("got the container %+v, image %q", detector, image)
			}
			for _, carried := range []map[string]string{pod.Labels, job.Spec.JobTemplate.Labels} {
				if labels.SelectorFromSet(c.MatchLabels()).Matches(labels.Set(carried)) {
					t.Errorf("%v are selected as the database's own", carried)
				}
			}
		})
	}
}

func TestAFailureDetectorWithoutAnImage(t *testing.T) {
	_, image, err := FailureDetector(sample(t, detecting(func(j *v1beta2.FailureDetectionCronJob) { j.Image = nil })))
	if err != nil || image != "" {
		t.Errorf("got %q and %v", image, err)
	}
}

// What the API server adds is no difference, so that a detector is not updated in every pass.
func TestAPIServerDefaultsDoNotUpdateTheFailureDetector(t *testing.T) {
	job, _, err := FailureDetector(sample(t, detecting(templateOf(t, customDetector))))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	var stored batchv1.CronJob
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	pod := &stored.Spec.JobTemplate.Spec.Template.Spec
	pod.DNSPolicy, pod.SchedulerName = corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	pod.DeprecatedServiceAccount = pod.ServiceAccountName
	for i := range pod.Containers {
		pod.Containers[i].TerminationMessagePath, pod.Containers[i].ImagePullPolicy = "/dev/termination-log", corev1.PullIfNotPresent
	}
	differences, err := SpecDifferences(job.Spec, stored.Spec)
	if err != nil || len(differences) > 0 {
		t.Errorf("got %v and %v", differences, err)
	}
	stored.Spec.Schedule = "@daily"
	if differences, err = SpecDifferences(job.Spec, stored.Spec); err != nil || len(differences) != 1 || !strings.Contains(differences[0], "schedule") {
		t.Errorf("another schedule: got %v and %v", differences, err)
	}
}

func TestFailureDetectorName(t *testing.T) {
	for name, want := range map[string]string{
		"sample":                "sample-failure-detector",
		strings.Repeat("a", 35): strings.Repeat("a", 35) + "-failure-detector",
		strings.Repeat("a", 36): strings.Repeat("a", 26) + "-failure-detector-22c1d24b",
		strings.Repeat("a", 25) + "-" + strings.Repeat("b", 12): strings.Repeat("a", 25) + "-failure-detector-a522c68a",
	} {
		got := FailureDetectorName(&v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if diff := cmp.Diff(want, got); diff != "" || len(got) > maxCronJobName {
			t.Errorf("%s: %d characters (-want +got):\n%s", name, len(got), diff)
		}
	}
}
