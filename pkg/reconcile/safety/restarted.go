package safety

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Restarted is how far a process group is that a person wants restarted.
type Restarted string

// The steps of a restart.
const (
	// RestartDue has a process that started before the restart was asked for.
	RestartDue Restarted = "waits"
	// RestartUnknown has a process that does not report, or does not tell its age: it just
	// ended, just started, or is broken.
	RestartUnknown Restarted = "silent"
	// RestartDone has all of its processes back, and all of them younger.
	RestartDone Restarted = "back"
)

// RestartedSince judges a group by the age of its processes. Since is by the database's
// own clock, as ages are. A group of which anything is not known is not done, and nobody
// may restart it either: it could be a moment from being back.
func RestartedSince(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, since time.Time) Restarted {
	if s.Database.Status == nil {
		return RestartUnknown
	}
	processes := s.Database.Status.ProcessesOf(string(g.ProcessGroupID))
	if len(processes) < serversOf(s, g) {
		return RestartUnknown
	}
	step := RestartDone
	for _, p := range processes {
		start, known := s.Database.Status.StartOf(p)
		switch {
		case !known || !p.Reporting():
			return RestartUnknown
		case !start.After(since):
			step = RestartDue
		}
	}
	return step
}
