package v1beta2

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func normalized(t *testing.T, c *FoundationDBCluster) *FoundationDBCluster {
	t.Helper()
	before := c.DeepCopy()
	n, err := c.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, c); diff != "" {
		t.Errorf("normalizing changed the original (-before +after):\n%s", diff)
	}
	twice, err := n.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(n, twice); diff != "" {
		t.Errorf("normalizing twice is not the same as once (-once +twice):\n%s", diff)
	}
	return n
}

func resources(cpu, memory string) corev1.ResourceRequirements {
	list := func() corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	return corev1.ResourceRequirements{Requests: list(), Limits: list()}
}

func TestAnEmptySpecIsDefaultedWithTheMainAndSidecarContainers(t *testing.T) {
	n := normalized(t, cluster())
	want := map[ProcessClass]ProcessSettings{ProcessClassGeneral: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{
			{Name: "foundationdb", Resources: resources("1", "8Gi")},
			{Name: "foundationdb-kubernetes-sidecar", Resources: resources("100m", "256Mi")},
		},
	}}}}
	if diff := cmp.Diff(want, n.Spec.Processes); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ImageConfig{{BaseImage: "foundationdb/fdb-kubernetes-monitor"}}, n.Spec.MainContainer.ImageConfigs); diff != "" {
		t.Errorf("image rules (-want +got):\n%s", diff)
	}
	if n.Spec.SidecarContainer.ImageConfigs != nil {
		t.Errorf("the unified image has rules for a sidecar: %v", n.Spec.SidecarContainer.ImageConfigs)
	}
}

func TestTheSplitImageHasAnInitContainer(t *testing.T) {
	n := normalized(t, cluster(func(c *FoundationDBCluster) { c.Spec.ImageType = new(ImageTypeSplit) }))
	want := []corev1.Container{{Name: "foundationdb-kubernetes-init", Resources: resources("100m", "256Mi")}}
	if diff := cmp.Diff(want, n.Settings(ProcessClassStorage).PodTemplate.Spec.InitContainers); diff != "" {
		t.Errorf("init containers (-want +got):\n%s", diff)
	}
	rules := []ImageConfig{{BaseImage: "foundationdb/foundationdb-kubernetes-sidecar", TagSuffix: "-1"}}
	if diff := cmp.Diff(rules, n.Spec.SidecarContainer.ImageConfigs); diff != "" {
		t.Errorf("sidecar rules (-want +got):\n%s", diff)
	}
}

func TestPodTemplateContainersKeepTheirOrder(t *testing.T) {
	requests := corev1.ResourceList{"cpu": resource.MustParse("3")}
	given := []corev1.Container{
		{Name: "theirs"},
		{Name: "foundationdb-kubernetes-sidecar", Resources: corev1.ResourceRequirements{Requests: requests}},
		{Name: "also-theirs", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}},
	}
	n := normalized(t, cluster(func(c *FoundationDBCluster) {
		c.Spec.Processes = map[ProcessClass]ProcessSettings{
			ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: given}}},
			ProcessClassLog:     {CustomParameters: FoundationDBCustomParameters{"knob_a=1"}},
		}
	}))
	want := []corev1.Container{
		{Name: "foundationdb", Resources: resources("1", "8Gi")},
		{Name: "theirs"},
		{Name: "foundationdb-kubernetes-sidecar", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}},
		{Name: "also-theirs", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}},
	}
	if diff := cmp.Diff(want, n.Spec.Processes[ProcessClassStorage].PodTemplate.Spec.Containers); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if n.Spec.Processes[ProcessClassLog].PodTemplate != nil {
		t.Error("a class without a template got one, which would hide the general one")
	}
}

func TestCrashLoopIsMigratedToCrashLoopContainers(t *testing.T) {
	n := normalized(t, cluster(func(c *FoundationDBCluster) {
		c.Spec.Buggify.CrashLoop = []ProcessGroupID{"storage-1", "storage-2"}
		c.Spec.Buggify.CrashLoopContainers = []CrashLoopContainerObject{
			{ContainerName: ContainerSidecar, Targets: []ProcessGroupID{"*"}},
			{ContainerName: ContainerMain, Targets: []ProcessGroupID{"storage-2", "log-1"}},
		}
	}))
	want := BuggifyConfig{CrashLoopContainers: []CrashLoopContainerObject{
		{ContainerName: ContainerSidecar, Targets: []ProcessGroupID{"*"}},
		{ContainerName: ContainerMain, Targets: []ProcessGroupID{"storage-2", "log-1", "storage-1"}},
	}}
	if diff := cmp.Diff(want, n.Spec.Buggify); diff != "" {
		t.Errorf("buggify (-want +got):\n%s", diff)
	}
	for id, crashes := range map[ProcessGroupID]bool{"storage-1": true, "log-1": true, "log-2": false} {
		if got := n.Spec.Buggify.CrashLoops(ContainerMain, id); got != crashes {
			t.Errorf("%s crashes: got %v", id, got)
		}
	}
	if !n.Spec.Buggify.CrashLoops(ContainerSidecar, "log-2") {
		t.Error("* stands for all")
	}
}

func TestAnInvalidSpecIsNotNormalized(t *testing.T) {
	if _, err := cluster(func(c *FoundationDBCluster) { c.Spec.Version = "6.2.20" }).Normalized(); err == nil {
		t.Error("want the error of Validate")
	}
}
