package check

import (
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

func templateOf(image string, tolerations ...corev1.Toleration) v1beta2.ProcessSettings {
	return v1beta2.ProcessSettings{PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers:         []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "FROM", Value: image}}}},
		ServiceAccountName: image, Tolerations: tolerations,
	}}}
}

// The patch that is offered gives pods the tolerations, and changes nothing else of them.
func TestTheSuggestedPatchOnlyAddsTolerations(t *testing.T) {
	spot := corev1.Toleration{Key: "spot", Operator: corev1.TolerationOpExists}
	tests := map[string]map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		"no template at all":          nil,
		"a template of its own":       {"stateless": templateOf("own", spot)},
		"the general template":        {"general": templateOf("general", spot)},
		"both":                        {"general": templateOf("general"), "stateless": templateOf("own", spot)},
		"a time that does not suit":   {"stateless": templateOf("own", corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(600))})},
		"a class with other settings": {"general": templateOf("general"), "stateless": {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_x=1"}}},
	}
	for name, processes := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Resource.Spec.Processes = processes
			f.Cluster = normalized(t, f.Resource)
			item := itemOf(t, reportOn(f, Options{}), "POD-005")
			if len(item.Findings) != 1 {
				t.Fatalf("got %+v", item)
			}
			want := safety.TolerationsFor(f.Cluster, "stateless")
			patch, err := tolerationPatch(f.Resource, "stateless", want)
			if err != nil {
				t.Fatal(err)
			}
			before, after := statelessPod(t, f.Cluster), statelessPod(t, normalized(t, patched(t, f.Resource, patch)))
			if !suits(&corev1.PodTemplateSpec{Spec: *after}, want) {
				t.Errorf("got tolerations %+v", after.Tolerations)
			}
			for _, toleration := range before.Tolerations {
				if _, ours := tolerationOf(&corev1.PodTemplateSpec{Spec: *before}, toleration.Key); !ours && !contains(after.Tolerations, toleration) {
					t.Errorf("%+v is lost", toleration)
				}
			}
			before.Tolerations, after.Tolerations = nil, nil
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func contains(all []corev1.Toleration, one corev1.Toleration) bool {
	for _, t := range all {
		if cmp.Equal(t, one) {
			return true
		}
	}
	return false
}

func normalized(t *testing.T, c *v1beta2.FoundationDBCluster) *v1beta2.FoundationDBCluster {
	t.Helper()
	n, err := c.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func patched(t *testing.T, c *v1beta2.FoundationDBCluster, patch string) *v1beta2.FoundationDBCluster {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := jsonpatch.MergePatch(text, []byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	into := &v1beta2.FoundationDBCluster{}
	if err := json.Unmarshal(merged, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func statelessPod(t *testing.T, c *v1beta2.FoundationDBCluster) *corev1.PodSpec {
	t.Helper()
	spec, err := objects.PodSpec(c, &v1beta2.ProcessGroupStatus{ProcessGroupID: "stateless-1", ProcessClass: "stateless"})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Where passes set the tolerations of pods, the pods count and not the template.
func TestCheckReadsTolerationsFromPodsIfPassesSetThem(t *testing.T) {
	f := healthy(t)
	f.Cluster.Spec.Processes = nil
	f.Cluster.Annotations = map[string]string{plan.AnnotationTolerations: "true"}
	item := itemOf(t, reportOn(f, Options{}), "POD-005")
	if len(item.Findings) != 1 || !strings.HasPrefix(item.Findings[0].Subjects[0], "pod/") || !strings.Contains(item.Findings[0].Fix, "reconcile") {
		t.Fatalf("before a pass: %+v", item.Findings)
	}
	for _, g := range f.Remaining() {
		f.Pod(g).Spec.Tolerations = safety.TolerationsFor(f.Cluster, g.ProcessClass)
	}
	if item := itemOf(t, reportOn(f, Options{}), "POD-005"); len(item.Findings) != 0 {
		t.Errorf("after it: %+v", item.Findings)
	}
	f.Cluster.Annotations[plan.AnnotationTolerations] = "maybe"
	if item := itemOf(t, reportOn(f, Options{}), "POD-005"); len(item.Findings) != 0 || item.Outcome != NotChecked {
		t.Errorf("with an invalid annotation: %+v", item)
	}
}

func TestCheckComparesTolerationsWithTheDesiredOnes(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	single := &v1beta2.FoundationDBCluster{}
	single.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
	everything := corev1.Toleration{Operator: corev1.TolerationOpExists}
	tests := map[string]struct {
		have, want []corev1.Toleration
		suits      bool
	}{
		"no tolerations of storage, which waits five minutes": {nil, safety.TolerationsFor(c, "storage"), true},
		"no tolerations of stateless pods":                    {nil, safety.TolerationsFor(c, "stateless"), false},
		"the desired ones":                                    {safety.TolerationsFor(c, "stateless"), safety.TolerationsFor(c, "stateless"), true},
		"one of the two only":                                 {safety.TolerationsFor(c, "stateless")[:1], safety.TolerationsFor(c, "stateless"), false},
		"another time":                                        {safety.TolerationsFor(c, "storage"), safety.TolerationsFor(c, "stateless"), false},
		"no tolerations of the only copy of data":             {nil, safety.TolerationsFor(single, "storage"), false},
		"the only copy that waits forever":                    {safety.TolerationsFor(single, "storage"), safety.TolerationsFor(single, "storage"), true},
		"everything tolerated forever":                        {[]corev1.Toleration{everything}, safety.TolerationsFor(single, "storage"), true},
		"everything tolerated forever is too long":            {[]corev1.Toleration{everything}, safety.TolerationsFor(c, "storage"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := suits(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: tc.have}}, tc.want); got != tc.suits {
				t.Errorf("got %t", got)
			}
		})
	}
}
