package v1beta2

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type given = func(*FoundationDBCluster)

// annotated gives a cluster pairs of an annotation and its value.
func annotated(pairs ...string) given {
	return func(c *FoundationDBCluster) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		for i := 0; i < len(pairs); i += 2 {
			c.Annotations[pairs[i]] = pairs[i+1]
		}
	}
}

func keeping(ids ...ProcessGroupID) given {
	return func(c *FoundationDBCluster) { c.Spec.CancelReplacementsForInstance = ids }
}

func distributed(config DistributionConfig) given {
	return func(c *FoundationDBCluster) { c.Spec.DistributionConfig = &config }
}

func detecting(job FailureDetectionCronJob) given {
	return func(c *FoundationDBCluster) { c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &job }
}

func TestExtensionFieldsAreReadFromSpecAndAnnotations(t *testing.T) {
	const distribution, detection = `{"enabled":true,"desiredFaultDomains":3,"binPack":"All","required":true}`, `{"enabled":true,"image":"i:1"}`
	config := DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3), BinPack: new(BinPackAll), Required: new(true)}
	job := FailureDetectionCronJob{Enabled: new(true), Image: new("i:1")}
	tests := map[string][]given{
		"the spec": {keeping("storage-2", "storage-1"), distributed(config), detecting(job)},
		"the annotations": {annotated(AnnotationCancelReplacements, " storage-1, storage-2,storage-1",
			AnnotationDistributionConfig, distribution, AnnotationFailureDetectionCronJob, detection)},
		"both, equal": {
			keeping("storage-2", "storage-1"), distributed(config), detecting(job),
			annotated(AnnotationCancelReplacements, "storage-1,storage-2",
				AnnotationDistributionConfig, distribution, AnnotationFailureDetectionCronJob, detection),
		},
	}
	for name, changes := range tests {
		t.Run(name, func(t *testing.T) {
			n := normalized(t, cluster(changes...))
			got := []any{n.KeptProcessGroups(), n.KeepsFromReplacement("storage-1"), n.KeepsFromReplacement("storage-3"), n.Distribution(), n.FailureDetection()}
			want := []any{
				[]ProcessGroupID{"storage-1", "storage-2"},
				true, false,
				DistributionSettings{Enabled: true, DesiredFaultDomains: 3, BinPack: BinPackAll, Required: true},
				FailureDetectionCronJob{Enabled: new(true), Image: new("i:1"), Schedule: new("15 */2 * * *")},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultsOfTheExtensions(t *testing.T) {
	n := normalized(t, cluster())
	got := []any{n.KeptProcessGroups(), n.KeepsFromReplacement("storage-1"), n.Distribution(), n.FailureDetection()}
	want := []any{
		[]ProcessGroupID(nil), false,
		DistributionSettings{BinPack: BinPackClass},
		FailureDetectionCronJob{Enabled: new(false), Schedule: new("15 */2 * * *")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestValidateExtensions(t *testing.T) {
	enabled := DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3)}
	domain := func(key string) given {
		return func(c *FoundationDBCluster) {
			c.Spec.FaultDomain = FoundationDBClusterFaultDomain{Key: key, Value: "z"}
		}
	}
	labeled := func(c *FoundationDBCluster) {
		template := &corev1.PodTemplateSpec{}
		template.Labels = map[string]string{LabelDistributionKey: "a"}
		c.Spec.Processes = map[ProcessClass]ProcessSettings{ProcessClassLog: {PodTemplate: template}}
	}
	many := func(n int) (ids []ProcessGroupID) {
		for i := range n {
			ids = append(ids, ProcessGroupID(fmt.Sprintf("storage-%d", i+1)))
		}
		return ids
	}
	template := func(schedule string) *batchv1.CronJobSpec { return &batchv1.CronJobSpec{Schedule: schedule} }
	const kept, distribution, detection = `cancel-replacements]`, `distribution-config]`, `failure-detection-cron-job]`
	tests := map[string]struct {
		given []given
		want  []string // the text of the error; empty for a valid spec
	}{
		"an unknown process group":         {[]given{keeping("storage-1")}, nil},
		"one that is also to be removed":   {[]given{keeping("storage-1"), func(c *FoundationDBCluster) { c.Spec.ProcessGroupsToRemove = []ProcessGroupID{"storage-1"} }}, nil},
		"500 process groups":               {[]given{keeping(many(500)...)}, nil},
		"501 process groups":               {[]given{keeping(many(501)...)}, []string{"spec.cancelReplacementsForInstance", "must have at most 500"}},
		"all process groups":               {[]given{keeping("*")}, []string{"spec.cancelReplacementsForInstance", "must not be *"}},
		"no ID":                            {[]given{keeping("storage")}, []string{"spec.cancelReplacementsForInstance", `"storage"`}},
		"no ID in the annotation":          {[]given{annotated(AnnotationCancelReplacements, "storage-1,,storage-2")}, []string{`""`, "is not a process group ID"}},
		"an empty annotation":              {[]given{annotated(AnnotationCancelReplacements, "")}, nil},
		"an empty annotation and a list":   {[]given{annotated(AnnotationCancelReplacements, ""), keeping("storage-1")}, []string{kept, "conflicts with spec.cancelReplacementsForInstance", "make them equal, or remove one"}},
		"another ID in the annotation":     {[]given{annotated(AnnotationCancelReplacements, "storage-2"), keeping("storage-1")}, []string{kept, `"storage-2"`, "conflicts with spec.cancelReplacementsForInstance"}},
		"packing":                          {[]given{distributed(enabled)}, nil},
		"packing into no domain":           {[]given{distributed(DistributionConfig{Enabled: new(true)})}, []string{"spec.distributionConfig.desiredFaultDomains", "at least 1"}},
		"no packing into no domain":        {[]given{distributed(DistributionConfig{DesiredFaultDomains: new(0)})}, nil},
		"a negative number of domains":     {[]given{distributed(DistributionConfig{DesiredFaultDomains: new(-1)})}, []string{"desiredFaultDomains", "-1", "from 0"}},
		"more domains than numbers":        {[]given{distributed(DistributionConfig{DesiredFaultDomains: new(MaxProcessGroupNumber + 1)})}, []string{"desiredFaultDomains", "100000", "from 0 to 99999"}},
		"as many domains as numbers":       {[]given{distributed(DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(MaxProcessGroupNumber)})}, nil},
		"an unknown way to pack":           {[]given{distributed(DistributionConfig{BinPack: new(BinPack("class"))})}, []string{"spec.distributionConfig.binPack", `"class"`, `"All", "Stateful", "Class"`}},
		"packing where each pod is a zone": {[]given{distributed(enabled), domain(FaultDomainKeyNone)}, []string{"spec.faultDomain.key", "foundationdb.org/none", "label of nodes"}},
		"packing where the cluster is one": {[]given{distributed(enabled), domain(FaultDomainKeyKubernetesCluster)}, []string{"spec.faultDomain.key", "label of nodes"}},
		"no packing where the cluster is":  {[]given{distributed(DistributionConfig{DesiredFaultDomains: new(3)}), domain(FaultDomainKeyKubernetesCluster)}, nil},
		"packing with a key in a template": {[]given{distributed(enabled), labeled}, []string{"spec.processes[log].podTemplate.metadata.labels[foundationdb.org/distribution-key]", "must not be set"}},
		"no packing with such a label":     {[]given{labeled}, nil},
		"packing with a key in the labels": {[]given{distributed(enabled), func(c *FoundationDBCluster) {
			c.Spec.Labels.ResourceLabels = map[string]string{LabelDistributionKey: "a"}
		}}, []string{"spec.labels.resourceLabels"}},
		"packing with a key that selects": {[]given{distributed(enabled), func(c *FoundationDBCluster) { c.Spec.Labels.MatchLabels = map[string]string{LabelDistributionKey: "a"} }}, []string{"spec.labels.matchLabels"}},
		"packing with a key for classes": {[]given{distributed(enabled), func(c *FoundationDBCluster) {
			c.Spec.Labels.ProcessClassLabels = []string{"class", LabelDistributionKey}
		}}, []string{"spec.labels", "must not be the label of IDs or classes"}},
		"packing with a key for IDs":         {[]given{distributed(enabled), func(c *FoundationDBCluster) { c.Spec.Labels.ProcessGroupIDLabels = []string{LabelDistributionKey} }}, []string{"spec.labels", "must not be the label of IDs or classes"}},
		"packing by annotation into none":    {[]given{annotated(AnnotationDistributionConfig, `{"enabled":true}`)}, []string{"at least 1"}},
		"a distribution that is no JSON":     {[]given{annotated(AnnotationDistributionConfig, `enabled: true`)}, []string{distribution, "must be the JSON of spec.distributionConfig"}},
		"an empty distribution":              {[]given{annotated(AnnotationDistributionConfig, ``)}, []string{distribution, "must be the JSON"}},
		"two distributions":                  {[]given{annotated(AnnotationDistributionConfig, `{}{}`)}, []string{distribution, "must be the JSON"}},
		"a field it does not have":           {[]given{annotated(AnnotationDistributionConfig, `{"binpack":"All"}`)}, []string{distribution, `unknown field "binpack"`}},
		"a field given twice":                {[]given{annotated(AnnotationDistributionConfig, `{"required":true,"required":false}`)}, []string{distribution, `duplicate field "required"`}},
		"another distribution":               {[]given{annotated(AnnotationDistributionConfig, `{"enabled":true,"desiredFaultDomains":4}`), distributed(enabled)}, []string{distribution, "conflicts with spec.distributionConfig"}},
		"a detector":                         {[]given{detecting(FailureDetectionCronJob{Schedule: new("*/5 * * * *"), Image: new("i:1"), Template: template("*/5 * * * *")})}, nil},
		"a detector every hour":              {[]given{detecting(FailureDetectionCronJob{Schedule: new("@hourly")})}, nil},
		"a detector with an odd schedule":    {[]given{detecting(FailureDetectionCronJob{Schedule: new("5m")})}, []string{"failureDetectionCronJob.schedule", `"5m"`, "5 fields in cron syntax"}},
		"an odd schedule in its template":    {[]given{detecting(FailureDetectionCronJob{Template: template("5m")})}, []string{"failureDetectionCronJob.template.schedule", `"5m"`}},
		"two schedules":                      {[]given{detecting(FailureDetectionCronJob{Schedule: new("@hourly"), Template: template("@daily")})}, []string{"failureDetectionCronJob.template.schedule", `"@daily"`, "conflicts with", `"@hourly"`}},
		"a detector without a name of image": {[]given{detecting(FailureDetectionCronJob{Image: new("")})}, []string{"failureDetectionCronJob.image"}},
		"a detector with spaces in it":       {[]given{detecting(FailureDetectionCronJob{Image: new("a b")})}, []string{"failureDetectionCronJob.image", `"a b"`}},
		"a detector with another field":      {[]given{annotated(AnnotationFailureDetectionCronJob, `{"template":{"jobTemplates":{}}}`)}, []string{detection, `unknown field "template.jobTemplates"`}},
		"a detector that looks like a pod": {[]given{detecting(FailureDetectionCronJob{Template: &batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{LabelClusterName: "sample", "a": "b"}}},
		}}}})}, []string{"failureDetectionCronJob.template.jobTemplate.spec.template.metadata.labels", "must not be selected by foundationdb.org/fdb-cluster-name=sample"}},
		"another detector": {[]given{annotated(AnnotationFailureDetectionCronJob, `{"enabled":false}`), detecting(FailureDetectionCronJob{Enabled: new(true)})}, []string{detection, "conflicts with spec.automationOptions.replacements.failureDetectionCronJob"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(tt.given...)
			before := c.DeepCopy()
			checkError(t, c.Validate(), tt.want)
			if diff := cmp.Diff(before, c); diff != "" {
				t.Errorf("validating changed the cluster (-before +after):\n%s", diff)
			}
			_, err := c.Normalized()
			checkError(t, err, tt.want)
		})
	}
}

