package replacements

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ChooseRemovals marks surplus process groups for removal, so that the remaining ones are
// spread over fault domains as evenly as possible. Groups that do not report are removed
// first. Where pods are packed, the fullest buckets lose groups first.
//
// When one class shrinks, the operator also marks groups of all other classes that do not
// report; here only the class that shrinks is affected.
var ChooseRemovals = plan.Stage{
	Name:  plan.StageChooseRemovals,
	Reads: plan.Record | plan.Database,
	Decide: func(s plan.Snapshot) plan.Decision {
		surplus := SurplusGroups(s)
		if len(surplus) == 0 {
			return plan.Decision{}
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "cannot determine which process groups to remove", Detail: available.Evidence, RetryAfter: readings.PodDelay}}
		}
		var leaving []v1beta2.ProcessGroupID
		var words []string
		for _, class := range slices.Sorted(maps.Keys(surplus)) {
			chosen, err := chooseLeaving(s, class, surplus[class])
			if err != nil {
				return plan.Wait(readings.PodDelay, plan.HoldNoChoice, fmt.Sprintf("cannot choose which %s process groups stay: %v", class, err))
			}
			leaving = append(leaving, chosen...)
			words = append(words, fmt.Sprintf("%d %s", surplus[class], class))
		}
		return plan.Decision{
			Why:     "more than the desired process counts: " + strings.Join(words, ", "),
			Actions: []plan.Action{plan.MarkForRemoval{Groups: leaving, At: s.Now}},
		}
	},
}

// SurplusGroups returns how many groups each class has too many, including classes that the
// spec does not contain.
func SurplusGroups(s plan.Snapshot) map[v1beta2.ProcessClass]int {
	desired := s.Cluster.DesiredProcessCounts()
	surplus := map[v1beta2.ProcessClass]int{}
	for _, g := range s.Staying() {
		surplus[g.ProcessClass]++
	}
	for class, n := range surplus {
		if n -= max(desired[class], 0); n > 0 {
			surplus[class] = n
		} else {
			delete(surplus, class)
		}
	}
	return surplus
}

// chooseLeaving returns the groups of a class to remove: all but the best spread choice of
// those that stay.
func chooseLeaving(s plan.Snapshot, class v1beta2.ProcessClass, surplus int) ([]v1beta2.ProcessGroupID, error) {
	var all []v1beta2.ProcessGroupID
	var candidates []readings.Candidate
	for _, g := range s.Staying() {
		if g.ProcessClass != class {
			continue
		}
		all = append(all, g.ProcessGroupID)
		if processes := s.Database.Status.ProcessesOf(string(g.ProcessGroupID)); len(processes) > 0 {
			candidates = append(candidates, readings.Candidate{Group: g.ProcessGroupID, Localities: processes[0].Locality})
		}
	}
	staying, err := bestSpread(s, class, candidates, len(all)-surplus)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(id v1beta2.ProcessGroupID) bool {
		return slices.ContainsFunc(staying, func(c readings.Candidate) bool { return c.Group == id })
	}), nil
}

// bestSpread returns the candidates of a class that stay. Where the class is packed, the fullest
// buckets lose theirs first, and the fault domains decide within each bucket.
func bestSpread(s plan.Snapshot, class v1beta2.ProcessClass, candidates []readings.Candidate, count int) ([]readings.Candidate, error) {
	rule := readings.SpreadRule{Fields: []string{fdb.LocalityZoneID, fdb.LocalityDCID, fdb.LocalityDataHall}}
	d := distribution.Of(s.Cluster)
	if !d.Packs(class) || len(candidates) <= count {
		return readings.Spread(candidates, count, rule)
	}
	buckets := map[int][]readings.Candidate{}
	tally := othersTally(s, d, class)
	for _, c := range candidates {
		bucket, packed := d.BucketOf(s.Cluster.ProcessGroup(c.Group))
		if !packed {
			return readings.Spread(candidates, count, rule)
		}
		buckets[bucket] = append(buckets[bucket], c)
		tally.Add(class, bucket)
	}
	keys := slices.Sorted(maps.Keys(buckets))
	for range len(candidates) - count {
		tally.Remove(class, tally.Fullest(class, keys))
	}
	var staying []readings.Candidate
	for _, bucket := range keys {
		chosen, err := readings.Spread(buckets[bucket], tally.Of(class)[bucket], rule)
		if err != nil {
			return nil, err
		}
		staying = append(staying, chosen...)
	}
	return staying, nil
}

// othersTally counts the process groups that stay of all classes but one.
func othersTally(s plan.Snapshot, d distribution.Distribution, class v1beta2.ProcessClass) distribution.Tally {
	return d.Count(slices.DeleteFunc(s.Staying(), func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class }))
}
