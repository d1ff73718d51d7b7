package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestAMemoryLimitBelowWhatProcessesUseIsFoundInTheSpec(t *testing.T) {
	const (
		small = "the memory limit of container foundationdb is 512Mi for 1 fdbserver process, 1Gi each required: the kernel ends processes that use more, as fdbserver does under load (its own limit is 8 GiB)"
		two   = "the memory limit of container foundationdb is 1536Mi for 2 fdbserver processes, 1Gi each required: the kernel ends processes that use more, as fdbserver does under load (its own limit is 8 GiB)"
		own   = "the memory limit of container foundationdb is 4Gi for 1 fdbserver process, and customParameters let each use 6Gi: the kernel ends them before they keep to that"
	)
	tests := map[string]struct {
		limit     string
		parameter v1beta2.FoundationDBCustomParameter
		servers   int
		want      string
	}{
		"a container without a limit":                  {},
		"the limit that a template has by default":     {limit: "1Gi"},
		"a smaller limit":                              {limit: "512Mi", want: small},
		"a limit that fits one of two processes":       {limit: "1536Mi", servers: 2, want: two},
		"a limit that fits both":                       {limit: "2Gi", servers: 2},
		"processes that may use more than the limit":   {limit: "4Gi", parameter: "memory=6GiB", want: own},
		"processes that may use all of the limit":      {limit: "6Gi", parameter: "memory = 6GiB"},
		"a parameter without a unit, which is MiB":     {limit: "4Gi", parameter: "memory=6144", want: own},
		"a parameter that fdbserver cannot read":       {limit: "4Gi", parameter: "memory=much"},
		"another parameter with memory in its name":    {limit: "4Gi", parameter: "cache_memory=6GiB"},
		"a small limit beside parameters that fit it":  {limit: "512Mi", parameter: "memory=256MiB", want: small},
		"a parameter without a limit of the container": {parameter: "memory=64GiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t)
			settings := c.Settings(v1beta2.ProcessClassStorage)
			settings.PodTemplate = settings.PodTemplate.DeepCopy()
			settings.CustomParameters = nil
			if tc.parameter != "" {
				settings.CustomParameters = v1beta2.FoundationDBCustomParameters{tc.parameter}
			}
			main := container(settings.PodTemplate.Spec.Containers, v1beta2.ContainerMain)
			main.Resources = corev1.ResourceRequirements{}
			if tc.limit != "" {
				main.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(tc.limit)}
			}
			c.Spec.Processes[v1beta2.ProcessClassStorage] = settings
			c.Spec.StorageServersPerPod = max(tc.servers, 1)
			var want, got []string
			if tc.want != "" {
				want = []string{"storage: " + tc.want}
			}
			for _, l := range TooLittleMemory(c) {
				got = append(got, string(l.Class)+": "+l.Text())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("too little (-want +got):\n%s", diff)
			}
		})
	}
}
