package model

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// RoleInstance is one role on one process.
type RoleInstance struct {
	Server *Process
	ID     string
}

// Taken reports whether a process has the role.
func (s RoleInstance) Taken() bool { return s.Server != nil }

// roles are the processes that work for the cluster as a whole, storage servers
// aside.
type roles struct {
	Controller, master, Distributor, Ratekeeper, Scan RoleInstance

	commitProxies, grvProxies, resolvers, routers []RoleInstance

	logSets   []LogSet
	PrimaryDC string
}

// logKind is the part of the log that a set of log servers is.
type logKind string

// The kinds of log sets, as status names them.
const (
	LogLocal     logKind = "log"
	LogSatellite logKind = "satellite_log"
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

// Assignment is one role of the set of roles and who has it.
type Assignment struct {
	Role     Role
	Instance RoleInstance
}

// Assignments are all roles of the set of roles but the logs.
func (c *roles) Assignments() []Assignment {
	list := []Assignment{
		{RoleController, c.Controller},
		{RoleMaster, c.master},
		{RoleDataDistributor, c.Distributor},
		{RoleRatekeeper, c.Ratekeeper},
		{RoleConsistencyScan, c.Scan},
	}
	for _, group := range []struct {
		role      Role
		instances []RoleInstance
	}{{RoleCommitProxy, c.commitProxies}, {RoleGrvProxy, c.grvProxies}, {RoleResolver, c.resolvers}, {RoleRouter, c.routers}} {
		for _, s := range group.instances {
			list = append(list, Assignment{group.role, s})
		}
	}
	return slices.DeleteFunc(list, func(a Assignment) bool { return !a.Instance.Taken() })
}

// dismiss ends the roles that do not outlive a generation.
func (c *roles) dismiss() {
	c.commitProxies, c.grvProxies, c.resolvers, c.routers, c.logSets = nil, nil, nil, nil, nil
}

// complete reports whether every part of the log is there that the
// configuration asks for.
func (c *roles) complete(conf Configuration) bool {
	return conf.UsableRegions < 2 || slices.ContainsFunc(c.logSets, func(s LogSet) bool { return s.Kind == LogRemote })
}

// rolesBroken reports whether a process died that transactions cannot do
// without.
func (db *Database) rolesBroken() bool {
	live := db.Live()
	for _, e := range db.Roles.Assignments() {
		switch e.Role {
		case RoleDataDistributor, RoleRatekeeper, RoleConsistencyScan:
		default:
			if !slices.Contains(live, e.Instance.Server) {
				return true
			}
		}
	}
	for _, set := range db.Roles.logSets {
		for _, l := range set.Logs {
			if !slices.Contains(live, l.Server) {
				return true
			}
		}
	}
	return false
}

// quality is how well a set of roles is recruited, its parts in the order in which the cluster controller compares them
// (ClusterController.actor.h, betterMasterExists): lower is better.
type quality [8]int

// quality is what is missing from the set of roles and how well processes suit it, then how many roles share a process, and how
// few the roles are that there can be several of.
func (c *roles) quality(db *Database) quality {
	used := map[*Process]int{}
	for _, a := range c.Assignments() {
		switch a.Role {
		case RoleDataDistributor, RoleRatekeeper, RoleConsistencyScan: // move without a recovery
		default:
			used[a.Instance.Server]++
		}
	}
	q := quality{c.suits(db)}
	if c.master.Server == c.Controller.Server {
		q[1] = 1
	}
	for i, several := range [][]RoleInstance{c.commitProxies, c.grvProxies, c.resolvers} {
		for _, s := range several {
			q[2+2*i] = max(q[2+2*i], used[s.Server])
		}
		q[3+2*i] = -len(several)
	}
	return q
}

// suits is how well processes suit the roles that they have. What is missing weighs more than what suits badly.
func (c *roles) suits(db *Database) int {
	const missing = 1000
	total := 0
	for _, e := range c.Assignments() {
		if e.Role == RoleMaster || e.Role == RoleController || e.Role == RoleCommitProxy || e.Role == RoleGrvProxy || e.Role == RoleResolver {
			total = max(total, int(db.fitness(e.Role, e.Instance.Server)))
		}
	}
	for _, router := range c.routers {
		if db.Excluded(router.Server) { // as with logs, one that is excluded is enough to look for others
			total += missing
		}
	}
	conf := db.Configuration()
	if !c.complete(conf) {
		total += missing
	}
	for _, set := range c.logSets {
		worst, remaining := 0, 0
		for _, l := range set.Logs {
			worst = max(worst, int(db.fitness(RoleLog, l.Server)))
			if !db.Excluded(l.Server) {
				remaining++
			}
		}
		total += 10 * worst
		if set.Kind == LogLocal { // the cluster controller puts up with fewer logs, and with no excluded one
			total += missing * max(0, conf.Logs-remaining)
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
	suits, fewest := r.db.suitabilityFor(of), 0
	fit = neverAssign
	for _, s := range r.pool {
		f := suits.of(s)
		if f == neverAssign || f > fit {
			continue
		}
		switch used := r.used[s]; {
		case f < fit || used < fewest:
			best, fit, fewest = append(best[:0], s), f, used
		case used == fewest:
			best = append(best, s)
		}
	}
	return best, fit
}

// recruit chooses up to n processes that are as fit and as free as the first.
func (r *recruiter) recruit(of Role, n int) []RoleInstance {
	best, _ := r.best(of)
	var instances []RoleInstance
	for _, s := range best[:min(n, len(best))] {
		instances = append(instances, r.take(s))
	}
	return instances
}

// take gives a process one role more.
func (r *recruiter) take(s *Process) RoleInstance {
	r.used[s]++
	return RoleInstance{Server: s, ID: r.db.Simulation.Hex(16)}
}

// rank is in which order processes get a role, lower first: how well they suit it, how many roles they have, whether one of
// them is a singleton, and whether they have one of the roles that are chosen together.
type rank [4]int

func (r *recruiter) rank(s *Process, f fitness, together []RoleInstance) rank {
	k := rank{int(f), r.used[s], 0, len(together)}
	c := r.db.Roles
	if s == c.Distributor.Server || s == c.Ratekeeper.Server || s == c.Scan.Server {
		k[2] = 1
	}
	for i, chosen := range slices.Backward(together) {
		if chosen.Server == s {
			k[3] = i
			break
		}
	}
	return k
}

// transactionRoles are the roles that are chosen together, so that each has one process before any has a second one.
var transactionRoles = [3]Role{RoleCommitProxy, RoleGrvProxy, RoleResolver}

// recruitTogether chooses processes for commit proxies, GRV proxies and resolvers, up to so many of each. The first of each role
// comes first. Whatever is as fit as the first, and as free as the least free of the three, may be the next
// (ClusterController.actor.h, findWorkersForConfigurationFromDC).
func (r *recruiter) recruitTogether(counts [3]int) (chosen [3][]RoleInstance) {
	var (
		together []RoleInstance
		fits     [3]fitness
		mostUsed int
	)
	for i, of := range transactionRoles {
		suits, first, lowest := r.db.suitabilityFor(of), (*Process)(nil), rank{}
		for _, s := range r.pool {
			if f := suits.of(s); f < neverAssign {
				if k := r.rank(s, f, together); first == nil || slices.Compare(k[:], lowest[:]) < 0 {
					first, lowest, fits[i] = s, k, f
				}
			}
		}
		if first == nil {
			return chosen
		}
		mostUsed = max(mostUsed, r.used[first])
		together = append(together, r.take(first))
		chosen[i] = together[i : i+1 : i+1]
	}
	for i, of := range transactionRoles {
		chosen[i] = append(chosen[i], r.recruitBeside(chosen[i][0].Server, of, counts[i]-1, fits[i], mostUsed, together)...)
	}
	return chosen
}

// recruitBeside chooses up to n processes beside the first one of a role.
func (r *recruiter) recruitBeside(first *Process, of Role, n int, fit fitness, mostUsed int, together []RoleInstance) (chosen []RoleInstance) {
	suits, ranks := r.db.suitabilityFor(of), map[*Process]rank{}
	var able []*Process
	for _, s := range r.pool {
		if f := suits.of(s); s != first && f < excludeFit && (f < max(fit, goodFit) || f == max(fit, goodFit) && r.used[s] <= mostUsed) {
			able, ranks[s] = append(able, s), r.rank(s, f, together)
		}
	}
	slices.SortStableFunc(able, func(a, b *Process) int {
		x, y := ranks[a], ranks[b]
		return slices.Compare(x[:], y[:])
	})
	for _, s := range able[:max(0, min(n, len(able)))] {
		chosen = append(chosen, r.take(s))
	}
	return chosen
}

// keep is the seat as it is while its process lives and suits, else a new one.
func (r *recruiter) keep(old RoleInstance, of Role) RoleInstance {
	best, fit := r.best(of)
	if len(best) == 0 {
		return RoleInstance{}
	}
	if old.Taken() && slices.Contains(r.pool, old.Server) && r.db.fitness(of, old.Server) <= fit {
		return old
	}
	return RoleInstance{Server: best[0], ID: r.db.Simulation.Hex(16)}
}

// master is the master as it is, unless another process suits as well and has fewer roles, such as any beside the controller.
func (r *recruiter) master() RoleInstance {
	old := r.keep(r.db.Roles.master, RoleMaster)
	if best, fit := r.best(RoleMaster); r.used[old.Server] > 0 && len(best) > 0 && r.used[best[0]] < r.used[old.Server] && fit <= r.db.fitness(RoleMaster, old.Server) {
		return RoleInstance{Server: best[0], ID: r.db.Simulation.Hex(16)}
	}
	return old
}

// electLeaders chooses the cluster controller and the master.
func (db *Database) electLeaders() {
	r := recruiter{db: db, pool: db.primaryPool(db.Roles.PrimaryDC), used: map[*Process]int{}}
	if len(r.pool) == 0 {
		r.pool = db.Live()
	}
	before := db.Roles.Controller
	db.Roles.Controller = r.keep(before, RoleController)
	if db.Roles.Controller.ID != before.ID {
		db.registerAgain()
		db.incompatiblePeers = nil
	}
	r.used[db.Roles.Controller.Server]++
	db.Roles.master = r.master()
	for _, s := range []*RoleInstance{&db.Roles.Distributor, &db.Roles.Ratekeeper, &db.Roles.Scan} {
		if s.Taken() && !s.Server.Alive() {
			*s = RoleInstance{}
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
			db.Simulation.After(joinRetry, func() { db.Simulation.join(s) })
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

// recruitRoles chooses a set of roles among the live processes, or reports that there
// are not enough of them.
func (db *Database) recruitRoles() (roles, bool) {
	conf := db.Configuration()
	for _, dc := range db.primaryCandidates(conf) {
		if c, ok := db.recruitIn(conf, dc); ok {
			return c, true
		}
	}
	return roles{}, false
}

func (db *Database) recruitIn(conf Configuration, dc string) (roles, bool) {
	r := recruiter{db: db, pool: db.Live(), used: map[*Process]int{}}
	if len(conf.Regions) > 0 {
		r.pool = InDataCenter(r.pool, dc)
	}
	next := roles{PrimaryDC: dc}
	next.Controller = r.keep(db.Roles.Controller, RoleController)
	r.used[next.Controller.Server]++
	next.master = r.master()
	r.used[next.master.Server]++
	sets, ok := db.recruitLogs(conf, dc)
	next.logSets = sets
	together := r.recruitTogether([3]int{conf.CommitProxies, conf.GrvProxies, conf.Resolvers})
	next.commitProxies, next.grvProxies, next.resolvers = together[0], together[1], together[2]
	next.Distributor = r.keep(db.Roles.Distributor, RoleDataDistributor)
	next.Ratekeeper = r.keep(db.Roles.Ratekeeper, RoleRatekeeper)
	next.Scan = r.keep(db.Roles.Scan, RoleConsistencyScan)
	next.routers = db.recruitRouters(conf, dc)
	whole := next.Controller.Taken() && next.master.Taken() &&
		len(next.commitProxies) > 0 && len(next.grvProxies) > 0 && len(next.resolvers) > 0
	return next, ok && whole
}
