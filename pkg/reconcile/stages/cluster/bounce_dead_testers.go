package cluster

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// minUptimeForTesters is the minimum uptime of all processes before the cluster controller
// is restarted because of removed testers. Default 1 h; source: the operator's flag
// minimum-required-uptime-for-cc-bounce.
const minUptimeForTesters = time.Hour

// forgetDeadTesters restarts the cluster controller where it still contacts removed
// testers: before 7.1.55 and 7.3.35 it never forgets them, and every status document stays
// incomplete. It restarts alone, and only when no other process has to.
func forgetDeadTesters(s plan.Snapshot) plan.Decision {
	dead := deadTesters(s)
	controller, found := clusterController(s.Database.Status)
	if len(dead) == 0 || !found {
		return plan.Decision{}
	}
	what := "the cluster controller has to restart to forget removed testers: " + readings.SomeOf(dead)
	uptime, missing := safety.UpLongEnough(s, minUptimeForTesters)
	if !uptime.OK {
		return plan.Decision{Checks: []plan.Check{uptime}, Hold: &plan.Hold{
			Code:   plan.HoldCheckRefused,
			Reason: what, Detail: uptime.Text(), RetryAfter: max(missing, minBounceRetry),
		}}
	}
	d, ok := CheckRestart(s, what)
	if !ok {
		return d
	}
	d.Why = what
	d.Actions = []plan.Action{plan.RestartProcesses{
		Groups: []v1beta2.ProcessGroupID{v1beta2.ProcessGroupID(controller.InstanceID())}, Addresses: []fdb.Address{controller.Address},
	}}
	return d
}

// deadTesters returns the addresses of unreachable testers; none in versions that forget
// them, or in an invalid one.
func deadTesters(s plan.Snapshot) []string {
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil || version.ForgetsDeadTesters() || s.Database.Status == nil {
		return nil
	}
	var dead []string
	for _, message := range s.Database.Status.Cluster.Messages {
		if message.Name != fdb.MessageUnreachableProcesses {
			continue
		}
		for _, unreachable := range message.UnreachableProcesses {
			if address, err := fdb.ParseAddress(unreachable.Address); err == nil && isTester(s, address) {
				dead = append(dead, address.HostPort())
			}
		}
	}
	return dead
}

// isTester reports whether a tester listens at an address, by its entry in the status
// document, which keeps the class of a removed one, or by the status.
func isTester(s plan.Snapshot, address fdb.Address) bool {
	return slices.ContainsFunc(s.Database.Status.ProcessList(), func(p fdb.Process) bool {
		return p.Address.HostPort() == address.HostPort() && v1beta2.ProcessClass(p.ClassType).IsTester()
	}) || slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return g.ProcessClass.IsTester() && slices.Contains(g.Addresses, address.Host)
	})
}

// clusterController returns the cluster controller, if exactly one process reports that role.
func clusterController(status *fdb.Status) (controller fdb.Process, found bool) {
	if status == nil {
		return fdb.Process{}, false
	}
	all := status.ProcessesThat(func(p fdb.Process) bool { return p.HasRole(fdb.RoleClusterController) && !p.Address.IsZero() })
	if len(all) != 1 {
		return fdb.Process{}, false
	}
	return all[0], true
}
