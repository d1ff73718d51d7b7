package model

import (
	"slices"
	"time"
)

// StorageServer is a storage role. It lives in a data directory and survives
// restarts of its process.
type StorageServer struct {
	ID      string
	Disk    *Disk
	Server  *Process // the process that serves it now, or served it last
	Created time.Time
	Engine  string
	// DeathNoticed is whether data distribution counts its replicas as lost.
	DeathNoticed bool
}

// Answers reports whether the role can be read from now.
func (ss *StorageServer) Answers() bool {
	return !ss.Disk.Lost && ss.Server.Alive() && ss.Server.Disk == ss.Disk
}

// Shard is a range of keys that moves as one.
type Shard struct {
	Bytes    int64
	Replicas []*StorageServer
	Move     *move
}

// ShardBytes is how large the shards of loaded data are.
const ShardBytes = 25_000_000

// systemBytes is what a new database holds.
const systemBytes = 33_750

// createData makes the first shard of a new database.
func (db *Database) createData() {
	db.recruitStorage()
	first := &Shard{Bytes: systemBytes}
	first.Replicas = db.TeamFor(first, db.DataGroups())
	db.Shards = []*Shard{first}
}

// recruitStorage gives a storage role to every process that should have one. A process at
// the address of a storage server whose death is unnoticed counts as having one.
func (db *Database) recruitStorage() {
	worst := db.storageFitnessNeeded()
	for _, s := range db.Live() {
		if db.fitness(RoleStorage, s) <= worst && db.inDataRegion(s) && db.StorageOn(s) == nil && db.Emptied(s) == nil {
			db.Storage = append(db.Storage, &StorageServer{
				ID: db.Simulation.Hex(16), Disk: s.Disk, Server: s, Created: db.Simulation.Now, Engine: db.Configuration().StorageEngine(),
			})
		}
	}
}

// storageFitnessNeeded is the worst class that has to hold data so that the
// policy can be met: normally that of storage processes and processes without a
// class.
func (db *Database) storageFitnessNeeded() fitness {
	for _, worst := range []fitness{unsetFit, worstFit} {
		if db.placeable(worst) {
			return worst
		}
	}
	return worstFit
}

// fitForStorage reports whether a process may hold data. What the policy needs is computed, which looks
// at all processes, only for one of a class that is not meant for it.
func (db *Database) fitForStorage(s *Process) bool {
	f := db.fitness(RoleStorage, s)
	return f <= unsetFit || f <= db.storageFitnessNeeded()
}

// placeableIn reports whether a new database could keep its data, with a given
// primary data center.
func (db *Database) placeableIn(dc string) bool {
	db.Roles.PrimaryDC = dc
	return db.placeable(worstFit)
}

func (db *Database) placeable(worst fitness) bool {
	for _, g := range db.DataGroups() {
		var able []*Process
		for _, s := range db.Live() {
			if g.Holds(s) && db.fitness(RoleStorage, s) <= worst {
				able = append(able, s)
			}
		}
		if !g.Policy.SatisfiedBy(able) {
			return false
		}
	}
	return true
}

// StorageOn is the storage role in a process's data directory, or nil.
func (db *Database) StorageOn(s *Process) *StorageServer {
	i := slices.IndexFunc(db.Storage, func(ss *StorageServer) bool { return ss.Disk == s.Disk })
	if i < 0 {
		return nil
	}
	return db.Storage[i]
}

// Emptied is the storage server that a process at this address ran before its data directory
// was destroyed, until data distribution notices; else nil. Recorded on FoundationDB 7.3.79:
// the database remains healthy, and a new storage server follows after 66 s.
func (db *Database) Emptied(s *Process) *StorageServer {
	i := slices.IndexFunc(db.Storage, func(ss *StorageServer) bool {
		return ss.Disk.Lost && !ss.DeathNoticed && s.Alive() && s.ListensOn(ss.Server.Address().HostPort())
	})
	if i < 0 {
		return nil
	}
	return db.Storage[i]
}

// noticeStorageDeath makes data distribution count a dead process's replicas as
// lost, unless it is back or its zone is under maintenance.
func (db *Database) noticeStorageDeath(ss *StorageServer, dead *Process) {
	if ss.Server != dead || ss.Answers() {
		return
	}
	if db.UnderMaintenance(dead.Zone()) || db.FailuresIgnored() {
		db.Simulation.After(time.Second, func() { db.noticeStorageDeath(ss, dead) })
		return
	}
	ss.DeathNoticed = true
	db.wakeDistribution(0)
}

// dataLost makes the storage roles of a destroyed directory useless at once;
// that they are lost is noticed later, as for any dead process.
func (db *Database) dataLost(d *Disk) {
	for _, sh := range db.Shards {
		if sh.Move != nil && slices.ContainsFunc(sh.Move.target, func(ss *StorageServer) bool { return ss.Disk == d }) {
			sh.Move = nil
		}
	}
	db.wakeDistribution(0)
	db.reconsider()
}

// StoredBytes is what a storage server holds.
func (db *Database) StoredBytes(ss *StorageServer) int64 {
	var n int64
	for _, sh := range db.Shards {
		if slices.Contains(sh.Replicas, ss) {
			n += sh.Bytes
		}
	}
	return n
}

// removable reports whether a storage server is neither wanted nor needed.
func (db *Database) removable(ss *StorageServer) bool {
	desired := !ss.DeathNoticed && !db.Excluded(ss.Server) && db.inDataRegion(ss.Server) && db.fitForStorage(ss.Server)
	return !desired && !db.holdsShards(ss)
}

func (db *Database) holdsShards(ss *StorageServer) bool {
	return slices.ContainsFunc(db.Shards, func(sh *Shard) bool {
		return slices.Contains(sh.Replicas, ss) || (sh.Move != nil && slices.Contains(sh.Move.target, ss))
	})
}
