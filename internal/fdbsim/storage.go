package fdbsim

import (
	"slices"
	"time"
)

// storageServer is a storage role. It lives in a data directory and survives
// restarts of its process.
type storageServer struct {
	id      string
	disk    *disk
	server  *server // the process that serves it now, or served it last
	created time.Time
	engine  string
	// deathNoticed says that data distribution counts its replicas as lost.
	deathNoticed bool
}

// answers reports whether the role can be read from now.
func (ss *storageServer) answers() bool {
	return !ss.disk.lost && ss.server.alive() && ss.server.disk == ss.disk
}

// shard is a range of keys that moves as one.
type shard struct {
	bytes    int64
	replicas []*storageServer
	move     *move
}

// shardBytes is how large the shards of loaded data are.
const shardBytes = 25_000_000

// systemBytes is what a new database holds.
const systemBytes = 33_750

// createData makes the first shard of a new database.
func (db *database) createData() {
	db.recruitStorage()
	first := &shard{bytes: systemBytes}
	first.replicas = db.teamFor(first, db.dataGroups())
	db.shards = []*shard{first}
}

// recruitStorage gives a storage role to every process that should have one.
func (db *database) recruitStorage() {
	worst := db.storageFitnessNeeded()
	for _, s := range db.live() {
		if db.fitness(roleStorage, s) <= worst && db.inDataRegion(s) && db.storageOn(s) == nil {
			db.storage = append(db.storage, &storageServer{
				id: db.w.hex(16), disk: s.disk, server: s, created: db.w.now, engine: db.configuration().storageEngine(),
			})
		}
	}
}

// storageFitnessNeeded is the worst class that has to hold data so that the
// policy can be met: normally that of storage processes and processes without a
// class.
func (db *database) storageFitnessNeeded() fitness {
	for _, worst := range []fitness{unsetFit, worstFit} {
		if db.placeable(worst) {
			return worst
		}
	}
	return worstFit
}

// placeableIn reports whether a new database could keep its data, with a given
// primary data centre.
func (db *database) placeableIn(dc string) bool {
	db.crew.primaryDC = dc
	return db.placeable(worstFit)
}

func (db *database) placeable(worst fitness) bool {
	for _, g := range db.dataGroups() {
		var able []*server
		for _, s := range db.live() {
			if g.holds(s) && db.fitness(roleStorage, s) <= worst {
				able = append(able, s)
			}
		}
		if !g.policy.satisfiedBy(able) {
			return false
		}
	}
	return true
}

// storageOn is the storage role in a process's data directory, or nil.
func (db *database) storageOn(s *server) *storageServer {
	i := slices.IndexFunc(db.storage, func(ss *storageServer) bool { return ss.disk == s.disk })
	if i < 0 {
		return nil
	}
	return db.storage[i]
}

// noticeStorageDeath makes data distribution count a dead process's replicas as
// lost, unless it is back or its zone is under maintenance.
func (db *database) noticeStorageDeath(ss *storageServer, dead *server) {
	if ss.server != dead || ss.answers() {
		return
	}
	if db.underMaintenance(dead.zone()) || db.failuresIgnored() {
		db.w.after(time.Second, func() { db.noticeStorageDeath(ss, dead) })
		return
	}
	ss.deathNoticed = true
	db.wakeDistribution(0)
}

// dataLost makes the storage roles of a destroyed directory useless at once;
// that they are gone is noticed later, as for any dead process.
func (db *database) dataLost(d *disk) {
	for _, sh := range db.shards {
		if sh.move != nil && slices.ContainsFunc(sh.move.target, func(ss *storageServer) bool { return ss.disk == d }) {
			sh.move = nil
		}
	}
	db.wakeDistribution(0)
	db.reconsider()
}

// storedBytes is what a storage server holds.
func (db *database) storedBytes(ss *storageServer) int64 {
	var n int64
	for _, sh := range db.shards {
		if slices.Contains(sh.replicas, ss) {
			n += sh.bytes
		}
	}
	return n
}

// removable reports whether a storage server is neither wanted nor needed.
func (db *database) removable(ss *storageServer) bool {
	wanted := !ss.deathNoticed && !db.excluded(ss.server) && db.inDataRegion(ss.server) &&
		db.fitness(roleStorage, ss.server) <= db.storageFitnessNeeded()
	return !wanted && !db.holdsShards(ss)
}

func (db *database) holdsShards(ss *storageServer) bool {
	return slices.ContainsFunc(db.shards, func(sh *shard) bool {
		return slices.Contains(sh.replicas, ss) || (sh.move != nil && slices.Contains(sh.move.target, ss))
	})
}
