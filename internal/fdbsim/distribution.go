package fdbsim

import (
	"cmp"
	"slices"
	"time"
)

// distribution is the state of data distribution.
type distribution struct {
	// readyAt is when it has initialised.
	readyAt time.Time
	// recruited is when it started on the process that it is on.
	recruited time.Time
	// on is false after `datadistribution off`.
	on bool
	// ticking says that a tick is scheduled.
	ticking bool
	// reconfigured says that the next recovery comes from a change of the
	// configuration, after which initialising takes longer.
	reconfigured bool
	// creating says that the next recovery still belongs to the creation of
	// the database.
	creating bool
	// groups are the groups of replicas that it knows: those of when it started.
	groups []dataGroup
	// restarting says that it is about to notice a new configuration.
	restarting bool
	migration  migration
	// moved counts the bytes written since the last recovery.
	moved int64
}

// move is a relocation of a shard.
type move struct {
	target   []*storageServer
	left     int64
	priority int
}

// Priorities of moves as status shows them.
const (
	priorityRebalance     = 122
	priorityRepopulate    = 600
	priorityTeamUnhealthy = 700
	priorityOneLeft       = 800
	priorityNoneLeft      = 900
)

const (
	// distributionTick is how often moves make progress.
	distributionTick = 500 * time.Millisecond
	// parallelMoves is how many shards move at a time.
	parallelMoves = 10
)

// restartDistribution makes data distribution initialise anew.
func (db *database) restartDistribution(d time.Duration) {
	db.dist.readyAt = db.w.now.Add(d)
	db.dist.migration = migration{round: db.dist.migration.round + 1}
	db.dist.moved, db.dist.restarting, db.dist.groups = 0, false, db.dataGroups()
	for _, sh := range db.shards {
		sh.move = nil
	}
	db.wakeDistribution(d)
}

// How long data distribution takes to notice a new configuration, or that the
// old one was set again. Until then it says what it said before.
const (
	newConfigurationNoticed  = 100 * time.Millisecond
	sameConfigurationNoticed = time.Second
)

// restartDistributionIn makes data distribution initialise once it has noticed a
// new configuration.
func (db *database) restartDistributionIn(d time.Duration) {
	db.dist.restarting = true
	db.w.after(d, func() {
		if db.dist.restarting {
			db.restartDistribution(db.w.pace.Distribution)
		}
	})
}

// distributing reports whether data distribution is past its initialisation.
func (db *database) distributing() bool {
	return db.readable() && !db.w.now.Before(db.dist.readyAt)
}

// wakeDistribution makes data distribution look at the cluster after d.
func (db *database) wakeDistribution(d time.Duration) {
	db.w.after(d, func() {
		if !db.dist.ticking {
			db.distribute()
		}
	})
}

// distribute is one tick of data distribution.
func (db *database) distribute() {
	db.dist.ticking = false
	if !db.distributing() || !db.dist.on || db.dist.restarting {
		return
	}
	db.recruitStorage()
	db.progressMoves()
	db.planMoves()
	db.migrate()
	gone := func(ss *storageServer) bool { return db.removable(ss) }
	before := len(db.storage)
	db.storage = slices.DeleteFunc(db.storage, gone)
	if db.moving() || before != len(db.storage) {
		db.dist.ticking = true
		db.w.after(distributionTick, db.distribute)
	}
	db.w.wake()
}

func (db *database) moving() bool {
	return slices.ContainsFunc(db.shards, func(sh *shard) bool { return sh.move != nil })
}

func (db *database) progressMoves() {
	budget := int64(distributionTick.Seconds() * float64(db.moveRate()))
	for _, sh := range db.shards {
		m := sh.move
		if m == nil || !slices.ContainsFunc(sh.replicas, (*storageServer).answers) {
			continue
		}
		if slices.ContainsFunc(m.target, func(ss *storageServer) bool { return !ss.answers() }) {
			sh.move = nil
			continue
		}
		step := min(budget, m.left)
		m.left -= step
		db.dist.moved += step
		if m.left <= 0 {
			sh.replicas, sh.move = m.target, nil
		}
	}
}

func (db *database) moveRate() int64 {
	if db.faults.MoveBytesPerSecond > 0 {
		return db.faults.MoveBytesPerSecond
	}
	return db.w.pace.MoveBytesPerSecond
}

// planMoves starts the most urgent moves that are needed and possible.
func (db *database) planMoves() {
	groups := db.dataGroups()
	active := 0
	var waiting []*shard
	for _, sh := range db.shards {
		switch {
		case sh.move != nil:
			active++
		case db.needsMove(sh, groups):
			waiting = append(waiting, sh)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *shard) int { return cmp.Compare(db.urgency(b), db.urgency(a)) })
	for _, sh := range waiting {
		if active >= parallelMoves {
			return
		}
		if target := db.teamFor(sh, groups); target != nil && !sameTeam(target, sh.replicas) {
			sh.move = &move{target: target, left: sh.bytes, priority: db.urgency(sh)}
			active++
		}
	}
	if active == 0 && len(waiting) == 0 {
		db.rebalance(groups)
	}
}

// urgency is the priority of moving a shard that needs it.
func (db *database) urgency(sh *shard) int {
	switch db.noticedReplicas(sh) {
	case 0:
		return priorityNoneLeft
	case 1:
		if len(sh.replicas) > 1 {
			return priorityOneLeft
		}
	}
	if slices.ContainsFunc(sh.replicas, func(ss *storageServer) bool { return !db.healthyHolder(ss) }) {
		return priorityTeamUnhealthy
	}
	return priorityRepopulate
}

// noticedReplicas is how many replicas data distribution believes in.
func (db *database) noticedReplicas(sh *shard) int {
	n := 0
	for _, ss := range sh.replicas {
		if !ss.deathNoticed {
			n++
		}
	}
	return n
}

// rebalance moves a shard from the fullest server to the emptiest when that
// evens them out.
func (db *database) rebalance(groups []dataGroup) {
	for _, g := range groups {
		fullest, emptiest := db.extremes(g)
		if fullest == nil || fullest == emptiest {
			continue
		}
		gap := db.storedBytes(fullest) - db.storedBytes(emptiest)
		for _, sh := range db.shards {
			if !slices.Contains(sh.replicas, fullest) || slices.Contains(sh.replicas, emptiest) || 2*sh.bytes > gap {
				continue
			}
			target := slices.Clone(sh.replicas)
			target[slices.Index(target, fullest)] = emptiest
			if db.allowed(target, groups) {
				sh.move = &move{target: target, left: sh.bytes, priority: priorityRebalance}
				break
			}
		}
	}
}

func (db *database) allowed(team []*storageServer, groups []dataGroup) bool {
	return !db.needsMove(&shard{replicas: team}, groups)
}

func (db *database) extremes(g dataGroup) (fullest, emptiest *storageServer) {
	for _, ss := range db.storage {
		if !g.holds(ss.server) || !ss.answers() || !db.healthyHolder(ss) {
			continue
		}
		if fullest == nil || db.storedBytes(ss) > db.storedBytes(fullest) {
			fullest = ss
		}
		if emptiest == nil || db.storedBytes(ss) < db.storedBytes(emptiest) {
			emptiest = ss
		}
	}
	return fullest, emptiest
}
