package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func beside(app, topology string) *corev1.Affinity {
	return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}}}
}

// TestRequiredAffinityToPods has a node "aside" in the zone of the pod's own, with enough room.
func TestRequiredAffinityToPods(t *testing.T) {
	const outside, ofTwo = "3 outside of the fault domain that its pod affinity requires", "2 outside of the fault domain that its pod affinity requires, 1 with too little cpu"
	for name, tc := range map[string]struct {
		given func(*Places, *corev1.Pod)
		want  string // "yes", or the reason
		known bool
	}{
		"to its own kind, in its zone":    {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = beside("mine", "zone") }, want: "yes", known: true},
		"to its own kind, on its node":    {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = beside("mine", "name") }, want: outside, known: true},
		"to the neighbor, on a full node": {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = beside("neighbor", "name") }, want: ofTwo, known: true},
		"to the neighbor, where it fits": {given: func(p *Places, pod *corev1.Pod) {
			p.Pods[1].Spec.NodeName = "there"
			p.Pods[1].Spec.Containers = nil
			pod.Spec.Affinity = beside("neighbor", "zone")
		}, want: "yes", known: true},
		"to none that runs": {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = beside("other", "zone") }, want: outside, known: true},
		"to its own kind, as the first": {given: func(p *Places, pod *corev1.Pod) {
			p.Pods = p.Pods[1:]
			pod.Spec.Affinity = beside("mine", "name")
		}, want: "yes", known: true},
		"to its own kind, which has no node": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.NodeName = ""
			pod.Spec.Affinity = beside("mine", "name")
		}, want: "yes", known: true},
		"as the first, in a topology that no node has": {given: func(p *Places, pod *corev1.Pod) {
			p.Pods = p.Pods[1:]
			pod.Spec.Affinity = beside("mine", "rack")
		}, want: outside, known: true},
		"to two kinds of which none is both": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Affinity = beside("mine", "zone")
			terms := &pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*terms = append(*terms, beside("neighbor", "zone").PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		}, want: outside, known: true},
		"to other namespaces": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Affinity = beside("mine", "zone")
			pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{}
		}, want: "outside of the fault domain that its pod affinity requires"},
	} {
		t.Run(name, func(t *testing.T) {
			p, pod := besideIts()
			tc.given(&p, pod)
			got := p.Elsewhere(pod)
			words := got.Reason
			if got.Fits != nil && *got.Fits {
				words = "yes"
			}
			if words != tc.want || (got.Fits != nil) != tc.known {
				t.Errorf("%q, known %t; want %q, %t", words, got.Fits != nil, tc.want, tc.known)
			}
		})
	}
}

// besideIts are the places of givenPlaces, and one more in the zone of the pod. Nodes have their
// name as a label.
func besideIts() (Places, *corev1.Pod) {
	p, pod := givenPlaces()
	aside := p.Nodes["here"].DeepCopy()
	aside.Name = "aside"
	p.Nodes["aside"] = aside
	for name, node := range p.Nodes {
		node.Labels["name"] = name
	}
	return p, pod
}

// TestPodsOfADistributionKeyFitOnOtherNodesOnlyTogether has three pods of one distribution key on a node, and room for one, two
// or all of them.
func TestPodsOfADistributionKeyFitOnOtherNodesOnlyTogether(t *testing.T) {
	const one, two = "only 1 of 3 pods with the distribution key storage-0: ", "only 2 of 3 pods with the distribution key storage-0: "
	for name, tc := range map[string]struct {
		cpu   string // of the only other node in the zone
		given func(*Places, []*corev1.Pod)
		want  [3]string
	}{
		"room for all":  {cpu: "9", want: [3]string{"yes", "yes", "yes"}},
		"room for two":  {cpu: "6", want: [3]string{two + "2 outside of the fault domain that its pod affinity requires, 1 with too little cpu", two, two}},
		"room for one":  {cpu: "5", want: [3]string{one, one, one}},
		"room for none": {cpu: "2", want: [3]string{"2 outside of", "2 outside of", "2 outside of"}},
		"each alone if that is preferred": {cpu: "3", given: func(_ *Places, pods []*corev1.Pod) {
			for _, pod := range pods {
				pod.Spec.Affinity = nil
			}
		}, want: [3]string{"yes", "yes", "yes"}},
		"each alone without the key": {cpu: "3", given: func(_ *Places, pods []*corev1.Pod) {
			for _, pod := range pods {
				delete(pod.Labels, v1beta2.LabelDistributionKey)
			}
		}, want: [3]string{"yes", "yes", "yes"}},
		"apart from another bucket": {cpu: "3", given: func(_ *Places, pods []*corev1.Pod) { pods[2].Labels[v1beta2.LabelDistributionKey] = "storage-1" }, want: [3]string{"only 1 of 2 pods with the distribution key storage-0: ", "only 1 of 2 pods", "yes"}},
		"the largest first": {cpu: "6", given: func(p *Places, pods []*corev1.Pod) {
			second := p.Nodes["aside"].DeepCopy()
			second.Name, second.Labels["name"] = "beside", "beside"
			second.Status.Allocatable["cpu"] = resource.MustParse("3")
			p.Nodes["beside"] = second
			pods[2].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("6")
			pods[0].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1")
			pods[1].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2")
		}, want: [3]string{"yes", "yes", "yes"}},
		"nodes are hidden": {cpu: "9", given: func(p *Places, _ []*corev1.Pod) { p.Hidden = "nodes is forbidden" }, want: [3]string{"nodes is forbidden", "nodes is forbidden", "nodes is forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, mine := besideIts()
			p.Nodes["aside"].Status.Allocatable["cpu"] = resource.MustParse(tc.cpu)
			mine.Labels[v1beta2.LabelDistributionKey] = "storage-0"
			mine.Spec.Affinity = beside("mine", "zone")
			pods := []*corev1.Pod{mine, mine.DeepCopy(), mine.DeepCopy()}
			p.Pods = append(p.Pods, pods[1:]...)
			if tc.given != nil {
				tc.given(&p, pods)
			}
			for i, fit := range p.ElsewhereTogether(pods) {
				words := fit.Reason
				if fit.Fits != nil && *fit.Fits {
					words = "yes"
				}
				if len(words) < len(tc.want[i]) || words[:len(tc.want[i])] != tc.want[i] {
					t.Errorf("pod %d: %q, want %q", i, words, tc.want[i])
				}
			}
		})
	}
}
