package fdbsim

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// level is one step of a replication policy: that many different values of a
// locality.
type level struct {
	locality string
	count    int
}

// policy is how replicas must be spread, from the widest step inwards.
type policy []level

func acrossZones(n int) policy { return policy{{fdb.LocalityZoneID, n}} }

// replicas is how many processes satisfy the policy exactly.
func (p policy) replicas() int {
	n := 1
	for _, l := range p {
		n *= l.count
	}
	return n
}

func (l level) valueOf(s *server) string {
	if l.locality == fdb.LocalityZoneID {
		return s.zone()
	}
	return s.locality(l.locality)
}

// satisfiedBy reports whether the processes are spread as the policy demands.
func (p policy) satisfiedBy(servers []*server) bool {
	return p.pick(servers) != nil
}

// pick chooses processes that satisfy the policy exactly, earlier ones first;
// nil when there are none.
func (p policy) pick(servers []*server) []*server {
	if len(p) == 0 {
		if len(servers) == 0 {
			return nil
		}
		return servers[:1]
	}
	var picked []*server
	taken := 0
	for _, group := range p[0].groups(servers) {
		if inner := p[1:].pick(group); inner != nil && taken < p[0].count {
			picked = append(picked, inner...)
			taken++
		}
	}
	if taken < p[0].count {
		return nil
	}
	return picked
}

// groups splits processes by their value of the level's locality, in order of
// first appearance. A process without the locality belongs nowhere.
func (l level) groups(servers []*server) [][]*server {
	var groups [][]*server
	index := map[string]int{}
	for _, s := range servers {
		v := l.valueOf(s)
		if v == "" {
			continue
		}
		i, seen := index[v]
		if !seen {
			i = len(groups)
			index[v] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// spread chooses up to n processes: first what the policy needs, then others,
// preferring zones that are not used yet.
func (p policy) spread(servers []*server, n int) []*server {
	chosen := p.pick(servers)
	if chosen == nil {
		return nil
	}
	chosen = slices.Clone(chosen)
	zones := map[string]int{}
	for _, s := range chosen {
		zones[s.zone()]++
	}
	for len(chosen) < n {
		rest := slices.DeleteFunc(slices.Clone(servers), func(s *server) bool { return slices.Contains(chosen, s) })
		if len(rest) == 0 {
			break
		}
		next := slices.MinFunc(rest, func(a, b *server) int { return cmp.Compare(zones[a.zone()], zones[b.zone()]) })
		zones[next.zone()]++
		chosen = append(chosen, next)
	}
	return chosen
}
