package model

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// incompatibleMemory is how long a cluster controller lists a peer of another protocol after
// its last connection. Source: FoundationDB's knob INCOMPATIBLE_PEERS_LOGGING_INTERVAL.
const incompatibleMemory = 600 * time.Second

// Incompatible are the processes that try to join with another protocol, and those that
// did until a while ago: where they ended, or came back in another version, their
// addresses stay on the list. A new cluster controller has a list of its own.
func (db *Database) Incompatible(version fdb.Version) []string {
	listed := map[string]bool{}
	for _, s := range db.IncompatibleProcesses(version) {
		listed[s.Address().HostPort()] = true
	}
	for address, received := range db.incompatiblePeers {
		if db.Simulation.Now.Sub(received) <= incompatibleMemory {
			listed[address] = true
		}
	}
	return slices.Sorted(maps.Keys(listed))
}

// IncompatibleProcesses are the live processes that try to join in another protocol.
func (db *Database) IncompatibleProcesses(version fdb.Version) []*Process {
	var out []*Process
	for _, s := range db.Simulation.servers {
		if db.shutsOut(s, version) {
			out = append(out, s)
		}
	}
	return out
}

// shutsOut reports whether a process tries to join in another protocol.
func (db *Database) shutsOut(s *Process, version fdb.Version) bool {
	return s.Alive() && s.conn.Description == db.Connection.Description && !s.Version.ProtocolCompatible(version) &&
		db.Simulation.Find(s.conn, version).Db == db
}

// noteIncompatiblePeer has the databases that a process tried to join in another protocol remember
// its address when it stops trying.
func (w *Simulation) noteIncompatiblePeer(s *Process) {
	for _, db := range w.Databases {
		version, reached := db.QuorumVersion()
		if !reached || !db.Roles.Controller.Taken() || !db.shutsOut(s, version) {
			continue
		}
		if db.incompatiblePeers == nil {
			db.incompatiblePeers = map[string]time.Time{}
		}
		db.incompatiblePeers[s.Address().HostPort()] = w.Now
	}
}
