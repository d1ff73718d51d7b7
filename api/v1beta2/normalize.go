package v1beta2

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The resources that our containers request when the pod template sets none.
// Source: the operator; they are part of the hash by which it recognizes its
// pods.
const (
	defaultMainCPU       = "1"
	defaultMainMemory    = "8Gi"
	defaultSidecarCPU    = "100m"
	defaultSidecarMemory = "256Mi"
)

// Normalized returns a copy of the cluster in which everything that pods are
// created from is explicit: every pod template has our containers with
// resources, image rules end with the default, deprecated fields have moved,
// and fields given as an annotation are in the spec. It is never written back. It returns the error of Validate when the
// spec is not valid.
func (c *FoundationDBCluster) Normalized() (*FoundationDBCluster, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("check cluster %s: %w", c.Name, err)
	}
	return c.NormalizedToRead(), nil
}

// NormalizedToRead returns the same copy of a spec that may be invalid: reading requires no valid spec. Nothing may be
// changed by it where Validate returns an error.
func (c *FoundationDBCluster) NormalizedToRead() *FoundationDBCluster {
	n := c.DeepCopy()
	n.takeAnnotations() // whose errors Validate returns
	n.spellOutTemplates()
	n.spellOutImages()
	n.Spec.Buggify.moveCrashLoop()
	return n
}

func (c *FoundationDBCluster) spellOutTemplates() {
	if c.Spec.Processes == nil {
		c.Spec.Processes = map[ProcessClass]ProcessSettings{}
	}
	general := c.Spec.Processes[ProcessClassGeneral]
	if general.PodTemplate == nil {
		general.PodTemplate = &corev1.PodTemplateSpec{}
	}
	c.Spec.Processes[ProcessClassGeneral] = general
	for _, settings := range c.Spec.Processes {
		if settings.PodTemplate != nil {
			c.addContainers(&settings.PodTemplate.Spec)
		}
	}
}

// addContainers adds our containers where they are missing: the main one
// first, the others last.
func (c *FoundationDBCluster) addContainers(pod *corev1.PodSpec) {
	if findContainer(pod.Containers, ContainerMain) == nil {
		pod.Containers = slices.Insert(pod.Containers, 0, corev1.Container{Name: ContainerMain})
	}
	pod.Containers = withContainer(pod.Containers, ContainerSidecar)
	defaultResources(findContainer(pod.Containers, ContainerMain), defaultMainCPU, defaultMainMemory)
	defaultResources(findContainer(pod.Containers, ContainerSidecar), defaultSidecarCPU, defaultSidecarMemory)
	if c.UsesUnifiedImage() {
		return
	}
	pod.InitContainers = withContainer(pod.InitContainers, ContainerInit)
	defaultResources(findContainer(pod.InitContainers, ContainerInit), defaultSidecarCPU, defaultSidecarMemory)
}

func withContainer(containers []corev1.Container, name string) []corev1.Container {
	if findContainer(containers, name) != nil {
		return containers
	}
	return append(containers, corev1.Container{Name: name})
}

func findContainer(containers []corev1.Container, name string) *corev1.Container {
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &containers[i]
}

// defaultResources sets requests that are not given at all, and limits that are
// not given to the requests.
func defaultResources(container *corev1.Container, cpu, memory string) {
	r := &container.Resources
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(cpu),
			corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
	if r.Limits == nil {
		r.Limits = maps.Clone(r.Requests)
	}
}

func (c *FoundationDBCluster) spellOutImages() {
	c.Spec.MainContainer.ImageConfigs = c.imageRules(ContainerMain)
	if !c.UsesUnifiedImage() {
		c.Spec.SidecarContainer.ImageConfigs = c.imageRules(ContainerSidecar)
	}
}

// moveCrashLoop moves the deprecated list into the one by container.
func (b *BuggifyConfig) moveCrashLoop() {
	if len(b.CrashLoop) == 0 {
		return
	}
	i := slices.IndexFunc(b.CrashLoopContainers, func(o CrashLoopContainerObject) bool { return o.ContainerName == ContainerMain })
	if i < 0 {
		b.CrashLoopContainers = append(b.CrashLoopContainers, CrashLoopContainerObject{ContainerName: ContainerMain})
		i = len(b.CrashLoopContainers) - 1
	}
	targets := &b.CrashLoopContainers[i].Targets
	for _, id := range b.CrashLoop {
		if !slices.Contains(*targets, id) {
			*targets = append(*targets, id)
		}
	}
	b.CrashLoop = nil
}

// CrashLoops reports whether a container of the process group should crash,
// considering the deprecated list too.
func (b BuggifyConfig) CrashLoops(container string, id ProcessGroupID) bool {
	if container == ContainerMain && targets(b.CrashLoop, id) {
		return true
	}
	return slices.ContainsFunc(b.CrashLoopContainers, func(o CrashLoopContainerObject) bool {
		return o.ContainerName == container && targets(o.Targets, id)
	})
}

func targets(ids []ProcessGroupID, id ProcessGroupID) bool {
	return slices.Contains(ids, id) || slices.Contains(ids, AllProcessGroups)
}
