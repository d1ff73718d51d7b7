package safety

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Restarted is the progress of a restart of a process group.
type Restarted string

// The phases of a restart.
const (
	// RestartDue has a process that started before the restart was requested.
	RestartDue Restarted = "waits"
	// RestartUnknown has a process that does not report, or does not report its uptime: it
	// just ended, just started, or is broken.
	RestartUnknown Restarted = "silent"
	// RestartDone has all of its processes reporting, all started after the request.
	RestartDone Restarted = "back"
)

// RestartedSince determines the progress from the uptime of the group's processes. Since is by
// the database's own clock, as uptimes are. A group with anything unknown is not done, and
// must not be restarted either: it could be about to report.
func RestartedSince(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, since time.Time) Restarted {
	if noAnswer(s.Database) != "" {
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
