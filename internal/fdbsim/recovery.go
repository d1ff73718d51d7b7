package fdbsim

import (
	"slices"
	"time"
)

// Names of recovery_state.name.
const (
	stateReadingState     = "reading_coordinated_state"
	stateLockingState     = "locking_coordinated_state"
	stateNeverConfigured  = "configuration_never_created"
	stateRecruiting       = "recruiting_transaction_servers"
	stateAccepting        = "accepting_commits"
	stateAllLogsRecruited = "all_logs_recruited"
	stateFullyRecovered   = "fully_recovered"
)

var stateDescriptions = map[string]string{
	stateReadingState: "Requesting information from coordination servers. Verify that a majority of coordination server processes are active.",
	stateLockingState: "Locking coordination state. Verify that a majority of coordination server processes are active.",
	stateNeverConfigured: "The coordinator(s) have no record of this database. Either the coordinator addresses are incorrect, " +
		"the coordination state on those machines is missing, or no database has been created.",
	stateRecruiting:       "Recruiting new transaction servers.",
	stateAccepting:        "Accepting commits.",
	stateAllLogsRecruited: "Accepting commits. All logs recruited.",
	stateFullyRecovered:   "Recovery complete.",
}

// recovery is how far the cluster has come since transactions last stopped.
type recovery struct {
	state      string
	generation int
	// since is when commits were accepted again; zero while they are not.
	since time.Time
	// serial numbers the attempts, so that what an older one had planned is
	// dropped.
	serial int
	// broken is when commits were stopped.
	broken time.Time
	// attempting says that an attempt is scheduled.
	attempting bool
}

func (r recovery) accepting() bool { return !r.since.IsZero() }

// betterCheck is how soon the cluster controller looks whether new processes
// would make a better crew.
const betterCheck = 3 * time.Second

// versionJump is what a recovery adds to the version, so that no transaction of
// the last generation can commit in the next one.
const versionJump = 100 * microsPerSecond

// reconsider looks whether the cluster as it is now can go on, has to recover,
// or can do neither.
func (db *database) reconsider() {
	if _, reached := db.quorumVersion(); !reached {
		db.stop(stateReadingState)
		return
	}
	db.registerWith(db.conn)
	if db.recovery.attempting {
		return
	}
	switch {
	case !db.recovery.accepting():
		db.attemptAfter(db.w.pace.Recruit)
	case db.crewBroken():
		db.recoverAfter(db.w.pace.NoticeFailure, failureGenerations(db))
	}
}

// failureGenerations is by how much a recovery after a failure moves the
// generation.
func failureGenerations(db *database) int { return 3 + db.w.random.IntN(2) }

// requestedGenerations is by how much a recovery moves the generation that a
// change of the configuration or the coordinators asked for.
const requestedGenerations = 2

// stop ends transactions without a way to go on yet.
func (db *database) stop(state string) {
	db.recovery.state = state
	db.recovery.since = time.Time{}
	db.recovery.serial++
	db.recovery.attempting = false
	db.crew = crew{}
}

// recoverAfter starts a recovery: transactions stop now, and start again when
// new roles are recruited.
func (db *database) recoverAfter(d time.Duration, generations int) {
	db.recovery.state = stateReadingState
	db.recovery.since = time.Time{}
	db.recovery.broken = db.w.now
	db.recovery.generation += generations
	db.crew.dismiss()
	db.skipped += versionJump
	db.attemptAfter(d)
}

func (db *database) attemptAfter(d time.Duration) {
	db.recovery.serial++
	db.recovery.attempting = true
	serial := db.recovery.serial
	db.w.after(d, func() {
		if db.recovery.serial == serial {
			db.recovery.attempting = false
			db.attempt()
		}
	})
}

// attempt goes through the stages of a recovery and stops at the first that is
// impossible now. A change of the members or the configuration tries again.
func (db *database) attempt() {
	if _, reached := db.quorumVersion(); !reached || len(db.live()) == 0 {
		db.stop(stateReadingState)
		return
	}
	db.electLeaders()
	switch {
	case !db.configured():
		db.recovery.state = stateNeverConfigured
		db.recovery.generation = 1
	case !db.oldLogsReadable():
		db.recovery.state = stateLockingState
	default:
		db.recruit()
	}
	db.w.wake()
}

