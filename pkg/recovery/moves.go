package recovery

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// moves returns where each coordinator is now, and why that cannot be determined.
func (f Facts) moves() (moves []Move, obstacles []string) {
	owners, by, obstacles := f.owners()
	for i, c := range f.Coordinators {
		g := owners[i]
		if g == nil {
			continue
		}
		address, err := fdb.ParseAddress(c.Address)
		switch {
		case err != nil:
			obstacles = append(obstacles, fmt.Sprintf("coordinator %s: %v", c.Address, err))
			continue
		case !address.IsIP():
			obstacles = append(obstacles, fmt.Sprintf("coordinator %s has a DNS name: it does not move", c.Address))
			continue
		}
		m := Move{Group: g.ID, Pod: g.Pod, From: c.Address, To: c.Address, By: by[i]}
		if !g.nowAt(address.Host) {
			if len(g.Now) != 1 {
				obstacles = append(obstacles, fmt.Sprintf("%s has %s, 1 required", g.Name(), phrase.Count(len(g.Now), "address")))
				continue
			}
			address.Host = g.Now[0]
			m.To = address.Coordinator()
		}
		moves = append(moves, m)
	}
	return moves, obstacles
}

// owners returns the process group of each coordinator: by its address in the status, or, for those
// that no status entry has, by the coordination files. These name a set of process groups, which is
// all that a connection string needs: the order of coordinators has no meaning.
func (f Facts) owners() (owners []*Group, by []Identification, obstacles []string) {
	owners, by = make([]*Group, len(f.Coordinators)), make([]Identification, len(f.Coordinators))
	holders := f.holders()
	var open []int
	for i, c := range f.Coordinators {
		g := f.groupOf(c)
		if g == nil || !g.Coordinates() {
			open = append(open, i)
			continue
		}
		owners[i], by[i] = g, ByStatus
		holders = slices.DeleteFunc(holders, func(h *Group) bool { return h.ID == g.ID })
	}
	if len(open) == 0 {
		return owners, by, nil
	}
	if len(open) != len(holders) {
		return owners, by, []string{fmt.Sprintf("%s cannot be identified by the status and their coordination files, and %s of others %s coordination state of this generation: which ones were coordinators is unknown",
			phrase.CountOf(len(open), len(f.Coordinators), "coordinator"), phrase.Count(len(holders), "volume"), phrase.Has(len(holders)))}
	}
	for n, i := range open {
		owners[i], by[i] = holders[n], ByFiles
	}
	return owners, by, nil
}

// holders are the process groups with coordination files.
func (f Facts) holders() []*Group {
	var all []*Group
	for i, g := range f.Groups {
		if g.Coordinates() {
			all = append(all, &f.Groups[i])
		}
	}
	return all
}

// obstacles are why a connection string with new addresses must not be written.
func (f Facts) obstacles() []string {
	var all []string
	if f.Quorum == nil {
		all = append(all, "whether a quorum of coordinators answers is unknown: "+f.Unknown)
	}
	if texts := f.strings(); len(texts) > 1 {
		all = append(all, fmt.Sprintf("%d different connection strings exist, 1 required: %s", len(texts), listed(texts)))
	}
	for _, c := range f.Coordinators {
		address, err := fdb.ParseAddress(c.Address)
		if err != nil {
			continue
		}
		switch now := f.at(address.Host); {
		case f.isOfAnother(c, now) && !now.isEmpty():
			all = append(all, fmt.Sprintf("%s is the address of %s now, which may have begun another coordination state", c.Address, now.Pod))
		case now == nil && isTrue(c.Reachable):
			all = append(all, fmt.Sprintf("%s answers, and belongs to no pod of the cluster", c.Address))
		}
	}
	if pods := f.emptyQuorum(); len(pods) > 0 {
		all = append(all, withoutState(pods))
	}
	for _, g := range f.Groups {
		if g.Files == nil {
			all = append(all, g.Name()+" could not be read: "+phrase.Or(g.Unread, "it has no running pod"))
		}
	}
	return all
}

// isOfAnother reports whether a process group has the address of a coordinator that is not its own by the
// status.
func (f Facts) isOfAnother(c Coordinator, now *Group) bool {
	owner := f.groupOf(c)
	return now != nil && (owner == nil || owner.ID != now.ID)
}

// isEmpty reports whether a process group has no coordination state, by its files.
func (g *Group) isEmpty() bool { return g.Files != nil && !g.Coordinates() }

// emptyQuorum returns the pods without state at addresses of coordinators, if they are a quorum; nil otherwise.
// They elect a cluster controller that knows of no database. Fewer cannot, and are no coordinators of
// a connection string with the addresses of those that have the state.
func (f Facts) emptyQuorum() []string {
	var pods []string
	for _, c := range f.Coordinators {
		if address, err := fdb.ParseAddress(c.Address); err == nil {
			if now := f.at(address.Host); f.isOfAnother(c, now) && now.isEmpty() {
				pods = append(pods, now.Pod)
			}
		}
	}
	if len(pods) < quorum(f) {
		return nil
	}
	return pods
}

// withoutState is the obstacle of an emptyQuorum.
func withoutState(pods []string) string {
	return fmt.Sprintf("%s %s addresses of coordinators now, and %s a quorum without state: delete these pods, so that they get other addresses",
		phrase.List(pods), phrase.Has(len(pods)), phrase.Is(len(pods)))
}

func listed(texts map[string][]string) string {
	var all []string
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, fmt.Sprintf("%s in %s", text, phrase.List(texts[text])))
	}
	return phrase.List(all)
}
