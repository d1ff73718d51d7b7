package fdbsim

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// seat is one role on one process.
type seat struct {
	server *server
	id     string
}

func (s seat) taken() bool { return s.server != nil }

// crew are the processes that work for the cluster as a whole, storage servers
// aside.
type crew struct {
	controller, master, distributor, ratekeeper, scan seat

	commitProxies, grvProxies, resolvers, routers []seat

	logSets   []logSet
	primaryDC string
}

// logKind says which part of the log a set of log servers is.
type logKind string

const (
	logLocal     logKind = "log"
	logSatellite logKind = "satellite_log"
	logRemote    logKind = "remote_log"
)

// logSet are log servers that hold the same part of the log.
type logSet struct {
	kind       logKind
	logs       []logServer
	policy     policy
	antiQuorum int
}

// logServer is one log role. It belongs to a data directory: a process that
// restarts with it goes on being this log server.
type logServer struct {
	id     string
	disk   *disk
	server *server
}

// host is the process that serves the log now, or nil.
func (l logServer) host(db *database) *server {
	if l.disk.lost {
		return nil
	}
	for _, s := range db.members {
		if s.disk == l.disk && s.alive() {
			return s
		}
	}
	return nil
}

// assignment is one role of the crew and who has it.
type assignment struct {
	role role
	seat seat
}

// assignments are all roles of the crew but the logs.
func (c *crew) assignments() []assignment {
	list := []assignment{
		{roleController, c.controller},
		{roleMaster, c.master},
		{roleDataDistributor, c.distributor},
		{roleRatekeeper, c.ratekeeper},
		{roleConsistencyScan, c.scan},
	}
	for _, group := range []struct {
		role  role
		seats []seat
	}{{roleCommitProxy, c.commitProxies}, {roleGrvProxy, c.grvProxies}, {roleResolver, c.resolvers}, {roleRouter, c.routers}} {
		for _, s := range group.seats {
			list = append(list, assignment{group.role, s})
		}
	}
	return slices.DeleteFunc(list, func(a assignment) bool { return !a.seat.taken() })
}

// dismiss ends the roles that do not outlive a generation.
func (c *crew) dismiss() {
	c.commitProxies, c.grvProxies, c.resolvers, c.routers, c.logSets = nil, nil, nil, nil, nil
}

// complete reports whether every part of the log is there that the
// configuration asks for.
func (c *crew) complete(conf configuration) bool {
	return conf.usableRegions < 2 || slices.ContainsFunc(c.logSets, func(s logSet) bool { return s.kind == logRemote })
}

// crewBroken reports whether a process died that transactions cannot do
// without.
func (db *database) crewBroken() bool {
	live := db.live()
	for _, e := range db.crew.assignments() {
		switch e.role {
		case roleDataDistributor, roleRatekeeper, roleConsistencyScan:
		default:
			if !slices.Contains(live, e.seat.server) {
				return true
			}
		}
	}
	for _, set := range db.crew.logSets {
		for _, l := range set.logs {
			if !slices.Contains(live, l.server) {
				return true
			}
		}
	}
	return false
}

// fitness is how well the crew suits its roles, lower being better. What is
// missing weighs more than what suits badly.
func (c *crew) fitness(db *database) int {
	const missing = 1000
	total := 0
	for _, e := range c.assignments() {
		if e.role == roleMaster || e.role == roleController || e.role == roleCommitProxy || e.role == roleGrvProxy || e.role == roleResolver {
			total = max(total, int(db.fitness(e.role, e.seat.server)))
		}
	}
	conf := db.configuration()
	if !c.complete(conf) {
		total += missing
	}
	for _, set := range c.logSets {
		worst, staying := 0, 0
		for _, l := range set.logs {
			worst = max(worst, int(db.fitness(roleLog, l.server)))
			if !db.excluded(l.server) {
				staying++
			}
		}
		total += 10 * worst
		if set.kind == logLocal { // the cluster controller puts up with fewer logs, and with no excluded one
			total += missing * max(0, conf.logs-staying)
		}
	}
	return total
}

// recruiter hands out processes, those with the fewest roles first.
type recruiter struct {
	db   *database
	pool []*server
	used map[*server]int
}

