package model

// fitness is how well a process suits a role: lower is better.
type fitness int

const (
	bestFit fitness = iota
	goodFit
	unsetFit
	okayFit
	worstFit
	excludeFit
	neverAssign
)

// Role is what a process can be recruited for.
type Role string

// The roles, as status names them.
const (
	RoleMaster          Role = "master"
	RoleController      Role = "cluster_controller"
	RoleDataDistributor Role = "data_distributor"
	RoleRatekeeper      Role = "ratekeeper"
	RoleConsistencyScan Role = "consistency_scan"
	RoleCommitProxy     Role = "commit_proxy"
	RoleGrvProxy        Role = "grv_proxy"
	RoleResolver        Role = "resolver"
	RoleLog             Role = "log"
	RoleRouter          Role = "router"
	RoleStorage         Role = "storage"
	RoleCoordinator     Role = "coordinator"
)

// classes are how well classes suit one role, where that is not the default of its family.
type classes map[string]fitness

// classFitness has the classes of each role.
var classFitness = map[Role]classes{
	RoleStorage: {"storage": bestFit, "unset": unsetFit, "transaction": worstFit, "log": worstFit},
	RoleLog:     {"log": bestFit, "transaction": goodFit, "unset": unsetFit, "storage": worstFit},
	RoleCommitProxy: {
		"commit_proxy": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit,
	},
	RoleGrvProxy: {"grv_proxy": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	RoleResolver: {"resolution": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	RoleRouter:   {"router": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	RoleMaster:   {"master": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	RoleController: {
		"cluster_controller": bestFit, "stateless": goodFit, "unset": unsetFit, "master": okayFit, "resolution": okayFit,
		"transaction": okayFit, "commit_proxy": okayFit, "grv_proxy": okayFit, "router": okayFit,
		"storage": worstFit, "log": worstFit,
	},
	RoleDataDistributor: {
		"data_distributor": bestFit, "stateless": goodFit, "master": okayFit, "unset": unsetFit, "transaction": worstFit,
	},
	RoleRatekeeper: {"ratekeeper": bestFit, "stateless": goodFit, "master": okayFit, "unset": unsetFit, "transaction": worstFit},
	RoleConsistencyScan: {
		"consistency_scan": bestFit, "stateless": goodFit, "master": okayFit, "unset": unsetFit, "transaction": worstFit,
	},
}

// neverWorking are the classes that take no role at all.
var neverWorking = Set("test", "coordinator", "storage_cache", "blob_worker", "fast_restore")

// fitness is how well a class suits the role, exclusions not considered.
func (c classes) fitness(class string) fitness {
	if f, ok := c[class]; ok { // no class that takes no role is among them
		return f
	}
	if neverWorking[class] {
		return neverAssign
	}
	return excludeFit
}

// suitability is how well processes suit one role. Most processes of a cluster have the class of the
// one before, and are looked up once.
type suitability struct {
	db      *Database
	classes classes
	class   string
	fit     fitness
}

func (db *Database) suitabilityFor(r Role) suitability {
	return suitability{db: db, classes: classFitness[r], fit: classFitness[r].fitness("")}
}

// of is what db.fitness is for the role.
func (u *suitability) of(s *Process) fitness {
	if s.Args.Class != u.class {
		u.class, u.fit = s.Args.Class, u.classes.fitness(s.Args.Class)
	}
	if u.fit < excludeFit && u.db.Excluded(s) {
		return excludeFit
	}
	return u.fit
}

// fitnessFor is how well a class suits a role, exclusions not considered.
func fitnessFor(r Role, class string) fitness { return classFitness[r].fitness(class) }

// fitness is how well a process suits a role now: an excluded process is the
// last resort.
func (db *Database) fitness(r Role, s *Process) fitness {
	u := db.suitabilityFor(r)
	return u.of(s)
}
