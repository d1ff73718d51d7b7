package model

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
)

// Names of recovery_state.name.
const (
	StateReadingState     = "reading_coordinated_state"
	StateLockingState     = "locking_coordinated_state"
	stateNeverConfigured  = "configuration_never_created"
	StateRecruiting       = "recruiting_transaction_servers"
	StateAccepting        = "accepting_commits"
	StateAllLogsRecruited = "all_logs_recruited"
	StateFullyRecovered   = "fully_recovered"
)

// StateDescriptions explain the states of a recovery, in the words of status.
var StateDescriptions = map[string]string{
	StateReadingState: "Requesting information from coordination servers. Verify that a majority of coordination server processes are active.",
	StateLockingState: "Locking coordination state. Verify that a majority of coordination server processes are active.",
	stateNeverConfigured: "The coordinator(s) have no record of this database. Either the coordinator addresses are incorrect, " +
		"the coordination state on those machines is missing, or no database has been created.",
	StateRecruiting:       "Recruiting new transaction servers.",
	StateAccepting:        "Accepting commits.",
	StateAllLogsRecruited: "Accepting commits. All logs recruited.",
	StateFullyRecovered:   "Recovery complete.",
}

// recovery is how far the cluster has come since transactions last stopped.
type recovery struct {
	State      string
	Generation int
	// since is when commits were accepted again; zero while they are not.
	since time.Time
	// serial numbers the attempts, so that what an older one had planned is
	// dropped.
	serial int
	// broken is when commits were stopped.
	broken time.Time
	// attempting is whether an attempt is scheduled.
	attempting bool
	// Completed counts how often commits were accepted again, and Paused adds up for how long
	// they were not.
	Completed int
	Paused    time.Duration
	// stopped is when commits were last accepted; zero while they are.
	stopped time.Time
}

func (r recovery) accepting() bool { return !r.since.IsZero() }

// betterCheck is how soon the cluster controller looks whether new processes
// would make a better set of roles.
const betterCheck = 3 * time.Second

// versionJump is what a recovery adds to the version, so that no transaction of
// the last generation can commit in the next one.
const versionJump = 100 * keyspace.VersionsPerSecond

// reconsider looks whether the cluster as it is now can go on, has to recover,
// or can do neither.
func (db *Database) reconsider() {
	if _, reached := db.QuorumVersion(); !reached {
		db.stop(StateReadingState)
		return
	}
	db.registerWith(db.Connection)
	if db.Recovery.attempting {
		return
	}
	switch {
	case !db.Recovery.accepting():
		db.AttemptAfter(db.Simulation.Pace.Recruit)
	case db.rolesBroken():
		db.RecoverAfter(db.Simulation.Pace.NoticeFailure, failureGenerations(db))
	}
}

// failureGenerations is by how much a recovery after a failure moves the
// generation.
func failureGenerations(db *Database) int { return 3 + db.Simulation.random.IntN(2) }

// RequestedGenerations is by how much a recovery moves the generation that a
// change of the configuration or the coordinators asked for.
const RequestedGenerations = 2

// stop ends transactions without a way to go on yet.
func (db *Database) stop(state string) {
	db.Recovery.State = state
	db.pause()
	db.Recovery.serial++
	db.Recovery.attempting = false
	db.Roles = roles{}
}

// pause notes that commits are not accepted any more.
func (db *Database) pause() {
	if db.Recovery.accepting() {
		db.Recovery.stopped = db.Simulation.Now
	}
	db.Recovery.since = time.Time{}
}

// resume notes that commits are accepted again.
func (db *Database) resume() {
	if !db.Recovery.stopped.IsZero() {
		db.Recovery.Paused += db.Simulation.Now.Sub(db.Recovery.stopped)
		db.Recovery.Completed++
	}
	db.Recovery.since, db.Recovery.stopped = db.Simulation.Now, time.Time{}
}

// RecoverAfter starts a recovery: transactions stop now, and start again when
// new roles are recruited.
func (db *Database) RecoverAfter(d time.Duration, generations int) {
	db.Recovery.State = StateReadingState
	db.pause()
	db.Recovery.broken = db.Simulation.Now
	db.Recovery.Generation += generations
	db.Roles.dismiss()
	db.jumps = append(db.jumps, db.VersionNow()+versionJump)
	db.skipped += versionJump
	db.AttemptAfter(d)
}

// AttemptAfter schedules the next attempt to recover, in place of one scheduled before.
func (db *Database) AttemptAfter(d time.Duration) {
	db.Recovery.serial++
	db.Recovery.attempting = true
	serial := db.Recovery.serial
	db.Simulation.After(d, func() {
		if db.Recovery.serial == serial {
			db.Recovery.attempting = false
			db.attempt()
		}
	})
}

// attempt goes through the stages of a recovery and stops at the first that is
// impossible now. A change of the members or the configuration tries again.
func (db *Database) attempt() {
	if _, reached := db.QuorumVersion(); !reached || len(db.Live()) == 0 {
		db.stop(StateReadingState)
		return
	}
	db.electLeaders()
	switch {
	case !db.Configured():
		db.Recovery.State = stateNeverConfigured
		db.Recovery.Generation = 1
	case !db.oldLogsReadable():
		db.Recovery.State = StateLockingState
	default:
		db.recruit()
	}
	db.Simulation.Wake()
}

