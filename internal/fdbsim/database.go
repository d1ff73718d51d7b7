package fdbsim

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// database is one cluster: the processes that joined it and the state that
// outlives them.
type database struct {
	w    *World
	conn fdb.ConnectionString
	// members are the registered processes; a dead one stays until it is
	// forgotten.
	members []*server
	keys    keyspace
	system  systemView
	// born anchors the version clock; skipped is what recoveries jumped over.
	born    time.Time
	created time.Time // when it was configured for the first time
	skipped int64
	last    int64

	recovery recovery
	crew     crew
	logs     []logGeneration // current first

	storage []*storageServer
	shards  []*shard
	dist    distribution
	forced  string // data centre that a forced recovery chose
	faults  Faults
	clients clientList
	// strangers are when peers of another protocol were last heard of that try to join
	// no more, by address.
	strangers map[string]time.Time
	lastDeath time.Time
	snapshot  *statusSnapshot
	backups   backups
	restores  []*restore
}

func newDatabase(w *World, c fdb.ConnectionString) *database {
	db := &database{w: w, conn: c, born: w.now, dist: distribution{on: true}}
	db.recovery.state = stateReadingState
	return db
}

// admit registers a process that has found the database.
func (db *database) admit(s *server) {
	s.db = db
	db.members = slices.DeleteFunc(db.members, func(o *server) bool { return o.disk == s.disk })
	db.members = append(db.members, s)
	slices.SortStableFunc(db.members, func(a, b *server) int { return cmp.Compare(a.disk.processID, b.disk.processID) })
	for _, ss := range db.storage {
		if ss.disk == s.disk {
			ss.server, ss.deathNoticed = s, false
		}
	}
	db.reconsider()
	db.w.after(betterCheck, db.lookForBetter)
	db.wakeDistribution(db.w.pace.RecruitStorage)
}

// memberChanged notes that a registered process died, froze or thawed.
func (db *database) memberChanged(s *server) {
	if s.alive() {
		db.wakeDistribution(0)
		return
	}
	db.lastDeath = db.w.now
	if s.died.IsZero() {
		s.died = db.w.now
	}
	db.w.after(db.w.pace.Vanish, func() { db.forget(s) })
	for _, ss := range db.storage {
		if ss.server == s {
			db.w.after(db.w.pace.StorageDeath, func() { db.noticeStorageDeath(ss, s) })
		}
	}
}

// forget removes a dead process from the list of workers.
func (db *database) forget(s *server) {
	if s.alive() {
		return
	}
	db.members = slices.DeleteFunc(db.members, func(o *server) bool { return o == s })
	if s.frozen && !s.ended {
		s.db = nil
		db.w.after(joinRetry, func() { db.w.join(s) })
	}
}

// live are the registered processes that answer and speak the cluster's
// protocol.
func (db *database) live() []*server {
	version, reached := db.quorumVersion()
	if !reached {
		return nil
	}
	live := make([]*server, 0, len(db.members))
	for _, s := range db.members {
		if s.alive() && s.version.ProtocolCompatible(version) {
			live = append(live, s)
		}
	}
	return live
}

// quorumVersion is the version that a majority of the coordinators speaks.
func (db *database) quorumVersion() (fdb.Version, bool) {
	var answering []*server
	for _, a := range db.conn.Coordinators {
		if s := db.w.coordinatorAt(a); s != nil {
			answering = append(answering, s)
		}
	}
	for _, s := range answering {
		speak := 0
		for _, other := range answering {
			if other.version.ProtocolCompatible(s.version) {
				speak++
			}
		}
		if speak > len(db.conn.Coordinators)/2 {
			return s.version, true
		}
	}
	return fdb.Version{}, false
}

// member is the live process with an address, or nil.
func (db *database) member(hostPort string) *server {
	for _, s := range db.live() {
		if s.listensOn(hostPort) {
			return s
		}
	}
	return nil
}

func (db *database) isCoordinator(s *server) bool {
	return slices.ContainsFunc(db.conn.Coordinators, func(a fdb.Address) bool { return db.w.coordinatorAt(a) == s })
}

// microsPerSecond is the rate at which versions grow.
const microsPerSecond = 1_000_000

// versionNow is the newest read version.
func (db *database) versionNow() int64 {
	v := db.skipped + db.w.now.Sub(db.born).Microseconds()
	db.last = max(db.last, v)
	return db.last
}

// commitVersion is a version nobody has seen yet.
func (db *database) commitVersion() int64 {
	v := max(db.versionNow(), db.last+1)
	db.last = v
	return v
}

// configured reports whether `configure new` has ever been accepted.
func (db *database) configured() bool {
	_, ok := db.keys.latest(confPrefix + "initialized")
	return ok
}

// available reports whether transactions can be committed.
func (db *database) available() bool { return db.recovery.accepting() && len(db.live()) > 0 }

// readable reports whether the system keys can be read: a copy of their shard
// answers.
func (db *database) readable() bool {
	if !db.available() {
		return false
	}
	return len(db.shards) == 0 || slices.ContainsFunc(db.shards[0].replicas, (*storageServer).answers)
}
