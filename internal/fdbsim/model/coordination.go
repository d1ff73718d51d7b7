package model

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// clusterKey is the name under which coordinators keep a database.
func clusterKey(c fdb.ConnectionString) string { return c.Description + ":" + c.ID }

// CoordinatorAt is the process that serves a coordinator address, or nil. It
// has to answer, and on the kind of connection the address asks for.
func (w *Simulation) CoordinatorAt(a fdb.Address) *Process {
	for _, ip := range w.Lookup(a.Host) {
		at := fdb.Address{Host: ip.String(), Port: a.Port}.HostPort()
		if s := w.listener(at); s != nil && s.Alive() && s.serves(at, a) {
			return s
		}
	}
	return nil
}

// serves reports whether the process listens at an IP address and port, with TLS as the
// address of the coordinator has it.
func (s *Process) serves(hostPort string, requested fdb.Address) bool {
	for i, a := range s.Args.Public {
		if s.listens[i] == hostPort && a.TLS == requested.TLS {
			return true
		}
	}
	return false
}

// Lookup resolves the host of a coordinator; nothing when it cannot.
func (w *Simulation) Lookup(host string) []netip.Addr {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}
	}
	if w.Resolve == nil {
		return nil
	}
	ips, err := w.Resolve(host)
	if err != nil {
		return nil
	}
	return ips
}

// quorum is a majority of a connection string's coordinators: the processes that
// answer a client of the given version.
func (w *Simulation) quorum(c fdb.ConnectionString, version fdb.Version) (answering []*Process, reached bool) {
	for _, a := range c.Coordinators {
		s := w.CoordinatorAt(a)
		if s != nil && s.Version.ProtocolCompatible(version) {
			answering = append(answering, s)
		}
	}
	return answering, len(answering) > len(c.Coordinators)/2
}

// Contact is what coordinators say about a connection string.
type Contact struct {
	// Conn is the connection string to use: the one queried with, or the one the
	// coordinators forward to.
	Conn fdb.ConnectionString
	// Db is the database, nil while no process serves one under that name.
	Db *Database
	// Quorum is whether a majority responded.
	Quorum bool
}

// maxForwards bounds the chain of coordinator changes that a stale cluster file
// is led through.
const maxForwards = 100

// Find asks the coordinators which database a connection string means.
func (w *Simulation) Find(c fdb.ConnectionString, version fdb.Version) Contact {
	for range maxForwards {
		answering, reached := w.quorum(c, version)
		next, moved := forwarded(answering, clusterKey(c))
		if moved {
			c = next
			continue
		}
		if !reached {
			return Contact{Conn: c}
		}
		return Contact{Conn: c, Db: registered(answering, len(c.Coordinators), clusterKey(c)), Quorum: true}
	}
	return Contact{Conn: c}
}

func forwarded(coordinators []*Process, key string) (fdb.ConnectionString, bool) {
	for _, s := range coordinators {
		if f := s.registerOf(key).forward; f != "" {
			next, err := fdb.ParseConnectionString(f)
			return next, err == nil
		}
	}
	return fdb.ConnectionString{}, false
}

// registered is the database that coordinators have under a name: nil where a majority of them can
// answer without any state of it, since a reader waits for no more than a majority.
func registered(coordinators []*Process, among int, key string) *Database {
	var found *Database
	holders := 0
	for _, s := range coordinators {
		if db := s.registerOf(key).db; db != nil {
			found, holders = db, holders+1
		}
	}
	if without := len(coordinators) - holders; without > among/2 {
		return nil
	}
	return found
}

// joinRetry is how long a process that found no coordinators waits.
const joinRetry = time.Second

// join registers a process with the database its cluster file means, which
// comes into being with the first process that reaches a quorum.
func (w *Simulation) join(s *Process) {
	if s.ended || s.db != nil {
		return
	}
	found := w.Find(s.conn, s.Version)
	if !found.Quorum || s.Frozen || found.Db != nil && found.Db.speaksAnother(s) {
		w.After(joinRetry, func() { w.join(s) })
		return
	}
	if !s.stored || found.Conn.String() != s.conn.String() {
		s.rewriteClusterFile(found.Conn)
	}
	if found.Db == nil {
		found.Db = w.createDatabase(found.Conn)
	}
	found.Db.comeBack(found.Conn)
	found.Db.admit(s)
	w.Wake()
}

// speaksAnother reports whether a process found a database that goes on in another protocol. It can: a
// majority of the coordinators that its cluster file names may have moved on, while those of today have not.
func (db *Database) speaksAnother(s *Process) bool {
	version, reached := db.QuorumVersion()
	return reached && !s.Version.ProtocolCompatible(version)
}

// comeBack makes the database go on at other addresses of its coordinators, which cluster files with
// the same name have now: FoundationDB stores them when it recovers.
func (db *Database) comeBack(c fdb.ConnectionString) {
	if clusterKey(c) != clusterKey(db.Connection) || c.SameCoordinators(db.Connection.Coordinators) || len(db.CoordinatorServers()) > len(db.Connection.Coordinators)/2 {
		return
	}
	db.Connection = c
	db.fallBack(c)
	db.Commit([]keyspace.Mutation{{Key: coordinatorsKey, Value: []byte(c.String())}})
}

// fallBack drops what was committed in generations of which the coordinators know nothing: a reader of their
// state waits for no more than a majority of them, and goes on from the newest generation that it finds.
func (db *Database) fallBack(c fdb.ConnectionString) {
	var known []int64
	for _, a := range c.Coordinators {
		if s := db.Simulation.CoordinatorAt(a); s != nil && s.registerOf(clusterKey(c)).db == db {
			known = append(known, s.registerOf(clusterKey(c)).begin)
		}
	}
	slices.Sort(known)
	if majority := len(c.Coordinators) / 2; majority < len(known) {
		if next := slices.IndexFunc(db.begins, func(begin int64) bool { return begin > known[majority] }); next >= 0 {
			db.Keys.FallBack(db.begins[next] - 1)
		}
	}
}

// generationBegin is the first version of the current generation; 0 before the first one.
func (db *Database) generationBegin() int64 {
	if len(db.begins) == 0 {
		return 0
	}
	return db.begins[len(db.begins)-1]
}

// createDatabase makes the database of a cluster key that is unknown to its
// coordinators.
func (w *Simulation) createDatabase(c fdb.ConnectionString) *Database {
	db := newDatabase(w, c)
	db.id = fmt.Sprintf("%d-%d", w.Now.UnixNano(), len(w.Databases))
	w.Databases = append(w.Databases, db)
	db.registerWith(c)
	return db
}

// registerWith makes the coordinators of c answer for the database.
func (db *Database) registerWith(c fdb.ConnectionString) {
	for _, a := range c.Coordinators {
		if s := db.Simulation.CoordinatorAt(a); s != nil {
			s.keep(clusterKey(c), register{db: db, begin: db.generationBegin()})
		}
	}
}

// CoordinatorServers are the coordinators that answer.
func (db *Database) CoordinatorServers() []*Process {
	var servers []*Process
	for _, a := range db.Connection.Coordinators {
		if s := db.Simulation.CoordinatorAt(a); s != nil {
			servers = append(servers, s)
		}
	}
	return servers
}
