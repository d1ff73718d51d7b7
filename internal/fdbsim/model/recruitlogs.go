package model

import (
	"slices"
	"time"
)

// recruitLogs chooses the log servers of a new generation, or reports that the
// policies cannot be met.
func (db *Database) recruitLogs(conf Configuration, dc string) ([]LogSet, bool) {
	pool := db.Live()
	if len(conf.Regions) > 0 {
		pool = InDataCenter(pool, dc)
	}
	local, ok := db.logSet(LogLocal, pool, conf.logPolicy, conf.Logs)
	if !ok {
		return nil, false
	}
	local.AntiQuorum = conf.antiQuorum
	sets := []LogSet{local}
	if conf.UsableRegions < 2 {
		return sets, true
	}
	if satellite, ok := db.recruitSatellite(conf, dc); ok {
		sets = append(sets, satellite)
	}
	if remote, ok := db.logSet(LogRemote, InDataCenter(db.Live(), otherRegion(conf, dc)), conf.logPolicy, conf.Logs); ok {
		sets = append(sets, remote)
	}
	return sets, true
}

func (db *Database) recruitSatellite(conf Configuration, dc string) (LogSet, bool) {
	i := slices.IndexFunc(conf.Regions, func(r Region) bool { return r.Main().ID == dc })
	if i < 0 || conf.Regions[i].SatelliteMode == "" {
		return LogSet{}, false
	}
	r := conf.Regions[i]
	mode := satelliteReplicas[r.SatelliteMode]
	var pool []*Process
	for _, id := range r.satellites() {
		pool = append(pool, InDataCenter(db.Live(), id)...)
	}
	return db.logSet(LogSatellite, pool, AcrossZones(mode.replicas), max(r.SatelliteLogs, mode.replicas))
}

// logSet recruits n log servers of the best classes that can meet the policy.
func (db *Database) logSet(kind logKind, pool []*Process, p Policy, n int) (LogSet, bool) {
	able := db.logCandidates(pool)
	for end := range len(able) + 1 {
		if end > 0 && end < len(able) && db.fitness(RoleLog, able[end]) == db.fitness(RoleLog, able[end-1]) {
			continue // take a class as a whole
		}
		if chosen := p.spread(able[:end], n); chosen != nil {
			return LogSet{Kind: kind, Logs: db.newLogs(chosen), Policy: p}, true
		}
	}
	return LogSet{}, false
}

// logCandidates are the processes that may become log servers, best first. An
// excluded process never does.
func (db *Database) logCandidates(pool []*Process) []*Process {
	suits := db.suitabilityFor(RoleLog)
	var byFitness [neverAssign][]*Process
	for _, s := range pool {
		if f := suits.of(s); f < neverAssign && !db.Excluded(s) {
			byFitness[f] = append(byFitness[f], s)
		}
	}
	return slices.Concat(byFitness[:]...)
}

func (db *Database) newLogs(servers []*Process) []LogServer {
	logs := make([]LogServer, len(servers))
	for i, s := range servers {
		logs[i] = LogServer{ID: db.Simulation.Hex(16), Disk: s.Disk, Server: s}
	}
	return logs
}

func (db *Database) recruitRouters(conf Configuration, dc string) []RoleInstance {
	if conf.UsableRegions < 2 {
		return nil
	}
	r := recruiter{db: db, pool: InDataCenter(db.Live(), otherRegion(conf, dc)), used: map[*Process]int{}}
	return r.recruit(RoleRouter, max(conf.routers, conf.Logs))
}

func otherRegion(conf Configuration, dc string) string {
	for _, r := range conf.Regions {
		if r.Main().ID != dc {
			return r.Main().ID
		}
	}
	return ""
}

// primaryCandidates are the data centers that may be primary, best first. With
// one usable region only the one that holds the data can.
func (db *Database) primaryCandidates(conf Configuration) []string {
	if db.Forced != "" {
		return []string{db.Forced}
	}
	if len(conf.Regions) == 0 {
		return []string{db.Roles.PrimaryDC}
	}
	var ids []string
	for _, r := range conf.Regions {
		if main := r.Main(); main.Priority >= 0 && db.holdsData(main.ID) {
			ids = append(ids, main.ID)
		}
	}
	if len(ids) > 1 && db.Simulation.Now.Sub(db.Recovery.broken) < failOver {
		db.Simulation.After(failOver, db.reconsider)
		return ids[:1]
	}
	return ids
}

// failOver is how long a data center must be down before another one takes
// over.
const failOver = 20 * time.Second

// LogGeneration are the log servers between two recoveries.
type LogGeneration struct {
	Epoch      int
	Begin, End int64
	Sets       []LogSet
}

// startGeneration makes the recruited log servers the current ones.
func (db *Database) startGeneration(sets []LogSet) {
	begin := db.VersionNow()
	if len(db.Logs) == 0 {
		begin = 0
	} else {
		db.Logs[0].End = begin - 1
	}
	g := LogGeneration{Epoch: db.Recovery.Generation, Begin: begin, Sets: sets}
	db.Logs = append([]LogGeneration{g}, db.Logs...)
	db.begins = append(db.begins, begin)
}

// oldLogsReadable reports whether what the last generation holds can be taken
// over: not more of its local logs are lost than replication allows.
func (db *Database) oldLogsReadable() bool {
	if len(db.Logs) == 0 {
		return true
	}
	for _, set := range db.Logs[0].Sets {
		if set.readable(db) {
			return true
		}
	}
	return false
}

// readable reports whether enough of the set answers to know everything it
// acknowledged: no replica can be only on servers that are lost or, with an anti-quorum, that did not
// have to receive it. So the loss of one data hall never matters where the replicas are in two
// (TagPartitionedLogSystem::getDurableVersion).
func (s LogSet) readable(db *Database) bool {
	var available, lost []*Process
	for _, l := range s.Logs {
		if l.Host(db) == nil {
			lost = append(lost, l.Server)
		} else {
			available = append(available, l.Server)
		}
	}
	return len(available) > s.AntiQuorum && !s.Policy.satisfiedWith(lost, available, s.AntiQuorum)
}

// firstRolesCanImprove reports whether the set of roles of a new database was recruited
// before the right processes were known: true where log servers have a class of
// their own, as was recorded.
func (db *Database) firstRolesCanImprove() bool {
	return slices.ContainsFunc(db.Live(), func(s *Process) bool { return fitnessFor(RoleLog, s.Args.Class) == bestFit })
}
