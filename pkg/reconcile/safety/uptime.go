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
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c, need
	}
	up, youngest, unknown := shortestUptime(s)
	if unknown != "" {
		c.Evidence = unknown
		return c, need
	}
	c.OK, c.Have = up >= need, up.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("%s %s ago, %s required", youngest, c.Have, need)
	c.Left = max(0, need-up)
	return c, c.Left
}

// shortestUptime is the shortest of the age of the last recovery and the uptimes of all
// processes that count, not of testers and excluded processes. A process that does not report
// its uptime, as right after its start, counts as just started. Unknown is what is missing; empty
// where nothing is.
func shortestUptime(s plan.Snapshot) (up time.Duration, youngest, unknown string) {
	const noRecoveryAge = "the status document does not report the age of the last recovery"
	status := s.Database.Status
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return 0, "", noRecoveryAge
	}
	if version.HasRecoveryAge() {
		age, known := status.RecoveryAge()
		if !known {
			return 0, "", noRecoveryAge
		}
		up, youngest = age, "last recovery"
	}
	counted := false
	for _, p := range status.ProcessList() {
		if v1beta2.ProcessClass(p.ClassType).IsTester() || p.IsExcluded() || !p.Reporting() {
			continue
		}
		uptime, _ := p.Uptime() // zero when unknown
		if youngest == "" || uptime < up {
			up, youngest = uptime, fmt.Sprintf("process at %s (%s) started", p.Address.HostPort(), p.InstanceID())
		}
		counted = true
	}
	if !counted {
		return 0, "", "no process reports its uptime"
	}
	return up, youngest, ""
}
