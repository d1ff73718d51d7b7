package fdbsim

import (
	"slices"
)

// logStatus describes the generations of logs, the current one first.
func (db *database) logStatus() []any {
	var each []any
	for i, g := range db.logs {
		status := object{
			"epoch": g.epoch, "current": i == 0, "begin_version": g.begin, "possibly_losing_data": g.losing(db),
		}
		if i > 0 {
			status["end_version"] = g.end
		}
		var interfaces []any
		for _, set := range g.sets {
			prefix := string(set.kind)
			status[prefix+"_fault_tolerance"] = set.tolerance(db)
			status[prefix+"_replication_factor"] = set.policy.replicas()
			if set.kind != logRemote {
				status[prefix+"_write_anti_quorum"] = set.antiQuorum
			}
			for _, l := range set.logs {
				interfaces = append(interfaces, l.status(db))
			}
		}
		status["log_interfaces"] = list(interfaces)
		each = append(each, status)
	}
	return list(each)
}

// losing reports whether a part of the log may be gone for good.
func (g logGeneration) losing(db *database) bool {
	return slices.ContainsFunc(g.sets, func(s logSet) bool { return s.kind == logLocal && s.tolerance(db) < 0 })
}

// tolerance is how many more of the set's zones may fail.
func (s logSet) tolerance(db *database) int {
	missing := map[string]bool{}
	for _, l := range s.logs {
		if l.host(db) == nil {
			missing[l.server.zone()] = true
		}
	}
	return max(-1, s.policy.replicas()-1-s.antiQuorum-len(missing))
}

// status is one log server. Nobody knows the address of a dead one.
func (l logServer) status(db *database) object {
	if host := l.host(db); host != nil {
		return object{"id": l.id, "healthy": true, "address": host.address().String()}
	}
	return object{"id": l.id, "healthy": false}
}
