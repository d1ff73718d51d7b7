package fdbsim

import (
	"net/netip"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// clusterKey is the name under which coordinators keep a database.
func clusterKey(c fdb.ConnectionString) string { return c.Description + ":" + c.ID }

// coordinatorAt is the process that serves a coordinator address, or nil. It
// has to answer, and on the kind of connection the address asks for.
func (w *World) coordinatorAt(a fdb.Address) *server {
	for _, ip := range w.lookup(a.Host) {
		at := fdb.Address{Host: ip.String(), Port: a.Port}.HostPort()
		if s := w.listener(at); s != nil && s.alive() && s.serves(at, a.TLS) {
			return s
		}
	}
	return nil
}

func (s *server) serves(hostPort string, tls bool) bool {
	for i, a := range s.args.Public {
		if s.listens[i] == hostPort && a.TLS == tls {
			return true
		}
	}
	return false
}

// lookup resolves the host of a coordinator; nothing when it cannot.
func (w *World) lookup(host string) []netip.Addr {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}
	}
	if w.resolve == nil {
		return nil
	}
	ips, err := w.resolve(host)
	if err != nil {
		return nil
	}
	return ips
}

// quorum is a majority of a connection string's coordinators: the processes that
// answer a client of the given version.
func (w *World) quorum(c fdb.ConnectionString, version fdb.Version) (answering []*server, reached bool) {
	for _, a := range c.Coordinators {
		s := w.coordinatorAt(a)
		if s != nil && s.version.ProtocolCompatible(version) {
			answering = append(answering, s)
		}
	}
	return answering, len(answering) > len(c.Coordinators)/2
}

// contact is what coordinators say about a connection string.
type contact struct {
	// conn is the connection string to use: the one asked with, or the one the
	// coordinators forward to.
	conn fdb.ConnectionString
	// db is the database, nil while nobody serves one under that name.
	db *database
	// quorum says whether a majority answered.
	quorum bool
}

// maxForwards bounds the chain of coordinator changes that a stale cluster file
// is led through.
const maxForwards = 100

// find asks the coordinators which database a connection string means.
func (w *World) find(c fdb.ConnectionString, version fdb.Version) contact {
	for range maxForwards {
		answering, reached := w.quorum(c, version)
		next, moved := forwarded(answering, clusterKey(c))
		if moved {
			c = next
			continue
		}
		if !reached {
			return contact{conn: c}
		}
		return contact{conn: c, db: registered(answering, clusterKey(c)), quorum: true}
	}
	return contact{conn: c}
}

func forwarded(coordinators []*server, key string) (fdb.ConnectionString, bool) {
	for _, s := range coordinators {
		if f := s.disk.registers[key].forward; f != "" {
			next, err := fdb.ParseConnectionString(f)
			return next, err == nil
		}
	}
	return fdb.ConnectionString{}, false
}

func registered(coordinators []*server, key string) *database {
	for _, s := range coordinators {
		if db := s.disk.registers[key].db; db != nil {
			return db
		}
	}
	return nil
}

// joinRetry is how long a process that found no coordinators waits.
const joinRetry = time.Second

// join registers a process with the database its cluster file means, which
// comes into being with the first process that reaches a quorum.
func (w *World) join(s *server) {
	if s.ended || s.db != nil {
		return
	}
	found := w.find(s.conn, s.version)
	if !found.quorum || s.frozen {
		w.after(joinRetry, func() { w.join(s) })
		return
	}
	if found.conn.String() != s.conn.String() {
		s.rewriteClusterFile(found.conn)
	}
	if found.db == nil {
		found.db = w.createDatabase(found.conn)
	}
	found.db.admit(s)
	w.wake()
}

// createDatabase makes the database of a cluster key that its coordinators have
// never heard of.
func (w *World) createDatabase(c fdb.ConnectionString) *database {
	db := newDatabase(w, c)
	w.databases = append(w.databases, db)
	db.registerWith(c)
	return db
}

// registerWith makes the coordinators of c answer for the database.
func (db *database) registerWith(c fdb.ConnectionString) {
	for _, a := range c.Coordinators {
		if s := db.w.coordinatorAt(a); s != nil {
			s.disk.registers[clusterKey(c)] = register{db: db}
		}
	}
}
