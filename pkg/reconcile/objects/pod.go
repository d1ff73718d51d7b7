package objects

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Pod is the pod of a process group as it would be created now, with the hash of its spec. The
// caller that creates it adds the hash of the ConfigMap with RecordConfigMap and, where the
// public IP comes from a service, that IP with RecordPublicIP.
func Pod(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) (*corev1.Pod, error) {
	spec, err := PodSpec(c, g)
	if err != nil {
		return nil, err
	}
	hash, err := SpecHash(spec)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{ObjectMeta: podMetadata(c, g), Spec: *spec}
	maps.Copy(pod.Annotations, creationRecords(c, hash))
	if terms := packTermsOf(c, g); terms != nil {
		pod.Labels[v1beta2.LabelDistributionKey] = terms.key
	}
	return pod, nil
}

// creationRecords are the annotations that record how a pod is created.
func creationRecords(c *v1beta2.FoundationDBCluster, hash string) map[string]string {
	return map[string]string{
		v1beta2.AnnotationLastAppliedSpec: hash,
		v1beta2.AnnotationPublicIPSource:  string(c.PublicIPSource()),
		v1beta2.AnnotationImageType:       string(c.ImageType()),
		v1beta2.AnnotationIPFamily:        decimal(c.PodIPFamily()),
	}
}

// podMetadata is the metadata that does not depend on how a pod was created, so that it can
// be changed on an existing pod.
func podMetadata(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) metav1.ObjectMeta {
	var template *metav1.ObjectMeta
	if t := c.Settings(g.ProcessClass).PodTemplate; t != nil {
		template = &t.ObjectMeta
	}
	m := metadata(c, template, g.PodName(c), groupLabels(c, g))
	m.Annotations = merged(m.Annotations)
	return m
}

// changeablePodMetadata are the labels and annotations that a group's pod should have, but that with
// its node. Annotations about how a pod was created change only by recreating it. The
// operator also overwrites the one of them that names the source of the public IP,
// and with it the reason to replace the group. The label with the distribution key
// is such a record too: a changed one would draw new pods to where the pod is.
func changeablePodMetadata(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) metav1.ObjectMeta {
	want := podMetadata(c, g)
	for _, key := range []string{
		v1beta2.AnnotationLastAppliedSpec, v1beta2.AnnotationImageType,
		v1beta2.AnnotationIPFamily, v1beta2.AnnotationPublicIPSource,
	} {
		delete(want.Annotations, key)
	}
	delete(want.Labels, v1beta2.LabelDistributionKey)
	delete(want.Annotations, v1beta2.AnnotationCurrentNode) // a pod's own node is added where it is known
	return want
}

// RecordConfigMap records on a pod the hash of its configuration.
func RecordConfigMap(pod *corev1.Pod, hash string) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1beta2.AnnotationLastAppliedConfigMap, hash)
}

// RecordPublicIP records on a pod the IP of its service.
func RecordPublicIP(pod *corev1.Pod, ip string) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1beta2.AnnotationPublicIP, ip)
}

// podBuilder turns the template of a class into the spec of one group's pod.
type podBuilder struct {
	cluster *v1beta2.FoundationDBCluster
	group   *v1beta2.ProcessGroupStatus
	launch  Launch
	// version is the FoundationDB version that the pod is for.
	version string

	spec          *corev1.PodSpec
	main, sidecar *corev1.Container
	// starter is the init container; nil with the unified image.
	starter *corev1.Container
}

// PodSpec is the spec that a group's pod would be created with now. Its hash is compared with
// the one recorded on the existing pod.
func PodSpec(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) (*corev1.PodSpec, error) {
	b, err := newPodBuilder(c, g)
	if err != nil {
		return nil, fmt.Errorf("build pod of %s: %w", g.ProcessGroupID, err)
	}
	build := b.buildSplit
	if c.UsesUnifiedImage() {
		build = b.buildUnified
	}
	if err := build(); err != nil {
		return nil, fmt.Errorf("build pod of %s: %w", g.ProcessGroupID, err)
	}
	b.addVolumes()
	b.spreadOut()
	b.refuseNodes()
	b.breakContainers()
	b.name()
	return b.spec, nil
}

func newPodBuilder(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) (*podBuilder, error) {
	template := c.Settings(g.ProcessClass).PodTemplate
	if template == nil {
		return nil, fmt.Errorf("no pod template for class %s: the cluster is not normalized", g.ProcessClass)
	}
	if template.Spec.SchedulingGroup != nil {
		return nil, fmt.Errorf("the pod template of class %s sets schedulingGroup, which the operator does not support", g.ProcessClass)
	}
	b := &podBuilder{
		cluster: c,
		group:   g,
		launch:  DesiredLaunch(c, g.ProcessClass),
		version: c.ImageVersion(),
		spec:    template.Spec.DeepCopy(),
	}
	return b, b.findContainers()
}

