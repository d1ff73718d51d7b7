package fdbsim

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func sameTeam(a, b []*storageServer) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(ss *storageServer) bool { return !slices.Contains(b, ss) })
}

// needsMove reports whether a shard is not where the policy wants it.
func (db *database) needsMove(sh *shard, groups []dataGroup) bool {
	want := 0
	for _, g := range groups {
		var in []*server
		for _, ss := range sh.replicas {
			if g.holds(ss.server) && db.healthyHolder(ss) {
				in = append(in, ss.server)
			}
		}
		if len(in) != g.policy.replicas() || !g.policy.satisfiedBy(in) {
			return true
		}
		want += g.policy.replicas()
	}
	return len(sh.replicas) != want
}

// healthyHolder reports whether data may stay on a storage server.
func (db *database) healthyHolder(ss *storageServer) bool {
	return !ss.deathNoticed && !db.excluded(ss.server) &&
		db.fitness(roleStorage, ss.server) <= max(unsetFit, db.storageFitnessNeeded())
}

// teamFor chooses the storage servers that should hold a shard: those that
// already do where they may, else the emptiest. Nil when the policy cannot be
// met.
func (db *database) teamFor(sh *shard, groups []dataGroup) []*storageServer {
	load := map[*storageServer]int64{}
	for _, o := range db.shards {
		for _, ss := range o.replicas {
			load[ss] += o.bytes
		}
		if o.move != nil {
			for _, ss := range o.move.target {
				load[ss] += o.bytes
			}
		}
	}
	var team []*storageServer
	for _, g := range groups {
		part := db.teamIn(g, sh, load)
		if part == nil {
			return nil
		}
		team = append(team, part...)
	}
	return team
}

func (db *database) teamIn(g dataGroup, sh *shard, load map[*storageServer]int64) []*storageServer {
	var able []*storageServer
	for _, ss := range db.storage {
		if g.holds(ss.server) && ss.answers() && db.healthyHolder(ss) {
			able = append(able, ss)
		}
	}
	held := func(ss *storageServer) int {
		if slices.Contains(sh.replicas, ss) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(able, func(a, b *storageServer) int {
		return cmp.Or(cmp.Compare(held(a), held(b)), cmp.Compare(load[a], load[b]), cmp.Compare(a.id, b.id))
	})
	servers := make([]*server, len(able))
	for i, ss := range able {
		servers[i] = ss.server
	}
	var team []*storageServer
	for _, s := range g.policy.pick(servers) {
		team = append(team, db.storageOn(s))
	}
	return team
}

// dataGroup is where one full set of replicas lives: a region, or the whole
// cluster.
type dataGroup struct {
	dc     string // "" for the whole cluster
	policy policy
}

func (g dataGroup) holds(s *server) bool { return g.dc == "" || s.locality(fdb.LocalityDCID) == g.dc }

// dataGroups are the groups that the configuration asks for, primary first.
func (db *database) dataGroups() []dataGroup {
	conf := db.configuration()
	if len(conf.regions) == 0 {
		return []dataGroup{{policy: conf.storagePolicy}}
	}
	groups := []dataGroup{{dc: db.crew.primaryDC, policy: conf.storagePolicy}}
	if other := otherRegion(conf, db.crew.primaryDC); conf.usableRegions > 1 && other != "" {
		groups = append(groups, dataGroup{dc: other, policy: conf.storagePolicy})
	}
	return groups
}

func (db *database) inDataRegion(s *server) bool {
	return slices.ContainsFunc(db.dataGroups(), func(g dataGroup) bool { return g.holds(s) })
}

// holdsData reports whether a data centre has a copy of everything.
func (db *database) holdsData(dc string) bool {
	for _, sh := range db.shards {
		if !slices.ContainsFunc(sh.replicas, func(ss *storageServer) bool { return ss.server.locality(fdb.LocalityDCID) == dc }) {
			return false
		}
	}
	return true
}
