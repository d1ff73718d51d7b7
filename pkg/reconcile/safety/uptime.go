package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// UpLongEnough checks whether the last recovery, and the last start of any process, are long
// enough ago for the next restart. Restarts in quick succession would leave the database
// recovering most of the time. Missing is how much of the time remains.
func UpLongEnough(s plan.Snapshot, need time.Duration) (c plan.Check, missing time.Duration) {
	c = plan.Check{ID: plan.CheckAllUp, Question: fmt.Sprintf("have all processes been up for %s?", need), Gate: plan.GateUptime, Need: fmt.Sprintf("at least %s", need)}
	switch {
	case s.Database.Status == nil:
		c.Evidence = noStatus(s.Database)
		return c, need
	case s.Database.Status.Incomplete():
		c.Evidence = incompleteDocument
		return c, need
	}
	up, youngest, known := shortestUptime(s)
	if !known {
		c.Evidence = "the status document does not report the age of the last recovery"
		return c, need
	}
	c.OK, c.Have = up >= need, up.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("%s %s ago, %s required", youngest, c.Have, need)
	return c, max(0, need-up)
}

// shortestUptime is the shortest of the age of the last recovery and the uptimes of all
// processes that count, not of testers and excluded processes. A process that does not report
// its uptime, as right after its start, counts as just started.
func shortestUptime(s plan.Snapshot) (up time.Duration, youngest string, known bool) {
	status := s.Database.Status
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return 0, "", false
	}
	if version.HasRecoveryAge() {
		if up, known = status.RecoveryAge(); !known {
			return 0, "", false
		}
		youngest, known = "last recovery", true
	}
	for _, p := range status.ProcessList() {
		if v1beta2.ProcessClass(p.ClassType).IsTester() || p.IsExcluded() || !p.Reporting() {
			continue
		}
		uptime, _ := p.Uptime() // zero when unknown
		if !known || uptime < up {
			up, youngest, known = uptime, fmt.Sprintf("process at %s (%s) started", p.Address.HostPort(), p.InstanceID()), true
		}
	}
	return up, youngest, known
}
