package status

import (
	"math"

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

// losingLogs reports whether a part of the log may be lost permanently: where more servers of a local set
// failed than it tolerates. The satellite of a primary tolerates one more, and two sets that tolerate
// failures hold the same part.
func losingLogs(g model.LogGeneration, db *model.Database) bool {
	least, tolerant := math.MaxInt, 0
	for _, s := range g.Sets {
		if s.Kind == model.LogRemote || len(s.Logs) == 0 {
			continue
		}
		t := tolerance(s, db)
		if t >= 0 {
			tolerant++
		}
		if s.Kind == model.LogSatellite {
			t++
		}
		least = min(least, t)
	}
	return least < 0 && (tolerant <= 1 || least < -1)
}

// tolerance is how many more servers of the set may fail. Status counts servers that do not answer, and
// not their zones, so that it is negative also where all replicas can still be read
// (Status.actor.cpp, tlogFetcher).
func tolerance(s model.LogSet, db *model.Database) int {
	failed := 0
	for _, l := range s.Logs {
		if l.Host(db) == nil {
			failed++
		}
	}
	return s.Policy.Replicas() - 1 - s.AntiQuorum - failed
}

// logServerStatus is one log server. The address of a dead one is unknown.
func logServerStatus(l model.LogServer, db *model.Database) Object {
	if host := l.Host(db); host != nil {
		return Object{"id": l.ID, "healthy": true, "address": host.Address().String()}
	}
	return Object{"id": l.ID, "healthy": false}
}
