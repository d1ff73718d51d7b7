package readings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Candidate is a process that can be chosen for a role that is spread over fault domains.
type Candidate struct {
	Group    v1beta2.ProcessGroupID
	Priority int
	// Localities by key: zoneid, dcid, data_hall. A missing one counts as "".
	Localities map[string]string
	Address    fdb.Address
}

// SpreadRule is over which localities a choice is spread.
type SpreadRule struct {
	// Fields are locality keys; the last one is relaxed first.
	Fields []string
	// Max is how many of the chosen may share one value of a field; a field without an entry has
	// no limit.
	Max map[string]int
	// Primary is the data center whose candidates are preferred; empty prefers none.
	Primary string
}

// Spread chooses count candidates, as evenly over the rule's fields as there are values. It
// starts with one per value of every field and allows one more of the last field that may still
// have more, whenever a pass over the candidates chose none; so spreading over zones has
// priority over spreading over data centers. It returns an error when the rule's limits leave
// too few.
func Spread(candidates []Candidate, count int, rule SpreadRule) ([]Candidate, error) {
	candidates = inOrder(candidates, rule.Primary)
	limits := map[string]int{}
	for _, field := range rule.Fields {
		limits[field] = 1
	}
	taken := map[v1beta2.ProcessGroupID]bool{}
	used := map[string]map[string]int{}
	var chosen []Candidate
	for len(chosen) < count {
		before := len(chosen)
		for _, c := range candidates {
			if len(chosen) == count {
				break
			}
			if taken[c.Group] || !fits(c, rule.Fields, limits, used) {
				continue
			}
			taken[c.Group] = true
			tally(c, rule.Fields, used)
			chosen = append(chosen, c)
		}
		if len(chosen) == before && !relax(limits, rule, count) {
			return nil, fmt.Errorf("only %d of %d candidates can be chosen within the limits of %v", len(chosen), count, rule.Fields)
		}
	}
	return chosen, nil
}

// inOrder sorts candidates: the primary data center first, then by priority, then by ID, so that
// the same facts always give the same choice.
func inOrder(candidates []Candidate, primary string) []Candidate {
	sorted := slices.Clone(candidates)
	stable.Sort(sorted, func(a, b Candidate) int {
		aFirst, bFirst := a.Localities[fdb.LocalityDCID] == primary, b.Localities[fdb.LocalityDCID] == primary
		if primary != "" && aFirst != bFirst {
			if aFirst {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
			return c
		}
		return cmp.Compare(a.Group, b.Group)
	})
	return sorted
}

func fits(c Candidate, fields []string, limits map[string]int, used map[string]map[string]int) bool {
	for _, field := range fields {
		if used[field][c.Localities[field]] >= limits[field] {
			return false
		}
	}
	return true
}

func tally(c Candidate, fields []string, used map[string]map[string]int) {
	for _, field := range fields {
		if used[field] == nil {
			used[field] = map[string]int{}
		}
		used[field][c.Localities[field]]++
	}
}

// relax allows one more of the last field that may have more, and reports whether there was one.
func relax(limits map[string]int, rule SpreadRule, count int) bool {
	for _, field := range slices.Backward(rule.Fields) {
		most, limited := rule.Max[field]
		if !limited {
			most = count
		}
		if limits[field] < most {
			limits[field]++
			return true
		}
	}
	return false
}

// OwnDisruptionBudget returns the PodDisruptionBudget that passes keep for the cluster; nil where
// there is none, or another client created one of that name.
func OwnDisruptionBudget(s plan.Snapshot) *policyv1.PodDisruptionBudget {
	budget := s.DisruptionBudgets[objects.DisruptionBudgetName(s.Cluster)]
	if budget == nil || s.Cluster.UID == "" || !metav1.IsControlledBy(budget, s.Cluster) {
		return nil
	}
	return budget
}

// PodsInDisruptionBudget counts the pods that the budget covers: those that exist and those that
// process groups still get. All of them count, drained ones too: an eviction that a drained pod
// made room for could take any other. The error is that of a spec whose labels are invalid.
func PodsInDisruptionBudget(s plan.Snapshot) (int, error) {
	selected, err := inDisruptionBudget(s)
	if err != nil {
		return 0, err
	}
	names := map[string]bool{}
	for name, pod := range s.Pods {
		if selected(pod.Labels) {
			names[name] = true
		}
	}
	for _, g := range s.Groups() {
		if !g.IsRemovable() && objects.InDisruptionBudget(g.ProcessClass) {
			names[g.PodName(s.Cluster)] = true
		}
	}
	return len(names), nil
}

// ConflictingDisruptionBudgets returns the names of other budgets that select a pod of the
// cluster's. Kubernetes supports one budget per pod, and refuses every eviction of one with two.
func ConflictingDisruptionBudgets(s plan.Snapshot) ([]string, error) {
	ours, err := inDisruptionBudget(s)
	if err != nil {
		return nil, err
	}
	own := OwnDisruptionBudget(s)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.DisruptionBudgets)) {
		budget := s.DisruptionBudgets[name]
		if budget == own {
			continue
		}
		theirs, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			continue // as for Kubernetes it selects nothing
		}
		if name == objects.DisruptionBudgetName(s.Cluster) || selectsBoth(s, ours, func(of map[string]string) bool { return theirs.Matches(labels.Set(of)) }) {
			names = append(names, name)
		}
	}
	return names, nil
}

func selectsBoth(s plan.Snapshot, a, b func(map[string]string) bool) bool {
	for _, pod := range s.Pods {
		if a(pod.Labels) && b(pod.Labels) {
			return true
		}
	}
	return false
}

// inDisruptionBudget returns whether the budget selects a pod with labels.
func inDisruptionBudget(s plan.Snapshot) (func(map[string]string) bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(objects.DisruptionBudget(s.Cluster, 0).Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("select the pods of the PodDisruptionBudget: %w", err)
	}
	return func(of map[string]string) bool { return selector.Matches(labels.Set(of)) }, nil
}
