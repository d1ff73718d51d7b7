package evictions

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestAgentPodsTolerateALostNodeForAMinuteIfRequested(t *testing.T) {
	minute := []corev1.Toleration{
		{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(60))},
		{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(60))},
	}
	sets := []string{"set how long pod agent-1 tolerates a lost node: not-ready 60 s, unreachable 60 s"}
	for name, tc := range map[string]struct {
		annotation string
		given      func(*v1beta2.FoundationDBBackup, *corev1.Pod)
		does       []string
		manual     bool
	}{
		"not requested":  {"", func(*v1beta2.FoundationDBBackup, *corev1.Pod) {}, nil, false},
		"requested":      {"true", func(*v1beta2.FoundationDBBackup, *corev1.Pod) {}, sets, false},
		"done":           {"true", func(_ *v1beta2.FoundationDBBackup, p *corev1.Pod) { p.Spec.Tolerations = minute }, nil, false},
		"invalid":        {"maybe", func(*v1beta2.FoundationDBBackup, *corev1.Pod) {}, nil, true},
		"another backup": {"true", func(_ *v1beta2.FoundationDBBackup, p *corev1.Pod) { p.Labels[v1beta2.LabelDeploymentName] = "other" }, nil, false},
		"a template that tolerates everything": {"true", func(b *v1beta2.FoundationDBBackup, _ *corev1.Pod) {
			b.Spec.PodTemplateSpec = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}}
		}, nil, false},
		"not requested any more": {"false", func(_ *v1beta2.FoundationDBBackup, p *corev1.Pod) {
			p.Spec.Tolerations = minute
			p.Annotations = map[string]string{plan.AnnotationTolerationsBefore: `{"node.kubernetes.io/not-ready":300}`}
		}, []string{"set how long pod agent-1 tolerates a lost node: not-ready 300 s"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "daily", Annotations: map[string]string{}}}
			if tc.annotation != "" {
				b.Annotations[plan.AnnotationTolerations] = tc.annotation
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "agent-1", Labels: map[string]string{v1beta2.LabelDeploymentName: b.DeploymentName()}}}
			tc.given(b, pod)
			s := plan.Snapshot{Backup: b, Agents: plan.AgentFacts{Pods: map[string]*corev1.Pod{"agent-1": pod}}}
			d := UpdateAgentTolerations.Decide(s)
			stagestest.Explained(t, d)
			got := stagestest.Described(d)
			if len(got) != len(tc.does) || len(got) == 1 && got[0] != tc.does[0] || (d.Hold != nil) != tc.manual {
				t.Errorf("%v, held %q, want %v", got, stagestest.Reason(d), tc.does)
			}
			for _, a := range d.Actions {
				if changed := a.(plan.Edit).Apply(s); len(UpdateAgentTolerations.Decide(changed).Actions) > 0 {
					t.Error("is not done by its action")
				}
			}
		})
	}
}

func budgetRequest(value string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Annotations = map[string]string{plan.AnnotationDisruptionBudgets: value}
	}
}

// budgetOf adds the cluster's own budget.
func budgetOf(stay int, edits ...func(*policyv1.PodDisruptionBudget)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		budget := objects.DisruptionBudget(s.Cluster, stay)
		for _, edit := range edits {
			edit(budget)
		}
		s.DisruptionBudgets = map[string]*policyv1.PodDisruptionBudget{budget.Name: budget}
	}
}

// foreignBudget adds one that a user created for pods with labels.
func foreignBudget(name string, selected map[string]string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		if s.DisruptionBudgets == nil {
			s.DisruptionBudgets = map[string]*policyv1.PodDisruptionBudget{}
		}
		s.DisruptionBudgets[name] = &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: selected}},
		}
	}
}