func (db *database) recruit() {
	fresh := len(db.logs) == 0
	next, ok := db.recruitCrew()
	if !ok || (fresh && !db.placeableIn(next.primaryDC)) {
		db.recovery.state = stateRecruiting
		return
	}
	moved := next.distributor.id != db.crew.distributor.id
	db.crew = next
	if fresh {
		db.recovery.generation = max(db.recovery.generation, 1) + 1
	}
	db.startGeneration(next.logSets)
	db.recovery.state = stateAllLogsRecruited
	db.recovery.since = db.w.now
	switch {
	case !next.complete(db.configuration()):
		db.recovery.state = stateAccepting
	case len(db.logs) == 1:
		db.recovery.state = stateFullyRecovered
	}
	if fresh {
		db.created = db.w.now
		db.createData()
	}
	db.afterRecruiting(moved, fresh)
	db.drainAfter(db.w.pace.Drain)
	if fresh && db.firstCrewCanImprove() {
		db.dist.creating = true
		db.recoverAfter(0, requestedGenerations)
	}
}

// afterRecruiting starts data distribution anew where it is on another process
// now, or has another configuration to follow.
func (db *database) afterRecruiting(moved, fresh bool) {
	reconfigured, creating := db.dist.reconfigured, db.dist.creating || fresh
	db.dist.reconfigured, db.dist.creating = false, false
	if moved || creating {
		db.dist.recruited = db.w.now
	}
	switch {
	case creating:
		db.restartDistribution(db.w.pace.Creation)
	case moved:
		db.restartDistribution(db.w.pace.Distribution)
	case reconfigured:
		db.restartDistributionIn(newConfigurationNoticed)
	default:
		db.wakeDistribution(0)
	}
}

// drainAfter drops the old log generations once every storage server has made
// them durable. One that does not answer, and is not given up, holds them back.
func (db *database) drainAfter(d time.Duration) {
	serial, caughtUp := db.recovery.serial, db.w.now.Add(d)
	var look func()
	look = func() {
		if db.recovery.serial != serial || !db.recovery.accepting() || len(db.logs) == 0 {
			return
		}
		if db.recovery.state == stateAccepting || slices.ContainsFunc(db.storage, func(ss *storageServer) bool { return !ss.answers() }) {
			caughtUp = db.w.now.Add(catchUp)
		}
		if db.w.now.Before(caughtUp) {
			db.w.after(drainCheck, look)
			return
		}
		db.logs = db.logs[:1]
		db.recovery.state = stateFullyRecovered
		db.w.wake()
	}
	db.w.after(d, look)
}

const (
	// drainCheck is how often it is looked whether everything is durable.
	drainCheck = time.Second
	// catchUp is how long a storage server that was away needs to read what it
	// missed.
	catchUp = 4 * time.Second
)

// lookForBetter recovers when the processes of now would make a better crew
// than the one at work.
func (db *database) lookForBetter() {
	if !db.recovery.accepting() || db.recovery.attempting {
		return
	}
	next, ok := db.recruitCrew()
	if ok && next.fitness(db) < db.crew.fitness(db) {
		db.electLeaders()
		db.recoverAfter(db.w.pace.Recruit, requestedGenerations)
		return
	}
	db.moveSingletons()
}

// moveSingletons gives the roles that move without a recovery to processes that suit them
// better, so that an excluded process loses them even where the crew is as good as it gets.
func (db *database) moveSingletons() {
	r := recruiter{db: db, pool: db.primaryPool(db.crew.primaryDC), used: map[*server]int{}}
	for _, a := range db.crew.assignments() {
		r.used[a.seat.server]++
	}
	before := db.crew.distributor
	db.crew.distributor = r.keep(before, roleDataDistributor)
	db.crew.ratekeeper = r.keep(db.crew.ratekeeper, roleRatekeeper)
	db.crew.scan = r.keep(db.crew.scan, roleConsistencyScan)
	if db.crew.distributor.id != before.id {
		db.afterRecruiting(true, false)
	}
	db.w.wake()
}

// sinceRecovered is how long commits have been accepted; negative while they
// are not.
func (db *database) sinceRecovered() time.Duration {
	if !db.recovery.accepting() {
		return -1
	}
	return db.w.now.Sub(db.recovery.since)
}
