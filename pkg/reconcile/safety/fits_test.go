package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// givenPlaces are three nodes; the pod runs on "here", "there" is free, and a neighbor with
// half of a node runs "beyond".
func givenPlaces() (Places, *corev1.Pod) {
	node := func(name, zone string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone, "disks": "8"}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}},
		}
	}
	pod := func(name, on string, cpu string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "fdb", Labels: map[string]string{"app": name}},
			Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")}},
			}}},
		}
	}
	mine := pod("mine", "here", "3")
	p := Places{
		Nodes: map[string]*corev1.Node{"here": node("here", "a"), "there": node("there", "b"), "beyond": node("beyond", "c")},
		Pods:  []*corev1.Pod{mine, pod("neighbor", "beyond", "2")}, Away: []string{"here"},
	}
	return p, mine
}

func awayFrom(app, topology string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}}}
}

func selecting(key string, operator corev1.NodeSelectorOperator, values ...string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}},
	}}}
}

func namedNode(name string) *corev1.Affinity {
	affinity := selecting("", "")
	affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0] = corev1.NodeSelectorTerm{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
	}
	return affinity
}

func TestWhetherAPodFitsElsewhere(t *testing.T) {
	const tooLittle = "1 with too little cpu"
	tests := map[string]struct {
		given func(*Places, *corev1.Pod)
		want  string // "yes", or the reason
		known bool
	}{
		"a node is free":                   {want: "yes", known: true},
		"no other node":                    {given: func(p *Places, _ *corev1.Pod) { p.Away = []string{"here", "there", "beyond"} }, want: "there is no other node", known: true},
		"the free one is cordoned":         {given: func(p *Places, _ *corev1.Pod) { p.Nodes["there"].Spec.Unschedulable = true }, want: "1 cordoned, " + tooLittle, known: true},
		"the free one is tainted":          {given: taintThere("NoSchedule"), want: "1 with the taint t, " + tooLittle, known: true},
		"a taint that only prefers others": {given: taintThere("PreferNoSchedule"), want: "yes", known: true},
		"a taint that is tolerated": {given: func(p *Places, pod *corev1.Pod) {
			taintThere("NoExecute")(p, pod)
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "t", Operator: corev1.TolerationOpExists}}
		}, want: "yes", known: true},
		"a taint with another value": {given: func(p *Places, pod *corev1.Pod) {
			taintThere("NoExecute")(p, pod)
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "t", Value: "w"}}
		}, want: "1 with the taint t, " + tooLittle, known: true},
		"a node selector that no other has": {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"zone": "a"} }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to where it fits":         {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "In", "b") }, want: "yes", known: true},
		"affinity to where it is":           {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "In", "a") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity away from there":          {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "NotIn", "b") }, want: "1 not matched by its node selector or affinity, " + tooLittle, known: true},
		"affinity to what all have":         {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("disks", "Gt", "7") }, want: "yes", known: true},
		"affinity to more than any has":     {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("disks", "Gt", "8") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to a label of none":       {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("rack", "Exists") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to less than all have":    {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("disks", "Lt", "8") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to a limit above all":     {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("disks", "Lt", "9") }, want: "yes", known: true},
		"affinity to a limit of two values": {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("disks", "Gt", "1", "2") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to a limit in words":      {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("disks", "Gt", "few") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to a number in words":     {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "Gt", "0") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to an absent label":       {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("rack", "DoesNotExist") }, want: "yes", known: true},
		"affinity against a present label":  {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "DoesNotExist") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to other values":          {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("rack", "NotIn", "r1") }, want: "yes", known: true},
		"affinity of an unknown kind":       {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "Resembles", "b") }, want: "2 not matched by its node selector or affinity", known: true},
		"affinity without a requirement": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Affinity = selecting("zone", "In", "b")
			pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions = nil
		}, want: "2 not matched by its node selector or affinity", known: true},
		"affinity to the name of a node": {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = namedNode("there") }, want: "yes", known: true},
		"affinity to another name":       {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = namedNode("here") }, want: "2 not matched by its node selector or affinity", known: true},
		"it asks for more than any has": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("5")
		}, want: "2 with too little cpu", known: true},
		"it asks for what no node has": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests["gpu"] = resource.MustParse("1")
		}, want: tooLittle + ", 1 with too little gpu", known: true},
		"its first container asks for more": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("9Gi")}}}}
		}, want: "1 with too little cpu, 1 with too little memory", known: true},
		"a node that is full of pods":     {given: func(p *Places, _ *corev1.Pod) { p.Nodes["there"].Status.Allocatable["pods"] = resource.MustParse("0") }, want: "1 at their limit of pods, " + tooLittle, known: true},
		"it keeps away from a neighbor":   {given: func(p *Places, pod *corev1.Pod) { moveThere(p); pod.Spec.Affinity = awayFrom("neighbor", "zone") }, want: "1 with a pod that its anti-affinity excludes", known: true},
		"the neighbor keeps away from it": {given: func(p *Places, _ *corev1.Pod) { moveThere(p); p.Pods[1].Spec.Affinity = awayFrom("mine", "zone") }, want: "1 with a pod that its anti-affinity excludes", known: true},
		"a neighbor in another zone":      {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = awayFrom("neighbor", "zone") }, want: "yes", known: true},
		"a topology that no node has":     {given: func(p *Places, pod *corev1.Pod) { moveThere(p); pod.Spec.Affinity = awayFrom("neighbor", "rack") }, want: "yes", known: true},
		"a neighbor's node is unknown": {given: func(p *Places, pod *corev1.Pod) {
			p.Pods[1].Spec.NodeName = "unknown"
			pod.Spec.Affinity = awayFrom("neighbor", "zone")
		}, want: "yes", known: true},
		"it keeps away from others": {given: func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = awayFrom("a-user", "zone") }, want: "yes", known: true},
		"the neighbor is in another namespace": {given: func(p *Places, pod *corev1.Pod) {
			moveThere(p)
			p.Pods[1].Spec.Containers = nil
			p.Pods[1].Namespace, pod.Spec.Affinity = "other", awayFrom("neighbor", "zone")
		}, want: "yes", known: true},
		"nodes are hidden": {given: func(p *Places, _ *corev1.Pod) { p.Hidden = "nodes is forbidden" }, want: "nodes is forbidden"},
		"the allocatable resources of a node are unknown": {given: func(p *Places, _ *corev1.Pod) { p.Nodes["there"].Status.Allocatable = nil }, want: "the allocatable resources of a node are unknown"},
		"it is to be spread evenly": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}
		}, want: "it has a topology spread constraint over zone"},
		"it has to run beside others": {given: func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: make([]corev1.PodAffinityTerm, 1)}}
		}, want: "2 outside of the fault domain that its pod affinity requires", known: true},
		"a term that is not understood": {given: func(p *Places, pod *corev1.Pod) {
			moveThere(p)
			pod.Spec.Affinity = awayFrom("x", "zone")
			pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{}
		}, want: "with a pod that its anti-affinity excludes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, pod := givenPlaces()
			if tc.given != nil {
				tc.given(&p, pod)
			}
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

func taintThere(effect corev1.TaintEffect) func(*Places, *corev1.Pod) {
	return func(p *Places, _ *corev1.Pod) {
		p.Nodes["there"].Spec.Taints = []corev1.Taint{{Key: "t", Value: "v", Effect: effect}}
	}
}

// moveThere has the neighbor run where the pod would fit, and leaves no other node.
func moveThere(p *Places) {
	p.Pods[1].Spec.NodeName = "there"
	p.Pods[1].Spec.Containers = nil
	p.Away = append(p.Away, "beyond")
}

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
