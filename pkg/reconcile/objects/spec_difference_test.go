package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestSpecDifferences(t *testing.T) {
	desired := func() corev1.PodSpec {
		return corev1.PodSpec{
			Containers: []corev1.Container{
				{Name: "foundationdb", Image: "fdb:1", Args: []string{"--a", "--b"}, VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/a"}, {Name: "data", MountPath: "/b", SubPath: "b"}}},
				{Name: "sidecar", Image: "sidecar:1", Env: []corev1.EnvVar{{Name: "X", Value: "1"}}},
			},
			Volumes: []corev1.Volume{{Name: "data"}},
		}
	}
	tests := map[string]struct {
		given func(*corev1.PodSpec)
		want  []string
	}{
		"an equal one": {given: func(*corev1.PodSpec) {}},
		"one that an API server filled in": {given: func(s *corev1.PodSpec) {
			s.RestartPolicy, s.SchedulerName, s.NodeName = corev1.RestartPolicyAlways, "default", "node-1"
			s.Containers[0].ImagePullPolicy = corev1.PullAlways
			s.Containers[0].VolumeMounts = append([]corev1.VolumeMount{{Name: "token", MountPath: "/token"}}, s.Containers[0].VolumeMounts...)
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "token"})
		}},
		"containers in another order": {given: func(s *corev1.PodSpec) { s.Containers[0], s.Containers[1] = s.Containers[1], s.Containers[0] }},
		"another image":               {given: func(s *corev1.PodSpec) { s.Containers[0].Image = "fdb:2" }, want: []string{"containers[foundationdb].image: fdb:2, desired fdb:1"}},
		"a variable that is missing":  {given: func(s *corev1.PodSpec) { s.Containers[1].Env = nil }, want: []string{"containers[sidecar].env[X]: missing"}},
		"another value":               {given: func(s *corev1.PodSpec) { s.Containers[1].Env[0].Value = "2" }, want: []string{"containers[sidecar].env[X].value: 2, desired 1"}},
		"an argument that is missing": {given: func(s *corev1.PodSpec) { s.Containers[0].Args = s.Containers[0].Args[:1] }, want: []string{"containers[foundationdb].args[1]: nothing, desired --b"}},
		"an argument more":            {given: func(s *corev1.PodSpec) { s.Containers[0].Args = append(s.Containers[0].Args, "--c") }, want: []string{"containers[foundationdb].args: 3 elements, desired 2"}},
		"a mount elsewhere":           {given: func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[1].MountPath = "/c" }, want: []string{"containers[foundationdb].volumeMounts[/b]: missing"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			have := desired()
			tc.given(&have)
			got, err := SpecDifferences(desired(), have)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
