package replacements

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ChooseRemovals marks surplus process groups for removal, so that the remaining ones are
// spread over fault domains as evenly as possible. Groups that do not report are removed
// first. Where pods are packed, the fullest buckets lose groups first.
//
// A group that the spec keeps is never chosen: its replacement is removed instead, see markOthers. If
// the spec keeps more groups than it desires, those above the desired count need a user.
//
// When one class shrinks, the operator also marks groups of all other classes that do not
// report; here only the class that shrinks is affected.
var ChooseRemovals = plan.Stage{
	Name:  plan.StageChooseRemovals,
	Reads: plan.ClusterResource | plan.Database,
	More:  readings.KeptFacets, Matters: func(s plan.Snapshot) bool { return len(s.Cluster.KeptProcessGroups()) > 0 },
	Decide: func(s plan.Snapshot) plan.Decision {
		surplus := SurplusGroups(s)
		if len(surplus) == 0 {
			return plan.Decision{}
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "cannot determine which process groups to remove", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
		}
		var marked []v1beta2.ProcessGroupID
		var words []string
		var kept readings.Waits
		for _, class := range slices.Sorted(maps.Keys(surplus)) {
			chosen, err := chooseMarked(s, class, surplus[class])
			if err != nil {
				return plan.Wait(plan.PodDelay, plan.HoldNoChoice, fmt.Sprintf("cannot choose which %s process groups stay: %v", class, err))
			}
			if len(chosen) > 0 {
				marked = append(marked, chosen...)
				words = append(words, fmt.Sprintf("%d %s", len(chosen), class))
			}
			if tooMany := surplus[class] - len(chosen); tooMany > 0 {
				noteTooManyKept(s, class, tooMany, &kept)
			}
		}
		d := plan.Decision{Hold: kept.Hold(plan.HoldSpecContradiction, "", 0)}
		if d.Hold != nil {
			d.Hold.Manual = true
		}
		if len(marked) > 0 {
			d.Why = "more than the desired process counts: " + strings.Join(words, ", ")
			d.Actions = []plan.Action{plan.MarkForRemoval{Groups: marked, At: s.Now}}
		}
		return d
	},
}

// noteTooManyKept records that the spec keeps more groups of a class than it desires.
func noteTooManyKept(s plan.Snapshot, class v1beta2.ProcessClass, tooMany int, kept *readings.Waits) {
	desired, ids := max(s.Cluster.DesiredProcessCounts()[class], 0), keptOf(s, class)
	for _, id := range ids {
		kept.Subjects = append(kept.Subjects, string(id))
	}
	kept.Reasons = append(kept.Reasons, fmt.Sprintf("%s desired by spec.processCounts or spec.databaseConfiguration, %d kept by %s (%s): raise the count by %d, or remove %d of them from the list",
		phrase.Count(desired, string(class)+" process group"), len(ids), readings.KeepField, readings.SomeOf(ids), tooMany, tooMany))
}

// keptOf returns the groups of a class that stay and that the spec keeps.
func keptOf(s plan.Snapshot, class v1beta2.ProcessClass) []v1beta2.ProcessGroupID {
	var kept []v1beta2.ProcessGroupID
	for _, g := range s.Remaining() {
		if g.ProcessClass == class && s.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
			kept = append(kept, g.ProcessGroupID)
		}
	}
	return kept
}

// SurplusGroups returns how many groups each class has too many, including classes that the
// spec does not contain.
func SurplusGroups(s plan.Snapshot) map[v1beta2.ProcessClass]int {
	desired := s.Cluster.DesiredProcessCounts()
	surplus := map[v1beta2.ProcessClass]int{}
	for _, g := range s.Remaining() {
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

// chooseMarked returns the groups of a class to remove: all but the best spread choice of
// those that stay. Where the spec keeps groups of the class there can be fewer than the surplus.
func chooseMarked(s plan.Snapshot, class v1beta2.ProcessClass, surplus int) ([]v1beta2.ProcessGroupID, error) {
	if len(keptOf(s, class)) > 0 {
		return markOthers(s, class, surplus), nil
	}
	var all []v1beta2.ProcessGroupID
	var candidates []readings.Candidate
	for _, g := range s.Remaining() {
		if g.ProcessClass != class {
			continue
		}
		all = append(all, g.ProcessGroupID)
		if processes := s.Database.Status.ProcessesOf(string(g.ProcessGroupID)); len(processes) > 0 {
			candidates = append(candidates, readings.Candidate{Group: g.ProcessGroupID, Localities: processes[0].Locality})
		}
	}
	remaining, err := bestSpread(s, class, candidates, len(all)-surplus)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(id v1beta2.ProcessGroupID) bool {
		return slices.ContainsFunc(remaining, func(c readings.Candidate) bool { return c.Group == id })
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
	var remaining []readings.Candidate
	for _, bucket := range keys {
		chosen, err := readings.Spread(buckets[bucket], tally.Of(class)[bucket], rule)
		if err != nil {
			return nil, err
		}
		remaining = append(remaining, chosen...)
	}
	return remaining, nil
}

// othersTally counts the process groups that stay of all classes but one.
func othersTally(s plan.Snapshot, d distribution.Distribution, class v1beta2.ProcessClass) distribution.Tally {
	return d.Count(slices.DeleteFunc(s.Remaining(), func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class }))
}
