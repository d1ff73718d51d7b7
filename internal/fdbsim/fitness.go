package fdbsim

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

// role is what a process can be recruited for.
type role string

const (
	roleMaster          role = "master"
	roleController      role = "cluster_controller"
	roleDataDistributor role = "data_distributor"
	roleRatekeeper      role = "ratekeeper"
	roleConsistencyScan role = "consistency_scan"
	roleCommitProxy     role = "commit_proxy"
	roleGrvProxy        role = "grv_proxy"
	roleResolver        role = "resolver"
	roleLog             role = "log"
	roleRouter          role = "router"
	roleStorage         role = "storage"
	roleCoordinator     role = "coordinator"
)

// classFitness holds what is not the default of a role's family.
var classFitness = map[role]map[string]fitness{
	roleStorage: {"storage": bestFit, "unset": unsetFit, "transaction": worstFit, "log": worstFit},
	roleLog:     {"log": bestFit, "transaction": goodFit, "unset": unsetFit, "storage": worstFit},
	roleCommitProxy: {
		"commit_proxy": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit,
	},
	roleGrvProxy: {"grv_proxy": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	roleResolver: {"resolution": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	roleRouter:   {"router": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	roleMaster:   {"master": bestFit, "stateless": goodFit, "unset": unsetFit, "transaction": worstFit},
	roleController: {
		"cluster_controller": bestFit, "stateless": goodFit, "unset": unsetFit, "master": okayFit, "resolution": okayFit,
		"transaction": okayFit, "commit_proxy": okayFit, "grv_proxy": okayFit, "router": okayFit,
		"storage": worstFit, "log": worstFit,
	},
	roleDataDistributor: {
		"data_distributor": bestFit, "stateless": goodFit, "master": okayFit, "unset": unsetFit, "transaction": worstFit,
	},
	roleRatekeeper: {"ratekeeper": bestFit, "stateless": goodFit, "master": okayFit, "unset": unsetFit, "transaction": worstFit},
	roleConsistencyScan: {
		"consistency_scan": bestFit, "stateless": goodFit, "master": okayFit, "unset": unsetFit, "transaction": worstFit,
	},
}

// neverWorking are the classes that take no role at all.
var neverWorking = set("test", "coordinator", "storage_cache", "blob_worker", "fast_restore")

// fitnessFor is how well a class suits a role, exclusions not considered.
func fitnessFor(r role, class string) fitness {
	if neverWorking[class] {
		return neverAssign
	}
	if f, ok := classFitness[r][class]; ok {
		return f
	}
	return excludeFit
}

// fitness is how well a process suits a role now: an excluded process is the
// last resort.
func (db *database) fitness(r role, s *server) fitness {
	f := fitnessFor(r, s.args.Class)
	if f < excludeFit && db.excluded(s) {
		return excludeFit
	}
	return f
}
