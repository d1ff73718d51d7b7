package model

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Seat is one role on one process.
type Seat struct {
	Server *Process
	ID     string
}

// Taken reports whether a process has the role.
func (s Seat) Taken() bool { return s.Server != nil }

// crew are the processes that work for the cluster as a whole, storage servers
// aside.
type crew struct {
	Controller, master, Distributor, Ratekeeper, Scan Seat

	commitProxies, grvProxies, resolvers, routers []Seat

	logSets   []LogSet
	PrimaryDC string
}

// logKind is the part of the log that a set of log servers is.
type logKind string

// The kinds of log sets, as status names them.
const (
	LogLocal     logKind = "log"
	logSatellite logKind = "satellite_log"
	LogRemote    logKind = "remote_log"
)

// LogSet are log servers that hold the same part of the log.
type LogSet struct {
	Kind       logKind
	Logs       []LogServer
	Policy     Policy
	AntiQuorum int
}

// LogServer is one log role. It belongs to a data directory: a process that
// restarts with it goes on being this log server.
type LogServer struct {
	ID     string
	Disk   *Disk
	Server *Process
}

// Host is the process that serves the log now, or nil.
func (l LogServer) Host(db *Database) *Process {
	if l.Disk.Lost {
		return nil
	}
	for _, s := range db.Members {
		if s.Disk == l.Disk && s.Alive() {
			return s
		}
	}
	return nil
}

// Assignment is one role of the crew and who has it.
type Assignment struct {
	Role Role
	Seat Seat
}

// Assignments are all roles of the crew but the logs.
func (c *crew) Assignments() []Assignment {
	list := []Assignment{
		{RoleController, c.Controller},
		{RoleMaster, c.master},
		{RoleDataDistributor, c.Distributor},
		{RoleRatekeeper, c.Ratekeeper},
		{RoleConsistencyScan, c.Scan},
	}
	for _, group := range []struct {
		role  Role
		seats []Seat
	}{{RoleCommitProxy, c.commitProxies}, {RoleGrvProxy, c.grvProxies}, {RoleResolver, c.resolvers}, {RoleRouter, c.routers}} {
		for _, s := range group.seats {
			list = append(list, Assignment{group.role, s})
		}
	}
	return slices.DeleteFunc(list, func(a Assignment) bool { return !a.Seat.Taken() })
}

// dismiss ends the roles that do not outlive a generation.
func (c *crew) dismiss() {
	c.commitProxies, c.grvProxies, c.resolvers, c.routers, c.logSets = nil, nil, nil, nil, nil
}

// complete reports whether every part of the log is there that the
// configuration asks for.
func (c *crew) complete(conf Configuration) bool {
	return conf.UsableRegions < 2 || slices.ContainsFunc(c.logSets, func(s LogSet) bool { return s.Kind == LogRemote })
}

// crewBroken reports whether a process died that transactions cannot do
// without.
func (db *Database) crewBroken() bool {
	live := db.Live()
	for _, e := range db.Crew.Assignments() {
		switch e.Role {
		case RoleDataDistributor, RoleRatekeeper, RoleConsistencyScan:
		default:
			if !slices.Contains(live, e.Seat.Server) {
				return true
			}
		}
	}
	for _, set := range db.Crew.logSets {
		for _, l := range set.Logs {
			if !slices.Contains(live, l.Server) {
				return true
			}
		}
	}
	return false
}

// fitness is how well the crew suits its roles, lower being better. What is
// missing weighs more than what suits badly.
func (c *crew) fitness(db *Database) int {
	const missing = 1000
	total := 0
	for _, e := range c.Assignments() {
		if e.Role == RoleMaster || e.Role == RoleController || e.Role == RoleCommitProxy || e.Role == RoleGrvProxy || e.Role == RoleResolver {
			total = max(total, int(db.fitness(e.Role, e.Seat.Server)))
		}
	}
	conf := db.Configuration()
	if !c.complete(conf) {
		total += missing
	}
	for _, set := range c.logSets {
		worst, staying := 0, 0
		for _, l := range set.Logs {
			worst = max(worst, int(db.fitness(RoleLog, l.Server)))
			if !db.Excluded(l.Server) {
				staying++
			}
		}
		total += 10 * worst
		if set.Kind == LogLocal { // the cluster controller puts up with fewer logs, and with no excluded one
			total += missing * max(0, conf.Logs-staying)
		}
	}
	return total
}

// recruiter hands out processes, those with the fewest roles first.
type recruiter struct {
	db   *Database
	pool []*Process
	used map[*Process]int
}

