package cluster

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