// The healthy cluster has 7 pods with data: 4 of class log and 3 of class storage.
func TestUpdateDisruptionBudget(t *testing.T) {
	on := budgetRequest("true")
	with := stagestest.Combined
	startedLately := func(s *plan.Snapshot) {
		stagestest.EditProcess(s, stagestest.FirstOf(*s, "storage"), func(p *fdb.Process) { p.UptimeSeconds = new(5.0) })
	}
	const closed = "the PodDisruptionBudget allows no eviction"
	stagestest.Decides(t, UpdateDisruptionBudget, map[string]stagestest.Decision{
		"does nothing that is not requested": {Given: func(*plan.Snapshot) {}},
		"does nothing when it is off":        {Given: budgetRequest("false")},
		"does not guess":                     {Given: budgetRequest("yes"), Holds: `"yes": must be true or false`, Manual: true},
		"creates it":                         {Given: on, Does: []string{"create PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"}},
		"is done":                            {Given: with(on, budgetOf(6))},
		"creates it closed where a pod is too much to lose": {
			Given: with(on, startedLately), Does: []string{"create PodDisruptionBudget sample-stateful: 7 of 7 pods must stay"}, Holds: closed,
		},
		"closes it": {Given: with(on, budgetOf(6), startedLately), Does: []string{"update PodDisruptionBudget sample-stateful: 7 of 7 pods must stay"}, Holds: closed},
		"closes it while the database does not answer": {
			Given: with(on, budgetOf(6), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }),
			Does:  []string{"update PodDisruptionBudget sample-stateful: 7 of 7 pods must stay"}, Holds: "timed out",
		},
		"opens it again":    {Given: with(on, budgetOf(7)), Does: []string{"update PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"}},
		"waits for no copy": {Given: with(on, budgetOf(7), inSingleMode)},
		"counts a group that has no pod yet": {
			Given: with(on, budgetOf(6), addedGroup), Does: []string{"update PodDisruptionBudget sample-stateful: 8 of 8 pods must stay"}, Holds: closed,
		},
		"counts a drained group as long as it has a pod": {Given: with(on, budgetOf(6), drainedLog)},
		"does not count a group that is removed": {
			Given: with(on, budgetOf(6), drainedLog, func(s *plan.Snapshot) {
				g := s.Cluster.ProcessGroup(stagestest.OneGroup)
				g.SetCondition(v1beta2.ConditionResourcesTerminating, stagestest.Noon)
				delete(s.Pods, g.PodName(s.Cluster))
				stagestest.DropProcess(s, g)
			}),
			Does: []string{"update PodDisruptionBudget sample-stateful: 5 of 6 pods must stay"},
		},
		"counts a pod without a group": {
			Given: with(on, budgetOf(6), func(s *plan.Snapshot) {
				orphan := s.Pod(stagestest.FirstOf(*s, "storage")).DeepCopy()
				orphan.Name = "sample-storage-999"
				s.Pods[orphan.Name] = orphan
			}),
			Does: []string{"update PodDisruptionBudget sample-stateful: 7 of 8 pods must stay"},
		},
		"corrects another selector": {
			Given: with(on, budgetOf(6, func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchExpressions = nil })),
			Does:  []string{"update PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"},
		},
		"corrects another policy for pods that are not ready": {
			Given: with(on, budgetOf(6, func(b *policyv1.PodDisruptionBudget) {
				b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
			})),
			Does: []string{"update PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"},
		},
		"adds labels": {
			Given: with(on, budgetOf(6, func(b *policyv1.PodDisruptionBudget) { b.Labels = nil })),
			Does:  []string{"update PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"},
		},
		"deletes it once it is not requested any more": {Given: budgetOf(6), Does: []string{"delete PodDisruptionBudget sample-stateful"}},
		"deletes it where it is off":                   {Given: with(budgetRequest("false"), budgetOf(6)), Does: []string{"delete PodDisruptionBudget sample-stateful"}},
		"deletes none twice":                           {Given: budgetOf(6, func(b *policyv1.PodDisruptionBudget) { b.DeletionTimestamp = new(stagestest.NoonTime()) })},
		"keeps one of its name that is a user's":       {Given: budgetOf(6, func(b *policyv1.PodDisruptionBudget) { b.OwnerReferences = nil })},
		"creates none beside a user's of its name": {
			Given: with(on, budgetOf(6, func(b *policyv1.PodDisruptionBudget) { b.OwnerReferences = nil })), Holds: "PodDisruptionBudget sample-stateful selects", Manual: true,
		},
		"creates none beside one of the same pods": {
			Given: with(on, foreignBudget("mine", map[string]string{v1beta2.LabelProcessClass: "log"})), Holds: "PodDisruptionBudget mine selects", Manual: true,
		},
		"creates none beside one of all pods": {Given: with(on, foreignBudget("all", nil)), Holds: "PodDisruptionBudget all selects", Manual: true},
		"keeps its own beside one of the same pods": {
			Given: with(on, budgetOf(7), foreignBudget("mine", map[string]string{v1beta2.LabelProcessClass: "log"})),
			Does:  []string{"update PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"}, Holds: "PodDisruptionBudget mine selects", Manual: true,
		},
		"does not mind one of stateless pods": {
			Given: with(on, foreignBudget("mine", map[string]string{v1beta2.LabelProcessClass: "stateless"})),
			Does:  []string{"create PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"},
		},
		"does not mind one without a selector": {
			Given: with(on, foreignBudget("none", nil), func(s *plan.Snapshot) { s.DisruptionBudgets["none"].Spec.Selector = nil }),
			Does:  []string{"create PodDisruptionBudget sample-stateful: 6 of 7 pods must stay"},
		},
		"reports that budgets may not be read": {
			Given: with(on, func(s *plan.Snapshot) { s.DisruptionBudgetsHidden = "listing is forbidden" }), Holds: "listing is forbidden", Manual: true,
		},
		"needs no permission where it is off": {Given: func(s *plan.Snapshot) { s.DisruptionBudgetsHidden = "listing is forbidden" }},
	})
}

func inSingleMode(s *plan.Snapshot) {
	s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
	s.Database.Status.Cluster.Configuration.RedundancyMode = "single"
}

func addedGroup(s *plan.Snapshot) {
	s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-200", ProcessClass: "storage"})
}

func drainedLog(s *plan.Snapshot) { stagestest.OnItsWayOut(s) }

// Of two budgets for two classes each would allow an eviction, and both pods may be coordinators.
func TestOneDisruptionBudgetCoversAllStatefulPods(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	budgetRequest("true")(&s)
	d := UpdateDisruptionBudget.Decide(s)
	if len(d.Actions) != 1 || !safety.Met(d.Checks) {
		t.Fatalf("%v, %+v", stagestest.Described(d), d.Checks)
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Actions[0].(plan.ApplyDisruptionBudget).Object.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Groups() {
		if want := !safety.HoldsNothing(s, g); selector.Matches(labels.Set(s.Pod(g).Labels)) != want {
			t.Errorf("%s is in the budget: %t, want %t", g.ProcessGroupID, !want, want)
		}
	}
}

func TestADisruptionBudgetConflictNamesTheOtherBudgets(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.Combined(budgetRequest("true"), foreignBudget("b", nil), foreignBudget("a", nil))(&s)
	hold := UpdateDisruptionBudget.Decide(s).Hold
	if hold == nil || hold.Code != plan.HoldBudgetConflict || strings.Join(hold.Subjects, ",") != "a,b" {
		t.Errorf("%+v", hold)
	}
}

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
