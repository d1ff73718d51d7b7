package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Database is one cluster: the processes that joined it and the state that
// outlives them.
type Database struct {
	Simulation *Simulation
	Connection fdb.ConnectionString
	// id is how files with coordination state name the database.
	id string
	// Members are the registered processes; a dead one stays until it is
	// forgotten.
	Members []*Process
	Keys    keyspace.Space
	system  systemView
	// startedAt anchors the version clock; skipped is what recoveries jumped over.
	startedAt time.Time
	created   time.Time // when it was configured for the first time
	skipped   int64
	jumps     []int64 // the version after each recovery
	last      int64

	Recovery recovery
	Roles    roles
	Logs     []LogGeneration // current first
	begins   []int64         // the first versions of all generations, in order

	Storage      []*StorageServer
	Shards       []*Shard
	Distribution distribution
	Forced       string // data center that a forced recovery chose
	Faults       Faults
	Clients      clientList
	// incompatiblePeers are when peers of another protocol that no longer try to join last
	// connected, by address.
	incompatiblePeers map[string]time.Time
	LastDeath         time.Time
	// StaleStatus is the cluster's part of a status document that is shown instead of the
	// current one, nil for none.
	StaleStatus map[string]any
	Backups     backups
	meter       meter
	// LoadedSince is when clients began to read and write as much as they do; see [Faults].
	LoadedSince time.Time
	Restores    []*Restore
}

func newDatabase(w *Simulation, c fdb.ConnectionString) *Database {
	db := &Database{Simulation: w, Connection: c, startedAt: w.Now, Distribution: distribution{On: true}}
	db.Recovery.State = StateReadingState
	return db
}

// admit registers a process that has found the database.
func (db *Database) admit(s *Process) {
	s.db = db
	db.Members = slices.DeleteFunc(db.Members, func(o *Process) bool { return o.Disk == s.Disk })
	db.Members = append(db.Members, s)
	slices.SortStableFunc(db.Members, func(a, b *Process) int { return cmp.Compare(a.Disk.ProcessID, b.Disk.ProcessID) })
	for _, ss := range db.Storage {
		if ss.Disk == s.Disk {
			ss.Server, ss.DeathNoticed = s, false
		}
	}
	db.reconsider()
	db.Simulation.After(betterCheck, db.lookForBetter)
	db.wakeDistribution(db.Simulation.Pace.RecruitStorage)
}

// memberChanged notes that a registered process died, froze or thawed.
func (db *Database) memberChanged(s *Process) {
	if s.Alive() {
		db.wakeDistribution(0)
		return
	}
	db.LastDeath = db.Simulation.Now
	if s.died.IsZero() {
		s.died = db.Simulation.Now
	}
	db.Simulation.After(db.Simulation.Pace.Vanish, func() { db.forget(s) })
	for _, ss := range db.Storage {
		if ss.Server == s {
			db.Simulation.After(db.Simulation.Pace.StorageDeath, func() { db.noticeStorageDeath(ss, s) })
		}
	}
}

// forget removes a dead process from the list of workers.
func (db *Database) forget(s *Process) {
	if s.Alive() {
		return
	}
	db.Members = slices.DeleteFunc(db.Members, func(o *Process) bool { return o == s })
	if s.Frozen && !s.ended {
		s.db = nil
		db.Simulation.After(joinRetry, func() { db.Simulation.join(s) })
	}
}

// Live are the registered processes that answer and speak the cluster's
// protocol.
func (db *Database) Live() []*Process {
	version, reached := db.QuorumVersion()
	if !reached {
		return nil
	}
	live := make([]*Process, 0, len(db.Members))
	for _, s := range db.Members {
		if s.Alive() && s.Version.ProtocolCompatible(version) {
			live = append(live, s)
		}
	}
	return live
}

// QuorumVersion is the version that a majority of the coordinators speaks.
func (db *Database) QuorumVersion() (fdb.Version, bool) {
	var answering []*Process
	for _, a := range db.Connection.Coordinators {
		if s := db.Simulation.CoordinatorAt(a); s != nil {
			answering = append(answering, s)
		}
	}
	for _, s := range answering {
		speak := 0
		for _, other := range answering {
			if other.Version.ProtocolCompatible(s.Version) {
				speak++
			}
		}
		if speak > len(db.Connection.Coordinators)/2 {
			return s.Version, true
		}
	}
	return fdb.Version{}, false
}

// Member is the live process with an address, or nil.
func (db *Database) Member(hostPort string) *Process {
	for _, s := range db.Live() {
		if s.ListensOn(hostPort) {
			return s
		}
	}
	return nil
}

// IsCoordinator reports whether the process is a current coordinator.
func (db *Database) IsCoordinator(s *Process) bool {
	return slices.ContainsFunc(db.Connection.Coordinators, func(a fdb.Address) bool { return db.Simulation.CoordinatorAt(a) == s })
}

// VersionNow is the newest read version.
func (db *Database) VersionNow() int64 {
	v := db.skipped + db.Simulation.Now.Sub(db.startedAt).Microseconds()
	db.last = max(db.last, v)
	return db.last
}

// TimeOf estimates when the database had a version, as the tools do: from the last version before
// it whose time is recorded, so a version within a jump is younger than it was.
func (db *Database) TimeOf(version int64) time.Time {
	skipped := int64(0)
	for _, after := range db.jumps {
		if after <= version {
			skipped += versionJump
		}
	}
	return db.startedAt.Add(time.Duration(version-skipped) * time.Microsecond)
}

// CommitVersion returns a new version.
func (db *Database) CommitVersion() int64 {
	v := max(db.VersionNow(), db.last+1)
	db.last = v
	return v
}

// Configured reports whether `configure new` has ever been accepted.
func (db *Database) Configured() bool {
	_, ok := db.Keys.Latest(confPrefix + "initialized")
	return ok
}

// Available reports whether transactions can be committed.
func (db *Database) Available() bool { return db.Recovery.accepting() && db.anyLive() }

// anyLive reports whether any process can be reached.
func (db *Database) anyLive() bool {
	version, reached := db.QuorumVersion()
	return reached && slices.ContainsFunc(db.Members, func(s *Process) bool { return s.Alive() && s.Version.ProtocolCompatible(version) })
}

// Readable reports whether the system keys can be read: a copy of their shard
// answers.
func (db *Database) Readable() bool {
	if !db.Available() {
		return false
	}
	return len(db.Shards) == 0 || slices.ContainsFunc(db.Shards[0].Replicas, (*StorageServer).Answers)
}

// Writable reports whether the database's tools can change its system keys.
func (db *Database) Writable() bool { return db.Readable() }

// WorkerAddresses are the addresses of the live processes in text order, all of
// those with several.
func (db *Database) WorkerAddresses() []string {
	var addresses []string
	for _, s := range db.Live() {
		for _, a := range s.Args.Public {
			addresses = append(addresses, a.HostPort())
		}
	}
	slices.Sort(addresses)
	return addresses
}
