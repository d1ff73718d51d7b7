package rebuild

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// volumes infers the templates of PVCs: from PVCs, else from the volumes that were bound to them.
func (b *builder) volumes() {
	claims := map[v1beta2.ProcessClass]*corev1.PersistentVolumeClaim{}
	for _, g := range b.groups {
		if !g.Class.IsStateful() {
			continue
		}
		path := "spec.processes." + string(g.Class) + ".volumeClaimTemplate"
		found := claimOf(g)
		switch known, is := claims[g.Class]; {
		case found == nil:
		case !is:
			claims[g.Class] = found
			b.know(path, claimSource(g))
		case !equality.Semantic.DeepEqual(known.Spec, found.Spec):
			b.doubt(path, claimSource(g)+" differs: "+phrase.Or(sizeOf(found), phrase.Unknown)+", storage class "+phrase.Or(classOf(found), phrase.Unknown))
		}
	}
	setPerClass(b, claims, func(c *corev1.PersistentVolumeClaim) bool { return c == nil }, func(s *v1beta2.ProcessSettings, c *corev1.PersistentVolumeClaim) {
		s.VolumeClaimTemplate = c
	})
}

func claimSource(g group) string {
	if g.claim != nil {
		return "PVC " + g.claim.Name
	}
	return "volume " + g.volume.Name
}

// claimOf returns the template that a PVC or a volume was created from. A storage class that the API
// server added is omitted: the recorded hash shows it.
func claimOf(g group) *corev1.PersistentVolumeClaim {
	template := &corev1.PersistentVolumeClaim{}
	switch {
	case g.claim != nil:
		template.Spec.AccessModes, template.Spec.Resources, template.Spec.StorageClassName = g.claim.Spec.AccessModes, g.claim.Spec.Resources, g.claim.Spec.StorageClassName
	case g.volume != nil:
		template.Spec.AccessModes = g.volume.Spec.AccessModes
		template.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: g.volume.Spec.Capacity[corev1.ResourceStorage]}
		if name := g.volume.Spec.StorageClassName; name != "" {
			template.Spec.StorageClassName = &name
		}
	default:
		return nil
	}
	if g.claim == nil {
		return template
	}
	without := template.DeepCopy()
	without.Spec.StorageClassName = nil
	if hash, err := objects.SpecHash(without.Spec); err == nil && hash == g.claim.Annotations[v1beta2.AnnotationLastAppliedSpec] {
		return without
	}
	return template
}

func sizeOf(c *corev1.PersistentVolumeClaim) string {
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	return size.String()
}

func classOf(c *corev1.PersistentVolumeClaim) string {
	if c.Spec.StorageClassName == nil {
		return ""
	}
	return *c.Spec.StorageClassName
}

// templates infers the pod templates: what pods have beyond the objects that a pass creates from the
// manifest so far, without what the API server adds.
func (b *builder) templates() {
	n, err := b.normalized()
	if err != nil {
		b.doubt("spec.processes.*.podTemplate", err.Error())
		return
	}
	templates, extra := map[v1beta2.ProcessClass]*corev1.PodTemplateSpec{}, map[v1beta2.ProcessClass]string{}
	for _, g := range b.groups {
		if _, is := templates[g.Class]; is || g.pod == nil {
			continue
		}
		plain, err := objects.PodSpec(n, g.status())
		if err != nil {
			b.doubt("spec.processes."+string(g.Class)+".podTemplate", err.Error())
			continue
		}
		templates[g.Class] = templateOf(plain, g.pod, b.labels(g.Class))
		extra[g.Class] = strings.Join(foreign(plain, g.pod), ", ")
		b.know("spec.processes."+string(g.Class)+".podTemplate", "pod "+g.pod.Name)
	}
	setPerClass(b, templates, func(t *corev1.PodTemplateSpec) bool { return t == nil }, func(s *v1beta2.ProcessSettings, t *corev1.PodTemplateSpec) { s.PodTemplate = t })
	for _, g := range b.groups {
		if names := extra[g.Class]; names != "" {
			b.doubt("spec.processes."+string(g.Class)+".podTemplate", "pods have "+names+": from the template, or added by an admission webhook; not in the manifest")
			extra[g.Class] = ""
		}
	}
}

