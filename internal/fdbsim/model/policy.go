package model

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

// Policy is how replicas must be spread, from the widest step inwards.
type Policy []level

// AcrossZones is the policy of n replicas, each in a zone of its own.
func AcrossZones(n int) Policy { return Policy{{fdb.LocalityZoneID, n}} }

// Replicas is how many processes satisfy the policy exactly.
func (p Policy) Replicas() int {
	n := 1
	for _, l := range p {
		n *= l.count
	}
	return n
}

func (l level) valueOf(s *Process) string {
	if l.locality == fdb.LocalityZoneID {
		return s.Zone()
	}
	return s.Locality(l.locality)
}

// SatisfiedBy reports whether the processes are spread as the policy demands.
func (p Policy) SatisfiedBy(servers []*Process) bool {
	return p.pick(servers) != nil
}

// satisfiedWith reports whether the processes and any n of the others are spread as the policy
// demands.
func (p Policy) satisfiedWith(servers, others []*Process, n int) bool {
	if n == 0 || len(others) == 0 {
		return p.SatisfiedBy(servers)
	}
	for i, s := range others {
		if p.satisfiedWith(append(slices.Clip(servers), s), others[i+1:], n-1) {
			return true
		}
	}
	return p.SatisfiedBy(servers)
}

// pick chooses processes that satisfy the policy exactly, earlier ones first;
// nil when there are none.
func (p Policy) pick(servers []*Process) []*Process {
	if len(p) == 0 {
		if len(servers) == 0 {
			return nil
		}
		return servers[:1]
	}
	var picked []*Process
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
func (l level) groups(servers []*Process) [][]*Process {
	var groups [][]*Process
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
func (p Policy) spread(servers []*Process, n int) []*Process {
	chosen := p.pick(servers)
	if chosen == nil {
		return nil
	}
	chosen = slices.Clone(chosen)
	zones := map[string]int{}
	for _, s := range chosen {
		zones[s.Zone()]++
	}
	for len(chosen) < n {
		rest := slices.DeleteFunc(slices.Clone(servers), func(s *Process) bool { return slices.Contains(chosen, s) })
		if len(rest) == 0 {
			break
		}
		next := slices.MinFunc(rest, func(a, b *Process) int { return cmp.Compare(zones[a.Zone()], zones[b.Zone()]) })
		zones[next.Zone()]++
		chosen = append(chosen, next)
	}
	return chosen
}
