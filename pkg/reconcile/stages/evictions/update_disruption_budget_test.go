package evictions

import (
	"strings"
	"testing"

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
