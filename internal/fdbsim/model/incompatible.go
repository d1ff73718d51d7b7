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
	for _, s := range db.ShutOut(version) {
		listed[s.Address().HostPort()] = true
	}
	for address, heard := range db.strangers {
		if db.World.Now.Sub(heard) <= incompatibleMemory {
			listed[address] = true
		}
	}
	return slices.Sorted(maps.Keys(listed))
}

// ShutOut are the live processes that try to join in another protocol.
func (db *Database) ShutOut(version fdb.Version) []*Process {
	var out []*Process
	for _, s := range db.World.servers {
		if db.shutsOut(s, version) {
			out = append(out, s)
		}
	}
	return out
}

// shutsOut reports whether a process tries to join in another protocol.
func (db *Database) shutsOut(s *Process, version fdb.Version) bool {
	return s.Alive() && s.conn.Description == db.Connection.Description && !s.Version.ProtocolCompatible(version) &&
		db.World.Find(s.conn, version).Db == db
}

// noteStranger has the databases that a process tried to join in another protocol remember
// its address when it stops trying.
func (w *World) noteStranger(s *Process) {
	for _, db := range w.Databases {
		version, reached := db.QuorumVersion()
		if !reached || !db.Crew.Controller.Taken() || !db.shutsOut(s, version) {
			continue
		}
		if db.strangers == nil {
			db.strangers = map[string]time.Time{}
		}
		db.strangers[s.Address().HostPort()] = w.Now
	}
}
