package model

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func sameTeam(a, b []*StorageServer) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(ss *StorageServer) bool { return !slices.Contains(b, ss) })
}

// needsMove reports whether a shard is not where the policy wants it.
func (db *Database) needsMove(sh *Shard, groups []DataGroup) bool {
	want := 0
	for _, g := range groups {
		var in []*Process
		for _, ss := range sh.Replicas {
			if g.Holds(ss.Server) && db.HealthyHolder(ss) {
				in = append(in, ss.Server)
			}
		}
		if len(in) != g.Policy.Replicas() || !g.Policy.SatisfiedBy(in) {
			return true
		}
		want += g.Policy.Replicas()
	}
	return len(sh.Replicas) != want
}

// HealthyHolder reports whether data may stay on a storage server.
func (db *Database) HealthyHolder(ss *StorageServer) bool {
	return !ss.DeathNoticed && !db.Excluded(ss.Server) && db.fitForStorage(ss.Server)
}

// TeamFor chooses the storage servers that should hold a shard: those that
// already do where they may, else the emptiest. Nil when the policy cannot be
// met.
func (db *Database) TeamFor(sh *Shard, groups []DataGroup) []*StorageServer {
	load := map[*StorageServer]int64{}
	for _, o := range db.Shards {
		for _, ss := range o.Replicas {
			load[ss] += o.Bytes
		}
		if o.Move != nil {
			for _, ss := range o.Move.target {
				load[ss] += o.Bytes
			}
		}
	}
	var team []*StorageServer
	for _, g := range groups {
		part := db.teamIn(g, sh, load)
		if part == nil {
			return nil
		}
		team = append(team, part...)
	}
	return team
}

func (db *Database) teamIn(g DataGroup, sh *Shard, load map[*StorageServer]int64) []*StorageServer {
	var able []*StorageServer
	for _, ss := range db.Storage {
		if g.Holds(ss.Server) && ss.Answers() && db.HealthyHolder(ss) {
			able = append(able, ss)
		}
	}
	held := func(ss *StorageServer) int {
		if slices.Contains(sh.Replicas, ss) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(able, func(a, b *StorageServer) int {
		return cmp.Or(cmp.Compare(held(a), held(b)), cmp.Compare(load[a], load[b]), cmp.Compare(a.ID, b.ID))
	})
	servers := make([]*Process, len(able))
	for i, ss := range able {
		servers[i] = ss.Server
	}
	var team []*StorageServer
	for _, s := range g.Policy.pick(servers) {
		team = append(team, db.StorageOn(s))
	}
	return team
}

// DataGroup is where one full set of replicas lives: a region, or the whole
// cluster.
type DataGroup struct {
	Dc     string // "" for the whole cluster
	Policy Policy
}

// Holds reports whether the group may have its replicas on a process.
func (g DataGroup) Holds(s *Process) bool { return g.Dc == "" || s.Locality(fdb.LocalityDCID) == g.Dc }

// DataGroups are the groups that the configuration asks for, primary first.
func (db *Database) DataGroups() []DataGroup {
	conf := db.Configuration()
	if len(conf.Regions) == 0 {
		return []DataGroup{{Policy: conf.StoragePolicy}}
	}
	groups := []DataGroup{{Dc: db.Roles.PrimaryDC, Policy: conf.StoragePolicy}}
	if other := otherRegion(conf, db.Roles.PrimaryDC); conf.UsableRegions > 1 && other != "" {
		groups = append(groups, DataGroup{Dc: other, Policy: conf.StoragePolicy})
	}
	return groups
}

func (db *Database) inDataRegion(s *Process) bool {
	return slices.ContainsFunc(db.DataGroups(), func(g DataGroup) bool { return g.Holds(s) })
}

// holdsData reports whether a data center has a copy of everything.
func (db *Database) holdsData(dc string) bool {
	for _, sh := range db.Shards {
		if !slices.ContainsFunc(sh.Replicas, func(ss *StorageServer) bool { return ss.Server.Locality(fdb.LocalityDCID) == dc }) {
			return false
		}
	}
	return true
}

// ReplicatedIn reports whether a data center has all replicas of everything.
func (db *Database) ReplicatedIn(dc string, p Policy) bool {
	for _, sh := range db.Shards {
		var in []*Process
		for _, ss := range sh.Replicas {
			if ss.Server.Locality(fdb.LocalityDCID) == dc {
				in = append(in, ss.Server)
			}
		}
		if !p.SatisfiedBy(in) {
			return false
		}
	}
	return true
}