// candidates are the processes that could take a role, best first.
func (r *recruiter) candidates(of role) []*server {
	var able []*server
	for _, s := range r.pool {
		if r.db.fitness(of, s) < neverAssign {
			able = append(able, s)
		}
	}
	slices.SortStableFunc(able, func(a, b *server) int {
		return cmp.Or(cmp.Compare(r.db.fitness(of, a), r.db.fitness(of, b)), cmp.Compare(r.used[a], r.used[b]))
	})
	return able
}

// seats recruits up to n processes that are as fit and as free as the first.
func (r *recruiter) seats(of role, n int) []seat {
	able := r.candidates(of)
	var seats []seat
	for _, s := range able {
		if len(seats) == n {
			break
		}
		if r.db.fitness(of, s) > r.db.fitness(of, able[0]) || r.used[s] > r.used[able[0]] {
			break
		}
		seats = append(seats, seat{server: s, id: r.db.w.hex(16)})
	}
	for _, s := range seats {
		r.used[s.server]++
	}
	return seats
}

// keep is the seat as it is while its process lives and suits, else a new one.
func (r *recruiter) keep(old seat, of role) seat {
	able := r.candidates(of)
	if len(able) == 0 {
		return seat{}
	}
	if slices.Contains(able, old.server) && r.db.fitness(of, old.server) <= r.db.fitness(of, able[0]) {
		return old
	}
	return seat{server: able[0], id: r.db.w.hex(16)}
}

// electLeaders chooses the cluster controller and the master.
func (db *database) electLeaders() {
	r := recruiter{db: db, pool: db.primaryPool(db.crew.primaryDC), used: map[*server]int{}}
	if len(r.pool) == 0 {
		r.pool = db.live()
	}
	before := db.crew.controller
	db.crew.controller = r.keep(before, roleController)
	if db.crew.controller.id != before.id {
		db.members = slices.DeleteFunc(db.members, func(s *server) bool { return !s.alive() }) // a new controller has lists of its own
		db.strangers = nil
	}
	r.used[db.crew.controller.server]++
	db.crew.master = r.keep(db.crew.master, roleMaster)
	for _, s := range []*seat{&db.crew.distributor, &db.crew.ratekeeper, &db.crew.scan} {
		if s.taken() && !s.server.alive() {
			*s = seat{}
		}
	}
}

// primaryPool are the live processes of a data centre; all of them when the
// configuration has no regions.
func (db *database) primaryPool(dc string) []*server {
	if len(db.configuration().regions) == 0 {
		return db.live()
	}
	return inDC(db.live(), dc)
}

func inDC(servers []*server, dc string) []*server {
	var in []*server
	for _, s := range servers {
		if s.locality(fdb.LocalityDCID) == dc {
			in = append(in, s)
		}
	}
	return in
}

// recruitCrew chooses a crew among the live processes, or reports that there
// are not enough of them.
func (db *database) recruitCrew() (crew, bool) {
	conf := db.configuration()
	for _, dc := range db.primaryCandidates(conf) {
		if c, ok := db.recruitIn(conf, dc); ok {
			return c, true
		}
	}
	return crew{}, false
}

func (db *database) recruitIn(conf configuration, dc string) (crew, bool) {
	r := recruiter{db: db, pool: db.live(), used: map[*server]int{}}
	if len(conf.regions) > 0 {
		r.pool = inDC(r.pool, dc)
	}
	next := crew{primaryDC: dc}
	next.controller = r.keep(db.crew.controller, roleController)
	r.used[next.controller.server]++
	next.master = r.keep(db.crew.master, roleMaster)
	r.used[next.master.server]++
	sets, ok := db.recruitLogs(conf, dc)
	next.logSets = sets
	next.commitProxies = r.seats(roleCommitProxy, conf.commitProxies)
	next.grvProxies = r.seats(roleGrvProxy, conf.grvProxies)
	next.resolvers = r.seats(roleResolver, conf.resolvers)
	next.distributor = r.keep(db.crew.distributor, roleDataDistributor)
	next.ratekeeper = r.keep(db.crew.ratekeeper, roleRatekeeper)
	next.scan = r.keep(db.crew.scan, roleConsistencyScan)
	next.routers = db.recruitRouters(conf, dc)
	whole := next.controller.taken() && next.master.taken() &&
		len(next.commitProxies) > 0 && len(next.grvProxies) > 0 && len(next.resolvers) > 0
	return next, ok && whole
}
