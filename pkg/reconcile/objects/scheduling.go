package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

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