// labels returns the labels that all pods of a class have, without those of a pass and of the scheduler.
func (b *builder) labels(class v1beta2.ProcessClass) map[string]string {
	var common map[string]string
	for _, g := range b.groups {
		switch {
		case g.pod == nil || g.Class != class:
		case common == nil:
			common = maps.Clone(g.pod.Labels)
		default:
			maps.DeleteFunc(common, func(key, value string) bool { return g.pod.Labels[key] != value })
		}
	}
	maps.DeleteFunc(common, func(key, _ string) bool {
		return strings.HasPrefix(key, "foundationdb.org/") || strings.HasPrefix(key, "topology.kubernetes.io/")
	})
	return common
}

// templateOf returns what a pod has beyond a plain one; nil for nothing.
func templateOf(plain *corev1.PodSpec, pod *corev1.Pod, labels map[string]string) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{}
	t.Labels = labels
	have, into := &pod.Spec, &t.Spec
	if have.ServiceAccountName != "default" {
		into.ServiceAccountName = have.ServiceAccountName
	}
	into.NodeSelector, into.ImagePullSecrets, into.PriorityClassName, into.RuntimeClassName = have.NodeSelector, have.ImagePullSecrets, have.PriorityClassName, have.RuntimeClassName
	into.Tolerations = slices.DeleteFunc(slices.Clone(have.Tolerations), isAdded)
	if have.SecurityContext != nil && !reflect.DeepEqual(*have.SecurityContext, corev1.PodSecurityContext{}) {
		into.SecurityContext = have.SecurityContext
	}
	if p := have.TerminationGracePeriodSeconds; p != nil && *p != corev1.DefaultTerminationGracePeriodSeconds {
		into.TerminationGracePeriodSeconds = p
	}
	into.TopologySpreadConstraints = have.TopologySpreadConstraints
	into.Containers = containersOf(plain.Containers, have.Containers)
	into.InitContainers = containersOf(plain.InitContainers, have.InitContainers)
	if len(labels) == 0 {
		t.Labels = nil
	}
	if len(labels) == 0 && equality.Semantic.DeepEqual(*into, corev1.PodSpec{}) {
		return nil
	}
	return t
}

// isAdded reports whether a toleration is one that the API server adds.
func isAdded(t corev1.Toleration) bool {
	const seconds = 300
	return t.Operator == corev1.TolerationOpExists && t.Effect == corev1.TaintEffectNoExecute && t.TolerationSeconds != nil && *t.TolerationSeconds == seconds &&
		(t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable)
}

// containersOf returns our containers, with what they have beyond plain ones.
func containersOf(plain, have []corev1.Container) []corev1.Container {
	var all []corev1.Container
	for _, p := range plain {
		i := slices.IndexFunc(have, func(c corev1.Container) bool { return c.Name == p.Name })
		if i < 0 {
			continue
		}
		c := corev1.Container{Name: p.Name}
		if !equality.Semantic.DeepEqual(p.Resources, have[i].Resources) {
			c.Resources = have[i].Resources
		}
		if have[i].ImagePullPolicy != corev1.PullIfNotPresent {
			c.ImagePullPolicy = have[i].ImagePullPolicy
		}
		for _, v := range have[i].Env {
			if !slices.ContainsFunc(p.Env, func(of corev1.EnvVar) bool { return of.Name == v.Name }) {
				c.Env = append(c.Env, v)
			}
		}
		if !reflect.DeepEqual(c, corev1.Container{Name: p.Name}) {
			all = append(all, c)
		}
	}
	return all
}

// foreign returns what a pod has that is not taken for its template.
func foreign(plain *corev1.PodSpec, pod *corev1.Pod) []string {
	var all []string
	note := func(kind string, names, known []string) {
		for _, name := range names {
			if !slices.Contains(known, name) && !strings.HasPrefix(name, "kube-api-access-") {
				all = append(all, kind+" "+name)
			}
		}
	}
	containers := func(s *corev1.PodSpec) (names []string) {
		for _, c := range slices.Concat(s.Containers, s.InitContainers) {
			names = append(names, c.Name)
		}
		return names
	}
	volumes := func(s *corev1.PodSpec) (names []string) {
		for _, v := range s.Volumes {
			names = append(names, v.Name)
		}
		return names
	}
	note("the container", containers(&pod.Spec), containers(plain))
	note("the volume", volumes(&pod.Spec), volumes(plain))
	return all
}

