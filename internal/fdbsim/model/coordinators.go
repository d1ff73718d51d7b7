package model

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const coordinatorsKey = "\xff/coordinators"

// MoveCoordination hands the database over to new coordinators: the old ones
// forward, and every live process rewrites its cluster file.
func (db *Database) MoveCoordination(next fdb.ConnectionString) {
	for _, s := range db.CoordinatorServers() {
		s.keep(clusterKey(db.Connection), register{db: db, forward: next.String(), begin: db.generationBegin()})
	}
	db.Connection = next
	db.registerWith(next)
	db.Commit([]keyspace.Mutation{{Key: coordinatorsKey, Value: []byte(next.String())}})
	for _, s := range db.Members {
		if s.Alive() {
			s.rewriteClusterFile(next)
		}
	}
	db.RecoverAfter(db.Simulation.Pace.Recruit, RequestedGenerations)
}

// AutoCoordinators is what `coordinators auto` chooses: as many as the
// redundancy mode makes useful, one per zone, the present ones first.
func (db *Database) AutoCoordinators() []fdb.Address {
	want := db.autoCount()
	if len(db.Connection.Coordinators) >= want && len(db.CoordinatorServers()) == len(db.Connection.Coordinators) {
		return db.Connection.Coordinators
	}
	zones := map[string]bool{}
	var chosen []fdb.Address
	for _, s := range append(db.CoordinatorServers(), db.Live()...) {
		if len(chosen) < want && !zones[s.Zone()] && !db.Excluded(s) {
			zones[s.Zone()] = true
			chosen = append(chosen, s.Address())
		}
	}
	return chosen
}

func (db *Database) autoCount() int {
	switch n := db.Configuration().StoragePolicy.Replicas(); {
	case n >= 3:
		return 5
	case n == 2:
		return 3
	default:
		return 1
	}
}
