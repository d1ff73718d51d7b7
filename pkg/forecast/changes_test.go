package forecast_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

// A plan shows each setting that changes with its old and its new value, and nothing for a cluster
// that matches its spec.
func TestSettingsAreShownWithOldAndNewValues(t *testing.T) {
	w := settled(t, nil)
	if found := planned.SettingChanges(observed(t, w)); len(found) > 0 {
		t.Errorf("of a cluster that matches its spec: %+v", found)
	}
	spec := &w.Resource.Spec
	spec.Version, spec.ProcessCounts.Storage, spec.DatabaseConfiguration.RedundancyMode = "7.4.6", 7, "triple"
	spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassLog: {
			CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_x=1"},
			PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: v1beta2.ContainerMain, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}},
			}}}},
		},
	}
	found := map[string]string{}
	for _, c := range planned.SettingChanges(observed(t, w)) {
		found[c.Setting] = value(c.From) + " → " + value(c.To)
	}
	for _, c := range [][2]string{
		{"version", "7.3.79 → 7.4.6"},
		{"processCounts.storage", "5 → 7"},
		{"database.redundancy_mode", "double → triple"},
		{"configMap.fdbmonitor-conf-log-json knob_x", "none → 1"},
		{"pods.log containers[foundationdb].resources.requests.cpu", "1 → 3"},
	} {
		if diff := cmp.Diff(c[1], found[c[0]]); diff != "" {
			t.Errorf("%s (-want +found):\n%s\nall: %v", c[0], diff, found)
		}
	}
}

func value(v *string) string {
	if v == nil {
		return "none"
	}
	return *v
}

// A variable is shown by its name alone, unless its value is known to be harmless.
func TestAPlanHidesValuesOfPodsThatMayBeSecrets(t *testing.T) {
	with := func(password string) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
				v1beta2.ProcessClassLog: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "DB_PASS", Value: password}},
				}}}}},
			}
		}
	}
	w := settled(t, with("hunter1"))
	with("hunter2")(w.Resource)
	var shown []string
	for _, c := range planned.SettingChanges(observed(t, w)) {
		shown = append(shown, c.Setting+": "+value(c.From)+" → "+value(c.To))
	}
	if diff := cmp.Diff([]string{"pods.log containers[foundationdb].env[DB_PASS].value: (hidden) → changed (hidden)"}, shown); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
