package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
)

func settings(values map[string]string) []keyspace.Mutation {
	var changes []keyspace.Mutation
	for _, name := range slices.Sorted(maps.Keys(values)) {
		changes = append(changes, keyspace.Mutation{Key: confPrefix + name, Value: []byte(values[name])})
	}
	return changes
}

// Initialize writes the first configuration, in place of one that never led to
// a database.
func (db *Database) Initialize(values map[string]string) { db.initialize(values) }

// InitializeLocked does the same and locks the database.
func (db *Database) InitializeLocked(values map[string]string) {
	db.initialize(values, keyspace.Mutation{Key: LockKey, Value: []byte(strings.Repeat("\x00", LockHeaderBytes) + db.Simulation.Hex(16))})
}

func (db *Database) initialize(values map[string]string, more ...keyspace.Mutation) {
	old := keyspace.Range{Begin: confPrefix, End: PrefixEnd(confPrefix)}
	changes := []keyspace.Mutation{{Clear: &old}, {Key: coordinatorsKey, Value: []byte(db.Connection.String())}}
	db.Commit(slices.Concat(changes, more, settings(values)))
	db.AttemptAfter(db.Simulation.Pace.Recruit)
}

// ConfigureTo writes the settings that differ. Nothing that differs restarts
// data distribution all the same, but needs no recovery.
func (db *Database) ConfigureTo(old, next Configuration) {
	db.Commit(settings(next.Values))
	if maps.Equal(old.Values, next.Values) {
		db.restartDistributionIn(sameConfigurationNoticed)
		return
	}
	db.Distribution.reconfigured = true
	db.RecoverAfter(db.Simulation.Pace.Recruit, RequestedGenerations)
}