func (b *podBuilder) findContainers() error {
	b.main = container(b.spec.Containers, v1beta2.ContainerMain)
	b.sidecar = container(b.spec.Containers, v1beta2.ContainerSidecar)
	b.starter = container(b.spec.InitContainers, v1beta2.ContainerInit)
	if b.main == nil || b.sidecar == nil || (b.starter == nil && !b.cluster.UsesUnifiedImage()) {
		return fmt.Errorf("the pod template has no containers: the cluster is not normalized")
	}
	return nil
}

// setImage sets a container's image. No container may write to its image unless
// the template lets it.
func (b *podBuilder) setImage(c *corev1.Container) error {
	image, err := b.cluster.Image(*c, b.version)
	if err != nil {
		return fmt.Errorf("select images: %w", err)
	}
	c.Image = image
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{}
	}
	if c.SecurityContext.ReadOnlyRootFilesystem == nil {
		c.SecurityContext.ReadOnlyRootFilesystem = new(true)
	}
	return nil
}

// setUpMain sets what the main containers of both image types have in common.
func (b *podBuilder) setUpMain() error {
	addVariables(b.main, variable(v1beta2.EnvClusterFile, pathDynamicConf+"/"+fileClusterFile))
	if trustsCAs(b.cluster) {
		addVariables(b.main, variable(v1beta2.EnvTLSCAFile, pathDynamicConf+"/"+fileCA))
	}
	return b.setImage(b.main)
}

// name sets the names of the pod in DNS.
func (b *podBuilder) name() {
	if b.cluster.NeedsHeadlessService() {
		b.spec.Hostname = b.group.PodName(b.cluster)
		b.spec.Subdomain = b.cluster.HeadlessServiceName()
	}
}

func decimal(n int) string { return strconv.Itoa(n) }

// spreadOut prefers another fault domain than those of the class's other pods, or packs the pod
// where the spec configures that. It comes after the preferences of the user's template.
func (b *podBuilder) spreadOut() {
	if terms := packTermsOf(b.cluster, b.group); terms != nil {
		terms.addTo(b.affinity())
		return
	}
	key := b.cluster.FaultDomainKey()
	if key == v1beta2.FaultDomainKeyNone || key == v1beta2.FaultDomainKeyKubernetesCluster {
		return
	}
	affinity := b.affinity()
	if affinity.PodAntiAffinity == nil {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	peers := merged(b.cluster.MatchLabels(), map[string]string{b.cluster.ProcessClassLabels()[0]: string(b.group.ProcessClass)})
	wishes := &affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	*wishes = append(*wishes, corev1.WeightedPodAffinityTerm{
		Weight: 1,
		PodAffinityTerm: corev1.PodAffinityTerm{
			TopologyKey:   key,
			LabelSelector: &metav1.LabelSelector{MatchLabels: peers},
		},
	})
}

// refuseNodes lets a pod named in buggify.noSchedule run only on nodes with a special label.
// It replaces the node requirements of the template.
func (b *podBuilder) refuseNodes() {
	if !slices.Contains(b.cluster.Spec.Buggify.NoSchedule, b.group.ProcessGroupID) {
		return
	}
	affinity := b.affinity()
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key:      v1beta2.LabelNoScheduleAllowed,
				Operator: corev1.NodeSelectorOpIn,
				Values:   []string{"true"},
			}},
		}},
	}
}

func (b *podBuilder) affinity() *corev1.Affinity {
	if b.spec.Affinity == nil {
		b.spec.Affinity = &corev1.Affinity{}
	}
	return b.spec.Affinity
}

// crashLoop replaces the arguments of a container that must fail.
const crashLoop = "crash-loop"

// breakContainers makes the containers named in buggify.crashLoopContainers fail.
func (b *podBuilder) breakContainers() {
	for _, c := range []*corev1.Container{b.main, b.sidecar, b.starter} {
		if c == nil || !b.cluster.Spec.Buggify.CrashLoops(c.Name, b.group.ProcessGroupID) {
			continue
		}
		c.Args = []string{crashLoop}
		if b.cluster.UsesUnifiedImage() {
			c.Command = []string{crashLoop}
		}
	}
}

// SidecarImage is the sidecar image that pods of a class should run now. It
// uses the desired version, not the running one: sidecars are upgraded first.
func SidecarImage(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (string, error) {
	return imageOf(c, class, v1beta2.ContainerSidecar, c.Spec.Version)
}

// MainImage returns the image of the main container of a class, for a version.
func MainImage(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, version string) (string, error) {
	return imageOf(c, class, v1beta2.ContainerMain, version)
}

func imageOf(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, name, version string) (string, error) {
	of := corev1.Container{Name: name}
	if t := c.Settings(class).PodTemplate; t != nil {
		if own := container(t.Spec.Containers, name); own != nil {
			of = *own
		}
	}
	image, err := c.Image(of, version)
	if err != nil {
		return "", fmt.Errorf("select the image of container %s of class %s: %w", name, class, err)
	}
	return image, nil
}

// container is the container called name, to be changed in place; nil when there is none.
func container(all []corev1.Container, name string) *corev1.Container {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
