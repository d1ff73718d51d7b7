package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// UpLongEnough asks whether the last recovery, and the last start of any process, are
// long enough ago for the next restart. Restarts in a row would leave a database that
// recovers more than it works. Missing is how much of the time is still to come.
func UpLongEnough(s plan.Snapshot, need time.Duration) (c plan.Check, missing time.Duration) {
	c = plan.Check{ID: plan.CheckAllUp, Question: fmt.Sprintf("have all processes been up for %s?", need), Gate: plan.GateUptime, Need: fmt.Sprintf("at least %s", need)}
	switch {
	case s.Database.Status == nil:
		c.Evidence = s.Database.Why()
		return c, need
	case s.Database.Status.Incomplete():
		c.Evidence = incompleteDocument
		return c, need
	}
	up, who, known := shortestUptime(s)
	if !known {
		c.Evidence = "the status document does not tell how long ago the last recovery was"
		return c, need
	}
	c.OK, c.Have = up >= need, up.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("%s, for %s", who, up.Round(time.Second))
	return c, max(0, need-up)
}

// shortestUptime is the youngest of the last recovery and of all processes that count:
// testers come and go, and an excluded process is on its way out. A process that does
// not tell its age, as right after its start, counts as just started.
func shortestUptime(s plan.Snapshot) (up time.Duration, who string, known bool) {
	status := s.Database.Status
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return 0, "", false
	}
	if version.HasRecoveryAge() {
		if up, known = status.RecoveryAge(); !known {
			return 0, "", false
		}
		who, known = "the last recovery is the youngest", true
	}
	for _, p := range status.ProcessList() {
		if v1beta2.ProcessClass(p.ClassType).IsTester() || p.IsExcluded() || !p.Reporting() {
			continue
		}
		uptime, _ := p.Uptime() // zero when unknown
		if !known || uptime < up {
			up, who, known = uptime, fmt.Sprintf("the process at %s (%s) is the youngest", p.Address.HostPort(), p.InstanceID()), true
		}
	}
	return up, who, known
}