// normalized returns the cluster as passes see it, with the status that they would write.
func (b *builder) normalized() (*v1beta2.FoundationDBCluster, error) {
	c := b.cluster.DeepCopy()
	c.Status.ConnectionString, c.Status.RunningVersion, c.Status.Configured = c.Spec.SeedConnectionString, c.Spec.Version, true
	c.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: c.Spec.MainContainer.EnableTLS, NonTLS: !c.Spec.MainContainer.EnableTLS}
	c.Status.ImageTypes = []v1beta2.ImageType{c.ImageType()}
	c.Status.StorageServersPerDisk, c.Status.LogServersPerDisk = []int{c.ServersPerPod(v1beta2.ProcessClassStorage)}, []int{c.ServersPerPod(v1beta2.ProcessClassLog)}
	c.Status.HasListenIPsForAllPods = true
	for _, g := range b.groups {
		c.Status.ProcessGroups = append(c.Status.ProcessGroups, g.status())
		if g.pod != nil && !objects.HasListenIP(g.pod) {
			c.Status.HasListenIPsForAllPods = false
		}
	}
	return c.Normalized()
}

// match compares pods and PVCs with those that a pass creates from the manifest, by the hashes that
// they record; null if the manifest is incomplete.
func (b *builder) match() *Match {
	n, err := b.normalized()
	if err != nil {
		b.doubt("", "whether pods equal those that a pass creates from the manifest: "+err.Error())
		return nil
	}
	m, hashes, named := &Match{}, objects.NewSpecHashes(n), map[v1beta2.ProcessClass]bool{}
	for _, g := range b.groups {
		m.compareClaim(n, g)
		if g.pod == nil {
			continue
		}
		m.Pods++
		hash, err := hashes.Of(g.status())
		if err == nil && hash == g.pod.Annotations[v1beta2.AnnotationLastAppliedSpec] {
			m.MatchingPods++
		} else if !named[g.Class] {
			named[g.Class] = true
			b.doubt("spec.processes."+string(g.Class)+".podTemplate", "a pass would replace or recreate pod "+g.pod.Name+": "+b.difference(n, g))
		}
		b.matchConfiguration(n, g, m)
	}
	return m
}

func (m *Match) compareClaim(n *v1beta2.FoundationDBCluster, g group) {
	if g.claim == nil {
		return
	}
	m.Claims++
	if hash, err := objects.ClaimSpecHash(n, g.Class); err == nil && hash == g.claim.Annotations[v1beta2.AnnotationLastAppliedSpec] {
		m.MatchingClaims++
	}
}

// difference returns the first fields in which a pod differs from the one that a pass creates.
func (b *builder) difference(n *v1beta2.FoundationDBCluster, g group) string {
	const enough = 3
	spec, err := objects.PodSpec(n, g.status())
	if err != nil {
		return err.Error()
	}
	lines, err := objects.SpecDifferences(spec, &g.pod.Spec)
	if err != nil {
		return err.Error()
	}
	return phrase.Or(phrase.Some(lines, enough), "it had a field that the manifest lacks")
}

// matchConfiguration compares the arguments of processes. The connection string of the pod's ConfigMap is
// part of them.
func (b *builder) matchConfiguration(n *v1beta2.FoundationDBCluster, g group, m *Match) {
	recorded, is := g.pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap]
	launch, err := objects.LaunchOf(g.pod, g.Class)
	if !is || err != nil {
		return
	}
	hash, err := objects.ConfigMapHash(n, launch)
	m.Configured++
	if err == nil && hash == recorded {
		m.MatchingConfigured++
		return
	}
	if m.Configured-m.MatchingConfigured == 1 {
		b.doubt("spec.processes.*.customParameters", "the processes of pod "+g.pod.Name+" have another configuration than a pass creates: arguments or keys of the ConfigMap may be missing")
	}
}
