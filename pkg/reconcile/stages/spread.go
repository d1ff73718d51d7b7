package stages

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// candidate is a process that can be chosen for a role that is spread over fault domains.
type candidate struct {
	group    v1beta2.ProcessGroupID
	priority int
	// localities by key: zoneid, dcid, data_hall. A missing one counts as "".
	localities map[string]string
	address    fdb.Address
}

// spreadRule is over which localities a choice is spread.
type spreadRule struct {
	// fields are locality keys; the last one is relaxed first.
	fields []string
	// most is how many of the chosen may share one value of a field; a field without an entry has
	// no limit.
	most map[string]int
	// primary is the data center whose candidates are preferred; empty prefers none.
	primary string
}

// spread chooses count candidates, as evenly over the rule's fields as there are values. It
// starts with one per value of every field and allows one more of the last field that may still
// have more, whenever a pass over the candidates chose none; so spreading over zones has
// priority over spreading over data centers. It returns an error when the rule's limits leave
// too few.
func spread(candidates []candidate, count int, rule spreadRule) ([]candidate, error) {
	candidates = inOrder(candidates, rule.primary)
	limits := map[string]int{}
	for _, field := range rule.fields {
		limits[field] = 1
	}
	taken := map[v1beta2.ProcessGroupID]bool{}
	used := map[string]map[string]int{}
	var chosen []candidate
	for len(chosen) < count {
		before := len(chosen)
		for _, c := range candidates {
			if len(chosen) == count {
				break
			}
			if taken[c.group] || !fits(c, rule.fields, limits, used) {
				continue
			}
			taken[c.group] = true
			tally(c, rule.fields, used)
			chosen = append(chosen, c)
		}
		if len(chosen) == before && !relax(limits, rule, count) {
			return nil, fmt.Errorf("only %d of %d candidates can be chosen within the limits of %v", len(chosen), count, rule.fields)
		}
	}
	return chosen, nil
}

// inOrder sorts candidates: the primary data center first, then by priority, then by ID, so that
// the same facts always give the same choice.
func inOrder(candidates []candidate, primary string) []candidate {
	sorted := slices.Clone(candidates)
	slices.SortStableFunc(sorted, func(a, b candidate) int {
		aFirst, bFirst := a.localities[fdb.LocalityDCID] == primary, b.localities[fdb.LocalityDCID] == primary
		if primary != "" && aFirst != bFirst {
			if aFirst {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(b.priority, a.priority); c != 0 {
			return c
		}
		return cmp.Compare(a.group, b.group)
	})
	return sorted
}

func fits(c candidate, fields []string, limits map[string]int, used map[string]map[string]int) bool {
	for _, field := range fields {
		if used[field][c.localities[field]] >= limits[field] {
			return false
		}
	}
	return true
}

func tally(c candidate, fields []string, used map[string]map[string]int) {
	for _, field := range fields {
		if used[field] == nil {
			used[field] = map[string]int{}
		}
		used[field][c.localities[field]]++
	}
}

// relax allows one more of the last field that may have more, and reports whether there was one.
func relax(limits map[string]int, rule spreadRule, count int) bool {
	for _, field := range slices.Backward(rule.fields) {
		most, limited := rule.most[field]
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
