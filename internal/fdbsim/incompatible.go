package fdbsim

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// incompatibleMemory is how long a cluster controller lists a peer of another protocol
// after it last heard of it. Source: FoundationDB's knob INCOMPATIBLE_PEERS_LOGGING_INTERVAL.
const incompatibleMemory = 600 * time.Second

// incompatible are the processes that try to join with another protocol, and those that
// did until a while ago: where they ended, or came back in another version, nobody takes
// their addresses off the list. A new cluster controller has a list of its own.
func (db *database) incompatible(version fdb.Version) []any {
	listed := map[string]bool{}
	for _, s := range db.w.servers {
		if db.shutsOut(s, version) {
			listed[s.address().HostPort()] = true
		}
	}
	for address, heard := range db.strangers {
		if db.w.now.Sub(heard) <= incompatibleMemory {
			listed[address] = true
		}
	}
	found := make([]any, 0, len(listed))
	for _, address := range slices.Sorted(maps.Keys(listed)) {
		found = append(found, address)
	}
	return list(found)
}

// shutsOut reports whether a process tries to join in another protocol.
func (db *database) shutsOut(s *server, version fdb.Version) bool {
	return s.alive() && s.conn.Description == db.conn.Description && !s.version.ProtocolCompatible(version) &&
		db.w.find(s.conn, version).db == db
}

// noteStranger has the databases that a process tried to join in another protocol remember
// its address when it stops trying.
func (w *World) noteStranger(s *server) {
	for _, db := range w.databases {
		version, reached := db.quorumVersion()
		if !reached || !db.crew.controller.taken() || !db.shutsOut(s, version) {
			continue
		}
		if db.strangers == nil {
			db.strangers = map[string]time.Time{}
		}
		db.strangers[s.address().HostPort()] = w.now
	}
}
