package fdbsim

import (
	"cmp"
	"slices"
	"time"
)

// recruitLogs chooses the log servers of a new generation, or reports that the
// policies cannot be met.
func (db *database) recruitLogs(conf configuration, dc string) ([]logSet, bool) {
	pool := db.live()
	if len(conf.regions) > 0 {
		pool = inDC(pool, dc)
	}
	local, ok := db.logSet(logLocal, pool, conf.logPolicy, conf.logs)
	if !ok {
		return nil, false
	}
	local.antiQuorum = conf.antiQuorum
	sets := []logSet{local}
	if conf.usableRegions < 2 {
		return sets, true
	}
	if satellite, ok := db.recruitSatellite(conf, dc); ok {
		sets = append(sets, satellite)
	}
	if remote, ok := db.logSet(logRemote, inDC(db.live(), otherRegion(conf, dc)), conf.logPolicy, conf.logs); ok {
		sets = append(sets, remote)
	}
	return sets, true
}

func (db *database) recruitSatellite(conf configuration, dc string) (logSet, bool) {
	i := slices.IndexFunc(conf.regions, func(r region) bool { return r.main().ID == dc })
	if i < 0 || conf.regions[i].SatelliteMode == "" {
		return logSet{}, false
	}
	r := conf.regions[i]
	mode := satelliteReplicas[r.SatelliteMode]
	var pool []*server
	for _, id := range r.satellites() {
		pool = append(pool, inDC(db.live(), id)...)
	}
	return db.logSet(logSatellite, pool, acrossZones(mode.replicas), max(r.SatelliteLogs, mode.replicas))
}

// logSet recruits n log servers of the best classes that can meet the policy.
func (db *database) logSet(kind logKind, pool []*server, p policy, n int) (logSet, bool) {
	able := db.logCandidates(pool)
	for end := range len(able) + 1 {
		if end > 0 && end < len(able) && db.fitness(roleLog, able[end]) == db.fitness(roleLog, able[end-1]) {
			continue // take a class as a whole
		}
		if chosen := p.spread(able[:end], n); chosen != nil {
			return logSet{kind: kind, logs: db.newLogs(chosen), policy: p}, true
		}
	}
	return logSet{}, false
}

// logCandidates are the processes that may become log servers, best first. An
// excluded process never does.
func (db *database) logCandidates(pool []*server) []*server {
	var able []*server
	for _, s := range pool {
		if fitnessFor(roleLog, s.args.Class) < neverAssign && !db.excluded(s) {
			able = append(able, s)
		}
	}
	slices.SortStableFunc(able, func(a, b *server) int {
		return cmp.Compare(db.fitness(roleLog, a), db.fitness(roleLog, b))
	})
	return able
}

func (db *database) newLogs(servers []*server) []logServer {
	logs := make([]logServer, len(servers))
	for i, s := range servers {
		logs[i] = logServer{id: db.w.hex(16), disk: s.disk, server: s}
	}
	return logs
}

func (db *database) recruitRouters(conf configuration, dc string) []seat {
	if conf.usableRegions < 2 {
		return nil
	}
	r := recruiter{db: db, pool: inDC(db.live(), otherRegion(conf, dc)), used: map[*server]int{}}
	return r.seats(roleRouter, max(conf.routers, conf.logs))
}

func otherRegion(conf configuration, dc string) string {
	for _, r := range conf.regions {
		if r.main().ID != dc {
			return r.main().ID
		}
	}
	return ""
}

// primaryCandidates are the data centres that may be primary, best first. With
// one usable region only the one that holds the data can.
func (db *database) primaryCandidates(conf configuration) []string {
	if db.forced != "" {
		return []string{db.forced}
	}
	if len(conf.regions) == 0 {
		return []string{db.crew.primaryDC}
	}
	var ids []string
	for _, r := range conf.regions {
		if main := r.main(); main.Priority >= 0 && db.holdsData(main.ID) {
			ids = append(ids, main.ID)
		}
	}
	if len(ids) > 1 && db.w.now.Sub(db.recovery.broken) < failOver {
		db.w.after(failOver, db.reconsider)
		return ids[:1]
	}
	return ids
}

// failOver is how long a data centre has to be gone before another one takes
// over.
const failOver = 20 * time.Second

// logGeneration are the log servers between two recoveries.
type logGeneration struct {
	epoch      int
	begin, end int64
	sets       []logSet
}

// startGeneration makes the recruited log servers the current ones.
func (db *database) startGeneration(sets []logSet) {
	begin := db.versionNow()
	if len(db.logs) == 0 {
		begin = 0
	} else {
		db.logs[0].end = begin - 1
	}
	g := logGeneration{epoch: db.recovery.generation, begin: begin, sets: sets}
	db.logs = append([]logGeneration{g}, db.logs...)
}

// oldLogsReadable reports whether what the last generation holds can be taken
// over: not more of its local logs are gone than replication allows.
func (db *database) oldLogsReadable() bool {
	if len(db.logs) == 0 {
		return true
	}
	for _, set := range db.logs[0].sets {
		if set.readable(db) {
			return true
		}
	}
	return false
}

// readable reports whether enough of the set answers to know everything it
// acknowledged.
func (s logSet) readable(db *database) bool {
	missing := map[string]bool{}
	for _, l := range s.logs {
		if l.host(db) == nil {
			missing[l.server.zone()] = true
		}
	}
	return len(missing) < s.policy.replicas()-s.antiQuorum
}

// firstCrewCanImprove reports whether the crew of a new database was recruited
// before the right processes were known: true where log servers have a class of
// their own, as was recorded.
func (db *database) firstCrewCanImprove() bool {
	return slices.ContainsFunc(db.live(), func(s *server) bool { return fitnessFor(roleLog, s.args.Class) == bestFit })
}
