package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// budgets returns the rules about PodDisruptionBudgets that select pods of the cluster, whoever
// created them.
func budgets() []Rule {
	return []Rule{
		{
			Code: "PDB-001", Severity: Warning, Title: "Kubernetes can compute every disruption budget",
			Why:  "Pods of a cluster have no controller with a scale, so Kubernetes cannot convert a percentage or maxUnavailable into a number of pods: it refuses every eviction, or counts wrong. Only an integer minAvailable works.",
			find: eachBudget(incomputable),
		},
		{
			Code: "PDB-002", Severity: Warning, Title: "No disruption budget refuses every eviction",
			Why:  "All pods are healthy and none may be evicted: kubectl drain, autoscalers and upgrades of nodes wait without end. kubectl fdb drain deletes pods and is not concerned.",
			find: eachBudget(closed),
		},
		{
			Code: "PDB-003", Severity: Warning, Title: "No pod is selected by two disruption budgets",
			Why:  "Kubernetes supports one budget per pod, and refuses to evict a pod that two of them select.",
			find: overlapping,
		},
	}
}

// unreadBudgets returns why the budgets cannot be judged; empty if they can.
func (o OtherControllers) unreadBudgets() string {
	if o.BudgetsUnread != "" {
		return "PodDisruptionBudgets could not be read: " + o.BudgetsUnread
	}
	return ""
}

// eachBudget returns the findings about each budget that selects a pod of the cluster. A budget
// that Kubernetes has not computed yet is not judged: its status is that of an older spec.
func eachBudget(judge func(Facts, *policyv1.PodDisruptionBudget) (found []Finding, unknown string)) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		var found []Finding
		untested := reasons{}
		untested.add("", f.Others.unreadBudgets())
		for _, b := range f.Others.budgetsByName() {
			if len(f.selectedBy(b)) == 0 {
				continue
			}
			more, unknown := judge(f, b)
			found = append(found, more...)
			untested.add(budgetSubject(b), unknown)
		}
		return found, untested.String()
	}
}

// incomputable finds a percentage or maxUnavailable.
func incomputable(f Facts, b *policyv1.PodDisruptionBudget) ([]Finding, string) {
	field := ""
	switch {
	case b.Spec.MaxUnavailable != nil:
		field = "maxUnavailable: " + b.Spec.MaxUnavailable.String()
	case b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.String:
		field = "minAvailable: " + b.Spec.MinAvailable.String()
	default:
		return nil, ""
	}
	message := fmt.Sprintf("%s of %s cannot be computed: use an integer minAvailable", field, phrase.Count(len(f.selectedBy(b)), "selected pod"))
	if failed := syncFailure(b); failed != nil {
		message += "; Kubernetes reports " + failed.Reason + ": " + failed.Message
	}
	return with(one(budgetSubject(b), message, "edit", "poddisruptionbudget", b.Name))
}

// closed finds a budget that allows no eviction although all of its pods are healthy.
func closed(f Facts, b *policyv1.PodDisruptionBudget) ([]Finding, string) {
	s := b.Status
	switch {
	case syncFailure(b) != nil:
		return with(one(budgetSubject(b), "Kubernetes could not compute it, and refuses every eviction", "describe", "poddisruptionbudget", b.Name))
	case s.ObservedGeneration < b.Generation:
		return nil, "Kubernetes has not computed its current spec yet"
	case s.DisruptionsAllowed > 0, s.ExpectedPods == 0, s.CurrentHealthy < s.ExpectedPods:
		return nil, ""
	}
	message := fmt.Sprintf("%s healthy, %d required: no pod may be evicted", phrase.CountOf(int(s.CurrentHealthy), int(s.ExpectedPods), "pod"), s.DesiredHealthy)
	if b.Name == objects.DisruptionBudgetName(f.Cluster) && metav1.IsControlledBy(b, f.Cluster) {
		return with(one(budgetSubject(b), message+"; a pass opens it once the database can lose any one pod", f.fix("plan")...))
	}
	return with(one(budgetSubject(b), message, "edit", "poddisruptionbudget", b.Name))
}

// syncFailure returns the condition by which Kubernetes reports that it cannot compute a budget;
// nil without one.
func syncFailure(b *policyv1.PodDisruptionBudget) *metav1.Condition {
	i := slices.IndexFunc(b.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == policyv1.DisruptionAllowedCondition && c.Reason == policyv1.SyncFailedReason
	})
	if i < 0 {
		return nil
	}
	return &b.Status.Conditions[i]
}

// overlapping finds pods that several budgets select: one finding for each set of budgets.
func overlapping(f Facts) ([]Finding, string) {
	of := map[string][]string{}
	for _, b := range f.Others.budgetsByName() {
		for _, name := range f.selectedBy(b) {
			of[name] = append(of[name], b.Name)
		}
	}
	bySet := map[string]*Finding{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if len(of[name]) < 2 {
			continue
		}
		set := strings.Join(of[name], ",")
		if bySet[set] == nil {
			bySet[set] = &Finding{
				Message: fmt.Sprintf("the PodDisruptionBudgets %s select it", phrase.List(of[name])),
				Fix:     append([]string{"get", "poddisruptionbudget"}, of[name]...),
			}
		}
		bySet[set].Subjects = append(bySet[set].Subjects, pod(name))
	}
	var found []Finding
	for _, set := range slices.Sorted(maps.Keys(bySet)) {
		found = append(found, *bySet[set])
	}
	return found, f.Others.unreadBudgets()
}

func budgetSubject(b *policyv1.PodDisruptionBudget) string { return "poddisruptionbudget/" + b.Name }

// selectedBy returns the names of the cluster's pods that a budget selects, sorted. A selector
// that is invalid selects nothing, as for Kubernetes.
func (f Facts) selectedBy(b *policyv1.PodDisruptionBudget) []string {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.Pods)) {
		if selector.Matches(labels.Set(f.Pods[name].Labels)) {
			names = append(names, name)
		}
	}
	return names
}
