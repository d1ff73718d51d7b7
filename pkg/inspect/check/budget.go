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

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// budgets returns the rules about PodDisruptionBudgets that select pods of the cluster, whoever
// created them.
func budgets() []Rule {
	return []Rule{
		{
			Code: "PDB-001", Severity: Warning, Title: "Kubernetes can compute every disruption budget",
			Why:  "Pods of a cluster have no controller with a scale, so Kubernetes cannot convert a percentage or maxUnavailable into a number of pods: it refuses every eviction, or counts wrong. Only an integer minAvailable works. It has to follow the number of pods, as the budget that passes keep does (annotation kubectl-fdb/pod-disruption-budgets).",
			Find: eachBudget(incomputable),
		},
		{
			Code: "PDB-002", Severity: Warning, Title: "No disruption budget refuses every eviction",
			Why:  "All pods are healthy and none may be evicted: kubectl drain, autoscalers and upgrades of nodes wait without end. The fix allows one eviction at a time; it has to be repeated when the number of pods changes, which passes do for their own budget. kubectl fdb drain deletes pods and is not concerned.",
			Find: eachBudget(closed),
		},
		{
			Code: "PDB-003", Severity: Warning, Title: "No pod is selected by two disruption budgets",
			Why:  "Kubernetes supports one budget per pod, and refuses to evict a pod that two of them select.",
			Find: overlapping,
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
	hint, fix := f.openBudget(b, f.podsOfBudget(b))
	return with(one(budgetSubject(b), message+hint, fix...))
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
	hint, fix := f.openBudget(b, int(s.ExpectedPods))
	return with(one(budgetSubject(b), message+hint, fix...))
}

// podsOfBudget returns how many pods a budget selects; 0 if it is unknown, since it may select pods
// of other workloads too.
func (f Facts) podsOfBudget(b *policyv1.PodDisruptionBudget) int {
	mine := len(f.selectedBy(b))
	if syncFailure(b) == nil && b.Status.ObservedGeneration >= b.Generation && int(b.Status.ExpectedPods) == mine {
		return mine
	}
	if b.Spec.Selector == nil {
		return 0
	}
	for key, value := range f.Cluster.MatchLabels() {
		if b.Spec.Selector.MatchLabels[key] != value {
			return 0
		}
	}
	return mine
}

// openBudget returns the command that makes a budget over so many pods allow one eviction at a time
// while all of them are healthy. Where an eviction would interrupt the only copy of something, it is a
// drain instead, with a hint.
func (f Facts) openBudget(b *policyv1.PodDisruptionBudget, pods int) (hint string, fix []string) {
	kind := "poddisruptionbudget"
	switch {
	case pods == 1 || f.singleCopyIn(b):
		hint = "; no budget can allow the eviction of the only copy: kubectl fdb drain moves it first"
		for _, name := range f.selectedBy(b) {
			if node := f.Pods[name].Spec.NodeName; node != "" {
				return hint, f.fix("drain", node, "--dry-run")
			}
		}
		return hint, []string{"describe", kind, b.Name}
	case pods == 0:
		return "; how many pods it selects is unknown, since its selector does not require the labels of the cluster", []string{"describe", kind, b.Name}
	}
	return "", []string{"patch", kind, b.Name, "--type", "merge", "-p", fmt.Sprintf(`{"spec":{"maxUnavailable":null,"minAvailable":%d}}`, pods-1)}
}

// singleCopyIn reports whether a budget selects a pod with the only copy of data or logs.
func (f Facts) singleCopyIn(b *policyv1.PodDisruptionBudget) bool {
	if f.Cluster.Spec.DatabaseConfiguration.RedundancyMode != v1beta2.RedundancyModeSingle && !safety.NeverDisruptable(f.Snapshot) {
		return false
	}
	selected := f.selectedBy(b)
	return slices.ContainsFunc(f.podsWithState(), func(g *v1beta2.ProcessGroupStatus) bool {
		return slices.Contains(selected, f.Pod(g).Name)
	})
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
		bySet[set].Subjects = append(bySet[set].Subjects, findings.Pod(name))
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