// best are the processes that suit a role best, those among them with the fewest roles, and how
// well they suit; none without a process that could take it.
func (r *recruiter) best(of Role) (best []*Process, fit fitness) {
	fit = neverAssign
	for _, s := range r.pool {
		f := r.db.fitness(of, s)
		if f == neverAssign {
			continue
		}
		better := len(best) == 0 || cmp.Or(cmp.Compare(f, fit), cmp.Compare(r.used[s], r.used[best[0]])) < 0
		switch {
		case better:
			best, fit = append(best[:0], s), f
		case f == fit && r.used[s] == r.used[best[0]]:
			best = append(best, s)
		}
	}
	return best, fit
}

// seats recruits up to n processes that are as fit and as free as the first.
func (r *recruiter) seats(of Role, n int) []Seat {
	best, _ := r.best(of)
	var seats []Seat
	for _, s := range best[:min(n, len(best))] {
		seats = append(seats, Seat{Server: s, ID: r.db.World.Hex(16)})
	}
	for _, s := range seats {
		r.used[s.Server]++
	}
	return seats
}

// keep is the seat as it is while its process lives and suits, else a new one.
func (r *recruiter) keep(old Seat, of Role) Seat {
	best, fit := r.best(of)
	if len(best) == 0 {
		return Seat{}
	}
	if old.Taken() && slices.Contains(r.pool, old.Server) && r.db.fitness(of, old.Server) <= fit {
		return old
	}
	return Seat{Server: best[0], ID: r.db.World.Hex(16)}
}

// electLeaders chooses the cluster controller and the master.
func (db *Database) electLeaders() {
	r := recruiter{db: db, pool: db.primaryPool(db.Crew.PrimaryDC), used: map[*Process]int{}}
	if len(r.pool) == 0 {
		r.pool = db.Live()
	}
	before := db.Crew.Controller
	db.Crew.Controller = r.keep(before, RoleController)
	if db.Crew.Controller.ID != before.ID {
		db.registerAgain()
		db.strangers = nil
	}
	r.used[db.Crew.Controller.Server]++
	db.Crew.master = r.keep(db.Crew.master, RoleMaster)
	for _, s := range []*Seat{&db.Crew.Distributor, &db.Crew.Ratekeeper, &db.Crew.Scan} {
		if s.Taken() && !s.Server.Alive() {
			*s = Seat{}
		}
	}
}

// registerAgain is a new controller's list of processes, which is its own: dead ones are not on it, and
// neither are those that speak another protocol, whatever the controller before knew of them.
func (db *Database) registerAgain() {
	live := db.Live()
	db.Members = slices.DeleteFunc(db.Members, func(s *Process) bool {
		if slices.Contains(live, s) {
			return false
		}
		if s.Alive() {
			s.db = nil
			db.World.After(joinRetry, func() { db.World.join(s) })
		}
		return true
	})
}

// primaryPool are the live processes of a data center; all of them when the
// configuration has no regions.
func (db *Database) primaryPool(dc string) []*Process {
	if len(db.Configuration().Regions) == 0 {
		return db.Live()
	}
	return InDataCenter(db.Live(), dc)
}

// InDataCenter are the processes in a data center.
func InDataCenter(servers []*Process, dc string) []*Process {
	var in []*Process
	for _, s := range servers {
		if s.Locality(fdb.LocalityDCID) == dc {
			in = append(in, s)
		}
	}
	return in
}

// recruitCrew chooses a crew among the live processes, or reports that there
// are not enough of them.
func (db *Database) recruitCrew() (crew, bool) {
	conf := db.Configuration()
	for _, dc := range db.primaryCandidates(conf) {
		if c, ok := db.recruitIn(conf, dc); ok {
			return c, true
		}
	}
	return crew{}, false
}

func (db *Database) recruitIn(conf Configuration, dc string) (crew, bool) {
	r := recruiter{db: db, pool: db.Live(), used: map[*Process]int{}}
	if len(conf.Regions) > 0 {
		r.pool = InDataCenter(r.pool, dc)
	}
	next := crew{PrimaryDC: dc}
	next.Controller = r.keep(db.Crew.Controller, RoleController)
	r.used[next.Controller.Server]++
	next.master = r.keep(db.Crew.master, RoleMaster)
	r.used[next.master.Server]++
	sets, ok := db.recruitLogs(conf, dc)
	next.logSets = sets
	next.commitProxies = r.seats(RoleCommitProxy, conf.CommitProxies)
	next.grvProxies = r.seats(RoleGrvProxy, conf.GrvProxies)
	next.resolvers = r.seats(RoleResolver, conf.Resolvers)
	next.Distributor = r.keep(db.Crew.Distributor, RoleDataDistributor)
	next.Ratekeeper = r.keep(db.Crew.Ratekeeper, RoleRatekeeper)
	next.Scan = r.keep(db.Crew.Scan, RoleConsistencyScan)
	next.routers = db.recruitRouters(conf, dc)
	whole := next.Controller.Taken() && next.master.Taken() &&
		len(next.commitProxies) > 0 && len(next.grvProxies) > 0 && len(next.resolvers) > 0
	return next, ok && whole
}
