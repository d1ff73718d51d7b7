package cluster

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// AddProcessGroups adds as many new process groups to the status as each class lacks. Groups
// that are marked for removal do not count: their replacements are added first.
//
// New groups are added even while the database does not answer, since it may be down for
// lack of them. Which IDs it excludes is unknown then; a group that gets such an ID is
// reported as excluded once the database answers.
var AddProcessGroups = plan.Stage{
	Name:  plan.StageAddProcessGroups,
	Reads: plan.ClusterResource | plan.Database | plan.ConfigMap | plan.Pods | plan.Volumes | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		if lost := readings.LostDatabase(s); lost != nil {
			return plan.Decision{Hold: lost}
		}
		missing := missingGroups(s)
		if len(missing) == 0 {
			return plan.Decision{}
		}
		groups := newGroups(s, missing)
		return plan.Decision{
			Why:     shortfall(missing),
			Actions: []plan.Action{plan.AddGroups{Groups: groups, At: s.Now}},
		}
	},
}

// missingGroups returns how many process groups each class lacks.
func missingGroups(s plan.Snapshot) map[v1beta2.ProcessClass]int {
	missing := map[v1beta2.ProcessClass]int{}
	for class, want := range s.Cluster.DesiredProcessCounts() {
		if lacking := max(want, 0) - staying(s, class); lacking > 0 {
			missing[class] = lacking
		}
	}
	return missing
}

func staying(s plan.Snapshot, class v1beta2.ProcessClass) (n int) {
	for _, g := range s.Remaining() {
		if g.ProcessClass == class {
			n++
		}
	}
	return n
}

func shortfall(missing map[v1beta2.ProcessClass]int) string {
	words := make([]string, 0, len(missing))
	for _, class := range slices.Sorted(maps.Keys(missing)) {
		words = append(words, fmt.Sprintf("%d %s", missing[class], class))
	}
	return "fewer than the desired process counts: " + strings.Join(words, ", ")
}

// newGroups returns a group with a random unused ID for every missing one. Random numbers
// avoid confusion with an older group that had the same number.
func newGroups(s plan.Snapshot, missing map[v1beta2.ProcessClass]int) []plan.NewGroup {
	d := newDraw(s)
	var groups []plan.NewGroup
	for _, class := range slices.Sorted(maps.Keys(missing)) {
		random := rand.New(rand.NewPCG(s.Seed, classSeed(class))) // an ID is a name, not a secret
		for range missing[class] {
			groups = append(groups, plan.NewGroup{ID: d.next(class, random), Class: class})
		}
	}
	return groups
}

// usedNames returns the names of all existing and desired pods. Pod names omit the prefix
// of an ID, so two IDs can have the same pod name and PVC.
func usedNames(s plan.Snapshot) map[string]bool {
	used := map[string]bool{}
	for _, g := range s.Groups() {
		used[g.PodName(s.Cluster)] = true
	}
	for name := range s.Pods {
		used[name] = true
	}
	return used
}

func podNameOf(s plan.Snapshot, id v1beta2.ProcessGroupID, class v1beta2.ProcessClass) string {
	g := v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: class}
	return g.PodName(s.Cluster)
}

// usedIDs returns every ID that a new group must not get: those in the status, those that
// the spec removes or keeps, and those that the database still excludes.
func usedIDs(s plan.Snapshot) map[v1beta2.ProcessGroupID]bool {
	used := map[v1beta2.ProcessGroupID]bool{}
	for _, g := range s.Groups() {
		used[g.ProcessGroupID] = true
	}
	for _, ids := range [][]v1beta2.ProcessGroupID{s.Cluster.Spec.ProcessGroupsToRemove, s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion, s.Cluster.Spec.CancelReplacementsForInstance} {
		for _, id := range ids {
			used[id] = true
		}
	}
	for _, id := range excludedIDs(s) {
		used[id] = true
	}
	return used
}

func excludedIDs(s plan.Snapshot) []v1beta2.ProcessGroupID {
	if s.Database.Status == nil {
		return nil
	}
	var ids []v1beta2.ProcessGroupID
	for _, excluded := range s.Database.Status.ExcludedTargets() {
		if id, ok := strings.CutPrefix(excluded, fdb.LocalityExclusion(fdb.LocalityInstanceID, "")); ok {
			ids = append(ids, v1beta2.ProcessGroupID(id))
		}
	}
	return ids
}

func classSeed(class v1beta2.ProcessClass) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(class)) // a hash never fails
	return h.Sum64()
}

// draw chooses the IDs of new process groups, one after the other.
type draw struct {
	s plan.Snapshot
	// used are the IDs, and names the pods, that exist or were drawn.
	used  map[v1beta2.ProcessGroupID]bool
	names map[string]bool
	// packs is how pods are packed into fault domains, and tally counts the process groups that
	// stay by bucket.
	packs distribution.Distribution
	tally distribution.Tally
}

func newDraw(s plan.Snapshot) draw {
	packs := distribution.Of(s.Cluster)
	return draw{s: s, used: usedIDs(s), names: usedNames(s), packs: packs, tally: packs.Count(s.Remaining())}
}

// next returns a random unused ID. Where the class is packed, its number is of the bucket that needs
// one most: numbers that are random alone would often share a bucket.
func (d draw) next(class v1beta2.ProcessClass, random *rand.Rand) v1beta2.ProcessGroupID {
	if id, found := d.inBucket(class, random); found {
		return id
	}
	for {
		if id := d.s.Cluster.ProcessGroupIDFor(class, 1+random.IntN(v1beta2.MaxProcessGroupNumber)); d.take(id, class) {
			return id
		}
	}
}

// take marks an ID as used; it returns false if it is used already.
func (d draw) take(id v1beta2.ProcessGroupID, class v1beta2.ProcessClass) bool {
	if d.used[id] || d.names[podNameOf(d.s, id, class)] {
		return false
	}
	d.used[id] = true
	return true
}

// inBucket returns an ID in the emptiest bucket with an unused number. It returns false for a class
// that is not packed.
func (d draw) inBucket(class v1beta2.ProcessClass, random *rand.Rand) (v1beta2.ProcessGroupID, bool) {
	if !d.packs.Packs(class) {
		return "", false
	}
	closed := map[int]bool{}
	for {
		bucket, open := d.tally.Emptiest(class, closed)
		if !open {
			return "", false
		}
		if id, found := d.ofBucket(class, bucket, random); found {
			d.tally.Add(class, bucket)
			return id, true
		}
		closed[bucket] = true
	}
}

// ofBucket returns an ID with a random unused number of a bucket; false if all are used.
func (d draw) ofBucket(class v1beta2.ProcessClass, bucket int, random *rand.Rand) (v1beta2.ProcessGroupID, bool) {
	domains, first := d.packs.Domains(), bucket
	if first == 0 {
		first = domains // numbers begin with 1
	}
	count := (v1beta2.MaxProcessGroupNumber-first)/domains + 1
	start := random.IntN(count)
	for i := range count {
		if id := d.s.Cluster.ProcessGroupIDFor(class, first+(start+i)%count*domains); d.take(id, class) {
			return id, true
		}
	}
	return "", false
}