func TestExtensionFieldsDroppedByTheAPIServerAreDetected(t *testing.T) {
	applied := func(spec string) given { return annotated(corev1.LastAppliedConfigAnnotation, `{"spec":`+spec+`}`) }
	all := applied(`{"cancelReplacementsForInstance":["storage-1"],"distributionConfig":{"enabled":true},
		"automationOptions":{"replacements":{"failureDetectionCronJob":{"enabled":true}}}}`)
	const kept, distribution, detection = ExtensionCancelReplacements, ExtensionDistributionConfig, ExtensionFailureDetectionCronJob
	tests := map[string]struct {
		given []given
		want  []Extension
	}{
		"nothing was applied":            {nil, nil},
		"none was applied":               {[]given{applied(`{"version":"7.3.79"}`)}, nil},
		"all were dropped":               {[]given{all}, []Extension{kept, distribution, detection}},
		"all are there":                  {[]given{all, keeping("storage-1"), distributed(DistributionConfig{}), detecting(FailureDetectionCronJob{})}, nil},
		"one was dropped":                {[]given{all, keeping("storage-1"), detecting(FailureDetectionCronJob{})}, []Extension{distribution}},
		"another is given by annotation": {[]given{all, annotated(AnnotationCancelReplacements, "storage-2")}, []Extension{distribution, detection}},
		"empty values were applied":      {[]given{applied(`{"cancelReplacementsForInstance":[],"distributionConfig":null}`)}, nil},
		"other fields are not as typed":  {[]given{applied(`{"version":7,"distributionConfig":{}}`)}, []Extension{distribution}},
		"a string in place of the list":  {[]given{applied(`{"cancelReplacementsForInstance":"storage-1"}`)}, []Extension{kept}},
		"no JSON was applied":            {[]given{annotated(corev1.LastAppliedConfigAnnotation, "{")}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, normalized(t, cluster(tt.given...)).DroppedFields()); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsedExtensions(t *testing.T) {
	detector := FailureDetectionCronJob{Enabled: new(true)}
	replacements := func(enabled bool, most int) given {
		return func(c *FoundationDBCluster) {
			r := &c.Spec.AutomationOptions.Replacements
			r.Enabled, r.MaxConcurrentReplacements = &enabled, &most
		}
	}
	tests := map[string]struct {
		given []given
		want  []Extension
	}{
		"none is set":      {nil, nil},
		"all in the spec":  {[]given{keeping("storage-1"), distributed(DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3)}), detecting(detector)}, []Extension{ExtensionCancelReplacements, ExtensionDistributionConfig, ExtensionFailureDetectionCronJob}},
		"an annotation":    {[]given{annotated(AnnotationCancelReplacements, "storage-1")}, []Extension{ExtensionCancelReplacements}},
		"not enabled":      {[]given{distributed(DistributionConfig{DesiredFaultDomains: new(3)}), detecting(FailureDetectionCronJob{})}, nil},
		"no replacements":  {[]given{detecting(detector), replacements(false, 1)}, nil},
		"0 replacements":   {[]given{detecting(detector), replacements(true, 0)}, nil},
		"two replacements": {[]given{detecting(detector), replacements(true, 2)}, []Extension{ExtensionFailureDetectionCronJob}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(tt.given...)
			for _, c := range []*FoundationDBCluster{c, normalized(t, c)} {
				if diff := cmp.Diff(tt.want, c.UsedExtensions()); diff != "" {
					t.Errorf("used (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestFailuresSeenAnnotationIsParsed(t *testing.T) {
	for text, want := range map[string]time.Time{"2026-11-20T12:00:00Z": noon, "2026-11-20T13:00:00+01:00": noon, "noon": {}, "": {}} {
		at, seen := cluster(annotated(AnnotationFailuresSeen, text)).FailuresSeen()
		if !at.Equal(want) || seen == want.IsZero() {
			t.Errorf("%q: got %v, %t", text, at, seen)
		}
	}
}

func TestFailureDetectorSchedulesAreSpreadOverTheHour(t *testing.T) {
	minutes := map[string]bool{}
	for i := range 200 {
		c := cluster(func(c *FoundationDBCluster) { c.Name = fmt.Sprint("cluster-", i) })
		minute, rest, _ := strings.Cut(*normalized(t, c).FailureDetection().Schedule, " ")
		if rest != "*/2 * * *" {
			t.Fatalf("got %s %s", minute, rest)
		}
		minutes[minute] = true
	}
	if len(minutes) < 40 {
		t.Errorf("200 clusters start at %d different minutes, want most of 60", len(minutes))
	}
}

func TestAFailureDetectorTemplateRequiresNoSchedule(t *testing.T) {
	server := apiServerFor(t, "FoundationDBCluster")
	object := map[string]any{"apiVersion": GroupVersion.String(), "kind": "FoundationDBCluster", "spec": map[string]any{
		"version": "7.3.79", "automationOptions": map[string]any{"replacements": map[string]any{
			"failureDetectionCronJob": map[string]any{"template": map[string]any{"suspend": true}},
		}},
	}}
	if errs := server.validate(t, object, nil); len(errs) > 0 {
		t.Errorf("got %v", errs.ToAggregate())
	}
}