func (db *Database) recruit() {
	fresh := len(db.Logs) == 0
	next, ok := db.recruitRoles()
	if !ok || (fresh && !db.placeableIn(next.PrimaryDC)) {
		db.Recovery.State = StateRecruiting
		return
	}
	before := db.Roles.Distributor
	db.Roles = next
	if fresh {
		db.Recovery.Generation = max(db.Recovery.Generation, 1) + 1
	}
	db.startGeneration(next.logSets)
	db.registerWith(db.Connection)
	db.Recovery.State = StateAllLogsRecruited
	db.resume()
	switch {
	case !next.complete(db.Configuration()):
		db.Recovery.State = StateAccepting
	case len(db.Logs) == 1:
		db.Recovery.State = StateFullyRecovered
	}
	if fresh {
		db.created = db.Simulation.Now
		db.createData()
	}
	db.Distribution.creating = db.Distribution.creating || fresh
	db.afterRecruiting(before)
	db.drainAfter(db.Simulation.Pace.Drain)
	if fresh && db.firstRolesCanImprove() {
		db.Distribution.creating = true
		db.RecoverAfter(0, RequestedGenerations)
	}
}

// afterRecruiting restarts data distribution where it is on another process
// than before, or has another configuration to follow.
func (db *Database) afterRecruiting(before RoleInstance) {
	moved := db.Roles.Distributor.ID != before.ID
	reconfigured, creating := db.Distribution.reconfigured, db.Distribution.creating
	db.Distribution.reconfigured, db.Distribution.creating = false, false
	if moved || creating {
		db.Distribution.Recruited = db.Simulation.Now
	}
	switch {
	case creating:
		db.RestartDistribution(db.Simulation.Pace.Creation)
	case moved:
		db.RestartDistribution(db.Simulation.Pace.Distribution)
	case reconfigured:
		db.restartDistributionIn(newConfigurationNoticed)
	default:
		db.wakeDistribution(0)
	}
}

// drainAfter drops the old log generations once every storage server has made
// them durable. One that does not answer, and is not given up, holds them back.
func (db *Database) drainAfter(d time.Duration) {
	serial, caughtUp := db.Recovery.serial, db.Simulation.Now.Add(d)
	var look func()
	look = func() {
		if db.Recovery.serial != serial || !db.Recovery.accepting() || len(db.Logs) == 0 {
			return
		}
		if db.Recovery.State == StateAccepting || slices.ContainsFunc(db.Storage, func(ss *StorageServer) bool { return !ss.Answers() }) {
			caughtUp = db.Simulation.Now.Add(catchUp)
		}
		if db.Simulation.Now.Before(caughtUp) {
			db.Simulation.After(drainCheck, look)
			return
		}
		db.Logs = db.Logs[:1]
		db.Recovery.State = StateFullyRecovered
		db.Simulation.Wake()
	}
	db.Simulation.After(d, look)
}

const (
	// drainCheck is how often it is looked whether everything is durable.
	drainCheck = time.Second
	// catchUp is how long a storage server that was away needs to read what it
	// missed.
	catchUp = 4 * time.Second
)

// lookForBetter recovers when the processes of now would make a better set of roles
// than the one at work.
func (db *Database) lookForBetter() {
	if !db.Recovery.accepting() || db.Recovery.attempting {
		return
	}
	next, ok := db.recruitRoles()
	better, present := next.quality(db), db.Roles.quality(db)
	if ok && slices.Compare(better[:], present[:]) < 0 {
		db.electLeaders()
		db.RecoverAfter(db.Simulation.Pace.Recruit, RequestedGenerations)
		return
	}
	db.moveSingletons()
}

// moveSingletons gives the roles that move without a recovery to processes that suit them
// better, so that an excluded process loses them even where the set of roles is as good as it gets.
func (db *Database) moveSingletons() {
	r := recruiter{db: db, pool: db.primaryPool(db.Roles.PrimaryDC), used: map[*Process]int{}}
	for _, a := range db.Roles.Assignments() {
		r.used[a.Instance.Server]++
	}
	before := db.Roles.Distributor
	db.Roles.Distributor = r.keep(before, RoleDataDistributor)
	db.Roles.Ratekeeper = r.keep(db.Roles.Ratekeeper, RoleRatekeeper)
	db.Roles.Scan = r.keep(db.Roles.Scan, RoleConsistencyScan)
	if db.Roles.Distributor.ID != before.ID {
		db.afterRecruiting(before)
	}
	db.Simulation.Wake()
}

// SinceRecovered is how long commits have been accepted; negative while they
// are not.
func (db *Database) SinceRecovered() time.Duration {
	if !db.Recovery.accepting() {
		return -1
	}
	return db.Simulation.Now.Sub(db.Recovery.since)
}
