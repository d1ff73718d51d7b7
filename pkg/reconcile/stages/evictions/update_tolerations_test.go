package evictions

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// lostNode is a toleration as the API server adds it; negative seconds are forever.
func lostNode(key string, seconds int64) corev1.Toleration {
	t := corev1.Toleration{Key: "node.kubernetes.io/" + key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	if seconds >= 0 {
		t.TolerationSeconds = &seconds
	}
	return t
}

// defaulted gives all pods the tolerations of the API server.
func defaulted(s *plan.Snapshot) {
	for _, pod := range s.Pods {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "other", Operator: corev1.TolerationOpExists}, lostNode("not-ready", 300), lostNode("unreachable", 300)}
	}
}

// onlyStateless leaves one group, of a class that waits for 15 s.
func onlyStateless(s *plan.Snapshot) {
	s.Cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{stagestest.FirstOf(*s, "stateless")}
}

func tolerationsOn(s *plan.Snapshot) {
	s.Cluster.Annotations = map[string]string{plan.AnnotationTolerations: "true"}
}

func podOfStateless(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(s.Pod(stagestest.FirstOf(*s, "stateless"))) }
}

func TestUpdateTolerations(t *testing.T) {
	with := stagestest.Combined
	on := with(tolerationsOn, defaulted, onlyStateless)
	const (
		pod     = "set how long pod sample-stateless-105 tolerates a lost node: "
		both    = pod + "not-ready 15 s, unreachable 15 s"
		reverts = pod + "not-ready 300 s, unreachable forever"
	)
	template := func(t corev1.Toleration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			settings := s.Cluster.Settings("stateless")
			settings.PodTemplate = settings.PodTemplate.DeepCopy()
			settings.PodTemplate.Spec.Tolerations = []corev1.Toleration{t}
			s.Cluster.Spec.Processes["stateless"] = settings
		}
	}
	before := podOfStateless(func(p *corev1.Pod) {
		p.Annotations[plan.AnnotationTolerationsBefore] = `{"node.kubernetes.io/not-ready":300,"node.kubernetes.io/unreachable":null}`
	})
	stagestest.Decides(t, UpdateTolerations, map[string]stagestest.Decision{
		"does nothing that is not requested": {Given: with(defaulted, onlyStateless)},
		"does not guess": {
			Given: func(s *plan.Snapshot) { s.Cluster.Annotations = map[string]string{plan.AnnotationTolerations: "on"} }, Holds: `"on": must be true or false`, Manual: true,
		},
		"sets them by class":             {Given: on, Does: []string{both}},
		"adds them where there are none": {Given: with(on, podOfStateless(func(p *corev1.Pod) { p.Spec.Tolerations = nil })), Does: []string{both}},
		"is done": {Given: with(on, podOfStateless(func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{lostNode("not-ready", 15), lostNode("unreachable", 15)}
		}))},
		"sets the one that differs": {Given: with(on, podOfStateless(func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{lostNode("not-ready", 15), lostNode("unreachable", -1)}
		})), Does: []string{pod + "unreachable 15 s"}},
		"leaves one to the template":                         {Given: with(on, template(lostNode("not-ready", 20))), Does: []string{pod + "unreachable 15 s"}},
		"leaves all to a template that tolerates everything": {Given: with(on, template(corev1.Toleration{Operator: corev1.TolerationOpExists}))},
		"leaves what something else made the pod tolerate": {Given: with(on, podOfStateless(func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}))},
		"leaves a terminating pod": {Given: with(on, podOfStateless(func(p *corev1.Pod) { p.DeletionTimestamp = new(stagestest.NoonTime()) }))},
		"leaves a pod that ended":  {Given: with(on, podOfStateless(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))},
		"reverts them":             {Given: with(defaulted, onlyStateless, before), Does: []string{reverts}},
		"reverts nothing that cannot be read": {
			Given: with(defaulted, onlyStateless, podOfStateless(func(p *corev1.Pod) { p.Annotations[plan.AnnotationTolerationsBefore] = "?" })),
			Does:  []string{"remove annotation kubectl-fdb/tolerations-before from pod sample-stateless-105"},
		},
	})
}

// The single copy of data waits for its node forever.
func TestPodsWithTheOnlyReplicaTolerateUnreachableNodesForever(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.Combined(tolerationsOn, defaulted, inSingleMode)(&s)
	for _, a := range UpdateTolerations.Decide(s).Actions {
		set := a.(plan.SetTolerations)
		class := s.Cluster.ProcessGroup(set.Group).ProcessClass
		for key, seconds := range set.Seconds {
			if forever := seconds == nil; forever != class.IsStateful() {
				t.Errorf("%s: %s forever %t", set.Group, key, forever)
			}
		}
	}
}

// What is set can be reverted, whatever the API server set before; the desired spec, which the
// operator creates pods from, is the same all along.
func TestTolerationsAreRevertedToTheirPreviousValues(t *testing.T) {
	for name, had := range map[string][]corev1.Toleration{
		"the defaults": {lostNode("not-ready", 300), lostNode("unreachable", 300)},
		"other times":  {lostNode("not-ready", 7), lostNode("unreachable", -1)},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			stagestest.Combined(tolerationsOn, onlyStateless, podOfStateless(func(p *corev1.Pod) { p.Spec.Tolerations = had }))(&s)
			g := s.Groups()[0]
			spec := hashOf(t, s, g)
			for _, annotated := range []map[string]string{s.Cluster.Annotations, nil} {
				s.Cluster.Annotations = annotated
				for _, a := range UpdateTolerations.Decide(s).Actions {
					s = a.(plan.Edit).Apply(s)
				}
				if d := UpdateTolerations.Decide(s); len(d.Actions) > 0 {
					t.Errorf("is not done: %v", stagestest.Described(d))
				}
				if annotated != nil && !suitable(s.Pod(g), safety.TolerationsFor(s.Cluster, g.ProcessClass)) {
					t.Errorf("set are %+v", s.Pod(g).Spec.Tolerations)
				}
			}
			if _, changed := plan.TolerationsBefore(s.Pod(g)); changed || !suitable(s.Pod(g), had) {
				t.Errorf("reverted to %+v, recorded %t", s.Pod(g).Spec.Tolerations, changed)
			}
			if got := hashOf(t, s, g); got != spec {
				t.Errorf("the desired spec changed from %s to %s", spec, got)
			}
		})
	}
}

func hashOf(t *testing.T, s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	t.Helper()
	pod, err := objects.Pod(s.Cluster, g)
	if err != nil {
		t.Fatal(err)
	}
	return pod.Annotations[v1beta2.AnnotationLastAppliedSpec]
}

func suitable(pod *corev1.Pod, want []corev1.Toleration) bool {
	if len(pod.Spec.Tolerations) != len(want) {
		return false
	}
	for i, w := range want {
		if have := pod.Spec.Tolerations[i]; !have.MatchToleration(&w) || (have.TolerationSeconds == nil) != (w.TolerationSeconds == nil) ||
			(w.TolerationSeconds != nil && *have.TolerationSeconds != *w.TolerationSeconds) {
			return false
		}
	}
	return true
}
