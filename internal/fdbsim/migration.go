package fdbsim

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
	// state is what the migration makes of the state of the data.
	state migrationState
}

type migrationState int

const (
	migrationIdle migrationState = iota
	// migrationPlanned looks healthy from outside.
	migrationPlanned
	migrationHealing
	migrationWiggling
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
func (db *database) migrate() {
	conf := db.configuration()
	if db.dist.migration.state != migrationIdle || len(db.outdatedEngines(conf)) == 0 {
		return
	}
	types := choices["storage_migration_type"].stored
	switch {
	case conf.values["storage_migration_type"] == types["aggressive"]:
		db.migrationStep(migrationPlanned, migrationStarts, func() {
			db.migrationStep(migrationHealing, migrationTakes, func() {
				db.changeEngines(db.outdatedEngines(conf), conf.storageEngine())
			})
		})
	case conf.values["storage_migration_type"] == types["gradual"] && conf.values["perpetual_storage_wiggle"] == "1":
		db.migrationStep(migrationWiggling, wiggleTakes, func() {
			db.changeEngines(db.outdatedEngines(conf)[:1], conf.storageEngine())
		})
	}
}

// migrationStep shows a state for a while and goes on, unless data distribution
// has started over in between.
func (db *database) migrationStep(state migrationState, d time.Duration, next func()) {
	db.dist.migration.state = state
	round := db.dist.migration.round
	db.w.after(d, func() {
		if db.dist.migration.round == round {
			next()
		}
	})
}

// outdatedEngines are the storage servers that a migration has to change.
func (db *database) outdatedEngines(conf configuration) []*storageServer {
	return slices.DeleteFunc(slices.Clone(db.storage), func(ss *storageServer) bool {
		return ss.engine == conf.storageEngine() || !ss.answers() || !wiggles(conf, ss.server)
	})
}

// wiggles reports whether the perpetual wiggle may touch a process.
func wiggles(conf configuration, s *server) bool {
	key, value, restricted := strings.Cut(conf.values["perpetual_storage_wiggle_locality"], ":")
	gradual := conf.values["storage_migration_type"] == choices["storage_migration_type"].stored["gradual"]
	return !gradual || !restricted || s.args.matches(key, value) || (key == fdb.LocalityFDBProcessID && value == s.disk.processID)
}

// changeEngines gives storage servers another engine, which makes them new
// storage servers.
func (db *database) changeEngines(servers []*storageServer, engine string) {
	for _, ss := range servers {
		ss.id, ss.engine, ss.created = db.w.hex(16), engine, db.w.now
	}
	db.dist.migration.state = migrationIdle
	db.wakeDistribution(0)
	db.w.wake()
}

// migrationShows is the state of the data during a migration.
func (db *database) migrationShows(replicas int) (object, bool) {
	switch db.dist.migration.state {
	case migrationHealing:
		return healing("Restoring replication factor", replicas), true
	case migrationWiggling:
		return object{
			"name": "healthy_perpetual_wiggle", "description": "Wiggling storage server", "healthy": true, "min_replicas_remaining": replicas,
		}, true
	default:
		return nil, false
	}
}
