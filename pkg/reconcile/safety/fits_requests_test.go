package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

func TestWhichTaintsAPodTolerates(t *testing.T) {
	taint := corev1.Taint{Key: "t", Value: "v", Effect: corev1.TaintEffectNoExecute}
	tests := map[string]struct {
		toleration corev1.Toleration
		want       bool
	}{
		"its key and value":                      {corev1.Toleration{Key: "t", Value: "v"}, true},
		"its key, operator Equal and value":      {corev1.Toleration{Key: "t", Operator: corev1.TolerationOpEqual, Value: "v"}, true},
		"its key and another value":              {corev1.Toleration{Key: "t", Value: "w"}, false},
		"its key with any value":                 {corev1.Toleration{Key: "t", Operator: corev1.TolerationOpExists}, true},
		"another key with any value":             {corev1.Toleration{Key: "u", Operator: corev1.TolerationOpExists}, false},
		"another key and its value":              {corev1.Toleration{Key: "u", Value: "v"}, false},
		"every key":                              {corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		"no key without an operator":             {corev1.Toleration{Value: "v"}, false},
		"its effect":                             {corev1.Toleration{Key: "t", Value: "v", Effect: corev1.TaintEffectNoExecute}, true},
		"another effect":                         {corev1.Toleration{Key: "t", Value: "v", Effect: corev1.TaintEffectNoSchedule}, false},
		"another effect with any value":          {corev1.Toleration{Key: "t", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, false},
		"every key, with another effect":         {corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, false},
		"another key, another effect, its value": {corev1.Toleration{Key: "u", Value: "v", Effect: corev1.TaintEffectNoSchedule}, false},
	}
	for name, tc := range tests {
		if got := tolerates(tc.toleration, taint); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

func cpu(n string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}}}
}

// TestPodRequestsCountInitContainersSidecarsAndOverhead adds what runs together, and takes the largest of what runs before.
func TestPodRequestsCountInitContainersSidecarsAndOverhead(t *testing.T) {
	always := func(c corev1.Container) corev1.Container {
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		return c
	}
	onFailure := func(c corev1.Container) corev1.Container {
		c.RestartPolicy = new(corev1.ContainerRestartPolicy("OnFailure"))
		return c
	}
	tests := map[string]struct {
		overhead string
		run      []corev1.Container
		before   []corev1.Container
		want     string
	}{
		"containers together":           {run: []corev1.Container{cpu("1"), cpu("2")}, want: "3"},
		"with an overhead":              {overhead: "1", run: []corev1.Container{cpu("2")}, want: "3"},
		"a small init container":        {run: []corev1.Container{cpu("2")}, before: []corev1.Container{cpu("1")}, want: "2"},
		"a large init container":        {run: []corev1.Container{cpu("2")}, before: []corev1.Container{cpu("5"), cpu("4")}, want: "5"},
		"a sidecar":                     {run: []corev1.Container{cpu("2")}, before: []corev1.Container{always(cpu("1"))}, want: "3"},
		"one that restarts on failures": {run: []corev1.Container{cpu("2")}, before: []corev1.Container{onFailure(cpu("1"))}, want: "2"},
	}
	for name, tc := range tests {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: tc.run, InitContainers: tc.before}}
		if tc.overhead != "" {
			pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.overhead)}
		}
		if got := objects.PodRequests(pod)[corev1.ResourceCPU]; got.Cmp(resource.MustParse(tc.want)) != 0 {
			t.Errorf("%s: %s, want %s", name, got.String(), tc.want)
		}
		if tc.overhead != "" && pod.Spec.Overhead.Cpu().Cmp(resource.MustParse(tc.overhead)) != 0 {
			t.Errorf("%s: the pod was changed", name)
		}
	}
}

// TestAPodThatFillsANodeExactlyFits fills a node to the last unit of a resource, and beyond it.
func TestAPodThatFillsANodeExactlyFits(t *testing.T) {
	for name, tc := range map[string]struct {
		given func(*Places, *corev1.Pod)
		want  bool
	}{
		"all CPU of the node": {func(_ *Places, pod *corev1.Pod) { pod.Spec.Containers = []corev1.Container{cpu("4")} }, true},
		"more than that":      {func(_ *Places, pod *corev1.Pod) { pod.Spec.Containers = []corev1.Container{cpu("4001m")} }, false},
		"the last pod":        {func(p *Places, pod *corev1.Pod) { moveThere(p); allowPods(p, "2") }, true},
		"one pod too many":    {func(p *Places, pod *corev1.Pod) { moveThere(p); allowPods(p, "1") }, false},
		"no limit of pods": {func(p *Places, pod *corev1.Pod) {
			moveThere(p)
			delete(p.Nodes["there"].Status.Allocatable, corev1.ResourcePods)
		}, true},
		"an empty affinity": {func(_ *Places, pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
		}, true},
		"a term without rules": {func(_ *Places, pod *corev1.Pod) { pod.Spec.Affinity = selecting("zone", "In", "b"); emptyTerm(pod) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, pod := givenPlaces()
			tc.given(&p, pod)
			if got := p.Elsewhere(pod); got.Fits == nil || *got.Fits != tc.want {
				t.Errorf("%+v, want %t", got, tc.want)
			}
		})
	}
}

func allowPods(p *Places, n string) {
	p.Nodes["there"].Status.Allocatable[corev1.ResourcePods] = resource.MustParse(n)
}

func emptyTerm(pod *corev1.Pod) {
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0] = corev1.NodeSelectorTerm{}
}

// TestNodeLabelsAreComparedAsDecimalNumbers has a node with the label 10.
func TestNodeLabelsAreComparedAsDecimalNumbers(t *testing.T) {
	node := map[string]string{"disks": "10"}
	for _, tc := range []struct {
		operator corev1.NodeSelectorOperator
		limit    string
		want     bool
	}{
		{corev1.NodeSelectorOpGt, "9", true},
		{corev1.NodeSelectorOpGt, "10", false},
		{corev1.NodeSelectorOpLt, "10", false},
		{corev1.NodeSelectorOpLt, "11", true},
		{corev1.NodeSelectorOpGt, "a", false},
		{corev1.NodeSelectorOpLt, "a", false},
	} {
		r := corev1.NodeSelectorRequirement{Key: "disks", Operator: tc.operator, Values: []string{tc.limit}}
		if got := meets(r, node); got != tc.want {
			t.Errorf("10 %s %s: %t, want %t", tc.operator, tc.limit, got, tc.want)
		}
	}
	if meets(corev1.NodeSelectorRequirement{Key: "rack", Operator: corev1.NodeSelectorOpLt, Values: []string{"1"}}, node) {
		t.Error("a label that the node lacks is less than 1")
	}
}

// TestUnsupportedAntiAffinityTermsMakePlacementUnknown has a neighbor that keeps away from pods in namespaces
// which are chosen by their labels.
func TestUnsupportedAntiAffinityTermsMakePlacementUnknown(t *testing.T) {
	for name, change := range map[string]func(*corev1.PodAffinityTerm){
		"a namespace selector": func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} },
		"label keys to match":  func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = []string{"app"} },
		"label keys to differ": func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = []string{"app"} },
		"an unreadable pattern": func(t *corev1.PodAffinityTerm) {
			t.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "?"}}
		},
	} {
		p, pod := givenPlaces()
		moveThere(&p)
		p.Pods[1].Spec.Affinity = awayFrom("nothing", "zone")
		change(&p.Pods[1].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
		if got := p.Elsewhere(pod); got.Fits != nil || got.Reason == "" {
			t.Errorf("%s: %+v, want an unknown answer with its reason", name, got)
		}
	}
}
