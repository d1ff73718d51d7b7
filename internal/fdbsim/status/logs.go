package status

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// logStatus describes the generations of logs, the current one first.
func logStatus(db *model.Database) []any {
	var each []any
	for i, g := range db.Logs {
		status := Object{
			"epoch": g.Epoch, "current": i == 0, "begin_version": g.Begin, "possibly_losing_data": losingLogs(g, db),
		}
		if i > 0 {
			status["end_version"] = g.End
		}
		var interfaces []any
		for _, set := range g.Sets {
			prefix := string(set.Kind)
			status[prefix+"_fault_tolerance"] = tolerance(set, db)
			status[prefix+"_replication_factor"] = set.Policy.Replicas()
			if set.Kind != model.LogRemote {
				status[prefix+"_write_anti_quorum"] = set.AntiQuorum
			}
			for _, l := range set.Logs {
				interfaces = append(interfaces, logServerStatus(l, db))
			}
		}
		status["log_interfaces"] = list(interfaces)
		each = append(each, status)
	}
	return list(each)
}

// losingLogs reports whether a part of the log may be lost permanently.
func losingLogs(g model.LogGeneration, db *model.Database) bool {
	return slices.ContainsFunc(g.Sets, func(s model.LogSet) bool { return s.Kind == model.LogLocal && tolerance(s, db) < 0 })
}

// tolerance is how many more of the set's zones may fail.
func tolerance(s model.LogSet, db *model.Database) int {
	missing := map[string]bool{}
	for _, l := range s.Logs {
		if l.Host(db) == nil {
			missing[l.Server.Zone()] = true
		}
	}
	return max(-1, s.Policy.Replicas()-1-s.AntiQuorum-len(missing))
}

// logServerStatus is one log server. The address of a dead one is unknown.
func logServerStatus(l model.LogServer, db *model.Database) Object {
	if host := l.Host(db); host != nil {
		return Object{"id": l.ID, "healthy": true, "address": host.Address().String()}
	}
	return Object{"id": l.ID, "healthy": false}
}
