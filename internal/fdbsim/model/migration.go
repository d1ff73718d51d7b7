package model

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// migration is the change of storage servers to another storage engine.
type migration struct {
	// round numbers the migrations; a restart of data distribution ends one.
	round int
	// State is what the migration makes of the state of the data.
	State migrationState
}

type migrationState int

// The states of a migration.
const (
	migrationIdle migrationState = iota
	// migrationPlanned looks healthy from outside.
	migrationPlanned
	MigrationHealing
	MigrationWiggling
)

const (
	// migrationStarts is how long data distribution waits before it begins an
	// aggressive migration.
	migrationStarts = 25 * time.Second
	// migrationTakes is how long little data takes to change its engine.
	migrationTakes = 12 * time.Second
	// wiggleTakes is the same for one storage server of a gradual migration.
	wiggleTakes = 15 * time.Second
)

// migrate begins a migration when the configuration asks for one.
func (db *Database) migrate() {
	conf := db.Configuration()
	if db.Distribution.Migration.State != migrationIdle || len(db.outdatedEngines(conf)) == 0 {
		return
	}
	types := Choices["storage_migration_type"].Stored
	switch {
	case conf.Values["storage_migration_type"] == types["aggressive"]:
		db.migrationStep(migrationPlanned, migrationStarts, func() {
			db.migrationStep(MigrationHealing, migrationTakes, func() {
				db.changeEngines(db.outdatedEngines(conf), conf.StorageEngine())
			})
		})
	case conf.Values["storage_migration_type"] == types["gradual"] && conf.Values["perpetual_storage_wiggle"] == "1":
		db.migrationStep(MigrationWiggling, wiggleTakes, func() {
			db.changeEngines(db.outdatedEngines(conf)[:1], conf.StorageEngine())
		})
	}
}

// migrationStep shows a state for a while and goes on, unless data distribution
// has started over in between.
func (db *Database) migrationStep(state migrationState, d time.Duration, next func()) {
	db.Distribution.Migration.State = state
	round := db.Distribution.Migration.round
	db.Simulation.After(d, func() {
		if db.Distribution.Migration.round == round {
			next()
		}
	})
}

// outdatedEngines are the storage servers that a migration has to change.
func (db *Database) outdatedEngines(conf Configuration) []*StorageServer {
	return slices.DeleteFunc(slices.Clone(db.Storage), func(ss *StorageServer) bool {
		return ss.Engine == conf.StorageEngine() || !ss.Answers() || !wiggles(conf, ss.Server)
	})
}

// wiggles reports whether the perpetual wiggle may touch a process.
func wiggles(conf Configuration, s *Process) bool {
	key, value, restricted := strings.Cut(conf.Values["perpetual_storage_wiggle_locality"], ":")
	gradual := conf.Values["storage_migration_type"] == Choices["storage_migration_type"].Stored["gradual"]
	return !gradual || !restricted || s.Args.Matches(key, value) || (key == fdb.LocalityFDBProcessID && value == s.Disk.ProcessID)
}

// changeEngines gives storage servers another engine, which makes them new
// storage servers.
func (db *Database) changeEngines(servers []*StorageServer, engine string) {
	for _, ss := range servers {
		ss.ID, ss.Engine, ss.Created = db.Simulation.Hex(16), engine, db.Simulation.Now
	}
	db.Distribution.Migration.State = migrationIdle
	db.wakeDistribution(0)
	db.Simulation.Wake()
}
