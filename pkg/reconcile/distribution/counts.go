package distribution

import (
	"cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Counts are numbers of process groups by bucket.
type Counts []int

// Balanced reports whether no bucket has more than one process group more than another.
func (c Counts) Balanced() bool {
	least, most := c[0], c[0]
	for _, n := range c {
		least, most = min(least, n), max(most, n)
	}
	return most-least <= 1
}

// Tally counts process groups by bucket, for each class and each pack.
type Tally struct {
	distribution Distribution
	classes      map[v1beta2.ProcessClass]Counts
	packs        map[string]Counts
}

// Count returns the counts of process groups; those without a bucket are not counted.
func (d Distribution) Count(groups []*v1beta2.ProcessGroupStatus) Tally {
	t := Tally{d, map[v1beta2.ProcessClass]Counts{}, map[string]Counts{}}
	for _, g := range groups {
		if bucket, packed := d.BucketOf(g); packed {
			t.Add(g.ProcessClass, bucket)
		}
	}
	return t
}

// Of returns the counts of a class, which packs.
func (t Tally) Of(class v1beta2.ProcessClass) Counts {
	if t.classes[class] == nil {
		t.classes[class] = make(Counts, t.distribution.Domains())
	}
	return t.classes[class]
}

// OfPack returns the counts of the pack of a class.
func (t Tally) OfPack(class v1beta2.ProcessClass) Counts {
	pack := t.distribution.Pack(class)
	if t.packs[pack] == nil {
		t.packs[pack] = make(Counts, t.distribution.Domains())
	}
	return t.packs[pack]
}

// Add counts one more process group.
func (t Tally) Add(class v1beta2.ProcessClass, bucket int) { t.add(class, bucket, 1) }

// Remove counts one less.
func (t Tally) Remove(class v1beta2.ProcessClass, bucket int) { t.add(class, bucket, -1) }

func (t Tally) add(class v1beta2.ProcessClass, bucket, n int) {
	t.Of(class)[bucket] += n
	t.OfPack(class)[bucket] += n
}

// Emptiest returns the bucket for a new process group of a class: the one with the fewest of its
// class, of these with the fewest of its pack, of these the lowest. Closed buckets are omitted; it
// returns false if all are closed.
func (t Tally) Emptiest(class v1beta2.ProcessClass, closed map[int]bool) (bucket int, found bool) {
	own, pack := t.Of(class), t.OfPack(class)
	for b := range own {
		if closed[b] {
			continue
		}
		if !found || cmp.Or(cmp.Compare(own[b], own[bucket]), cmp.Compare(pack[b], pack[bucket])) < 0 {
			bucket, found = b, true
		}
	}
	return bucket, found
}

// Fullest returns the bucket that a process group of a class leaves first: the opposite of
// Emptiest. It is one of the given buckets, of which there is at least one.
func (t Tally) Fullest(class v1beta2.ProcessClass, of []int) int {
	own, pack := t.Of(class), t.OfPack(class)
	fullest := of[0]
	for _, b := range of[1:] {
		if cmp.Or(cmp.Compare(own[b], own[fullest]), cmp.Compare(pack[b], pack[fullest]), cmp.Compare(b, fullest)) > 0 {
			fullest = b
		}
	}
	return fullest
}

// Member is one process group of a class.
type Member struct {
	Bucket int
	// Leaves is true if the process group is replaced anyway.
	Leaves bool
}

// Excess returns the indexes of the fewest members, all of one class, that have to leave their
// buckets so that the rest and new ones, total process groups in all, can be balanced. Members that
// leave anyway are not among them. The first members of a bucket stay.
func Excess(members []Member, total, domains int) []int {
	present := make(Counts, domains)
	for _, m := range members {
		if !m.Leaves {
			present[m.Bucket]++
		}
	}
	quotas := quotasFor(present, total)
	var excess []int
	for i, m := range members {
		switch {
		case m.Leaves:
		case quotas[m.Bucket] == 0:
			excess = append(excess, i)
		default:
			quotas[m.Bucket]--
		}
	}
	return excess
}

// quotasFor returns how many process groups each bucket may keep. Where total is not divisible, the
// lowest buckets that have one more keep it.
func quotasFor(present Counts, total int) Counts {
	least, larger := total/len(present), total%len(present)
	quotas := make(Counts, len(present))
	for b := range quotas {
		quotas[b] = least
		if present[b] > least && larger > 0 {
			quotas[b]++
			larger--
		}
	}
	return quotas
}
