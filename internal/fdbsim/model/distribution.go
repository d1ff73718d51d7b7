package model

import (
	"cmp"
	"slices"
	"time"
)

// distribution is the state of data distribution.
type distribution struct {
	// readyAt is when it has initialized.
	readyAt time.Time
	// Recruited is when it started on the process that it is on.
	Recruited time.Time
	// On is false after `datadistribution off`.
	On bool
	// ticking is whether a tick is scheduled.
	ticking bool
	// wakes are when it looks at the cluster: once for all of many processes that join together.
	wakes pending
	// reconfigured is whether the next recovery comes from a change of the
	// configuration, after which initializing takes longer.
	reconfigured bool
	// creating is whether the next recovery still belongs to the creation of the
	// database.
	creating bool
	// Groups are the groups of replicas that it knows: those of when it started.
	Groups []DataGroup
	// restarting is whether it is about to notice a new configuration.
	restarting bool
	Migration  migration
	// Moved counts the bytes written since the last recovery, and MovedEver those of all time.
	Moved, MovedEver int64
}

// move is a relocation of a shard.
type move struct {
	target   []*StorageServer
	left     int64
	Priority int
}

// Target are the storage servers that the shard moves to.
func (m *move) Target() []*StorageServer { return m.target }

// Priorities of moves as status shows them.
const (
	PriorityRebalance     = 122
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

// RestartDistribution makes data distribution initialize again.
func (db *Database) RestartDistribution(d time.Duration) {
	db.Distribution.readyAt = db.Simulation.Now.Add(d)
	db.Distribution.Migration = migration{round: db.Distribution.Migration.round + 1}
	db.Distribution.Moved, db.Distribution.restarting, db.Distribution.Groups = 0, false, db.DataGroups()
	for _, sh := range db.Shards {
		sh.Move = nil
	}
	db.wakeDistribution(d)
}

// How long data distribution takes to notice a new configuration, or that the
// old one was set again. Until then it reports the old value.
const (
	newConfigurationNoticed  = 100 * time.Millisecond
	sameConfigurationNoticed = time.Second
)

// restartDistributionIn makes data distribution initialize once it has noticed a
// new configuration.
func (db *Database) restartDistributionIn(d time.Duration) {
	db.Distribution.restarting = true
	db.Simulation.After(d, func() {
		if db.Distribution.restarting {
			db.RestartDistribution(db.Simulation.Pace.Distribution)
		}
	})
}

// Distributing reports whether data distribution is past its initialization.
func (db *Database) Distributing() bool {
	return db.Readable() && !db.Simulation.Now.Before(db.Distribution.readyAt)
}

// wakeDistribution makes data distribution look at the cluster after d.
func (db *Database) wakeDistribution(d time.Duration) {
	db.Simulation.afterOnce(&db.Distribution.wakes, d, func() {
		if !db.Distribution.ticking {
			db.distribute()
		}
	})
}

// distribute is one tick of data distribution.
func (db *Database) distribute() {
	db.Distribution.ticking = false
	if !db.Distributing() || !db.Distribution.On || db.Distribution.restarting {
		return
	}
	db.recruitStorage()
	db.progressMoves()
	db.planMoves()
	db.migrate()
	removed := func(ss *StorageServer) bool { return db.removable(ss) }
	before := len(db.Storage)
	db.Storage = slices.DeleteFunc(db.Storage, removed)
	if db.moving() || before != len(db.Storage) {
		db.Distribution.ticking = true
		db.Simulation.After(distributionTick, db.distribute)
	}
	db.Simulation.Wake()
}

func (db *Database) moving() bool {
	return slices.ContainsFunc(db.Shards, func(sh *Shard) bool { return sh.Move != nil })
}

func (db *Database) progressMoves() {
	budget := int64(distributionTick.Seconds() * float64(db.MoveRate()))
	for _, sh := range db.Shards {
		m := sh.Move
		if m == nil || !slices.ContainsFunc(sh.Replicas, (*StorageServer).Answers) {
			continue
		}
		if slices.ContainsFunc(m.target, func(ss *StorageServer) bool { return !ss.Answers() }) {
			sh.Move = nil
			continue
		}
		step := min(budget, m.left)
		m.left -= step
		db.Distribution.Moved += step
		db.Distribution.MovedEver += step
		if m.left <= 0 {
			sh.Replicas, sh.Move = m.target, nil
		}
	}
}

// MoveRate is how many bytes a stream of data movement moves per second.
func (db *Database) MoveRate() int64 {
	if db.Faults.MoveBytesPerSecond > 0 {
		return db.Faults.MoveBytesPerSecond
	}
	return db.Simulation.Pace.MoveBytesPerSecond
}

// planMoves starts the most urgent moves that are needed and possible.
func (db *Database) planMoves() {
	groups := db.DataGroups()
	active := 0
	var waiting []*Shard
	for _, sh := range db.Shards {
		switch {
		case sh.Move != nil:
			active++
		case db.needsMove(sh, groups):
			waiting = append(waiting, sh)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *Shard) int { return cmp.Compare(db.urgency(b), db.urgency(a)) })
	for _, sh := range waiting {
		if active >= parallelMoves {
			return
		}
		if target := db.TeamFor(sh, groups); target != nil && !sameTeam(target, sh.Replicas) {
			sh.Move = &move{target: target, left: sh.Bytes, Priority: db.urgency(sh)}
			active++
		}
	}
	if active == 0 && len(waiting) == 0 {
		db.rebalance(groups)
	}
}

// urgency is the priority of moving a shard that needs it.
func (db *Database) urgency(sh *Shard) int {
	switch db.NoticedReplicas(sh) {
	case 0:
		return priorityNoneLeft
	case 1:
		if len(sh.Replicas) > 1 {
			return priorityOneLeft
		}
	}
	if slices.ContainsFunc(sh.Replicas, func(ss *StorageServer) bool { return !db.HealthyHolder(ss) }) {
		return priorityTeamUnhealthy
	}
	return priorityRepopulate
}

// NoticedReplicas is how many replicas data distribution believes in.
func (db *Database) NoticedReplicas(sh *Shard) int {
	n := 0
	for _, ss := range sh.Replicas {
		if !ss.DeathNoticed {
			n++
		}
	}
	return n
}

// rebalance moves a shard from the fullest server to the emptiest when that
// evens them out.
func (db *Database) rebalance(groups []DataGroup) {
	for _, g := range groups {
		fullest, emptiest := db.extremes(g)
		if fullest == nil || fullest == emptiest {
			continue
		}
		gap := db.StoredBytes(fullest) - db.StoredBytes(emptiest)
		for _, sh := range db.Shards {
			if !slices.Contains(sh.Replicas, fullest) || slices.Contains(sh.Replicas, emptiest) || 2*sh.Bytes > gap {
				continue
			}
			target := slices.Clone(sh.Replicas)
			target[slices.Index(target, fullest)] = emptiest
			if db.allowed(target, groups) {
				sh.Move = &move{target: target, left: sh.Bytes, Priority: PriorityRebalance}
				break
			}
		}
	}
}

func (db *Database) allowed(team []*StorageServer, groups []DataGroup) bool {
	return !db.needsMove(&Shard{Replicas: team}, groups)
}

func (db *Database) extremes(g DataGroup) (fullest, emptiest *StorageServer) {
	for _, ss := range db.Storage {
		if !g.Holds(ss.Server) || !ss.Answers() || !db.HealthyHolder(ss) {
			continue
		}
		if fullest == nil || db.StoredBytes(ss) > db.StoredBytes(fullest) {
			fullest = ss
		}
		if emptiest == nil || db.StoredBytes(ss) < db.StoredBytes(emptiest) {
			emptiest = ss
		}
	}
	return fullest, emptiest
}
