package stages

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// bounceProcesses restarts servers that run with other arguments, or in another
// version, than they would start with now: all at once, since each restart costs a
// recovery. Servers of groups that are marked for removal are restarted too, once they have
// loaded the configuration: they still have work. Nothing waits for them to load it.
//
// In global synchronization mode the processes of all instances restart at once; see
// restartTogether.
//
// The operator ends its pass while it waits for the minimum uptime; here later stages
// go on, since none of them relies on what a restart would change.
var bounceProcesses = plan.Stage{
	Name:  plan.StageBounceProcesses,
	Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.KillProcesses() || !s.Cluster.Status.Configured {
			return plan.Decision{}
		}
		b := collectBounce(s)
		if len(b.groups) == 0 {
			if len(b.spared) > 0 {
				return plan.Wait(podDelay, plan.HoldRestartsKeptBack, b.keptFromRestarting())
			}
			return forgetDeadTesters(s)
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{
				Code:   plan.HoldDatabaseUnavailable,
				Reason: fmt.Sprintf("the processes of %s have to restart", phrase.Count(len(b.groups), "process group")), Detail: available.Evidence, RetryAfter: podDelay,
			}}
		}
		if why := b.notReady(); why != "" {
			return plan.Wait(podDelay, plan.HoldPodsUnsettled, why)
		}
		if firstTLS(s.Cluster) {
			if named := certificatesNamed(s, b.groups); !named.OK {
				return plan.Decision{Checks: []plan.Check{named}, Hold: &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Reason: fmt.Sprintf(
					"no server is restarted to listen with TLS: %s; set mainContainer.enableTls back, give the pods certificates, then set it again", named.Evidence)}}
			}
		}
		if incompatibleUpgrade(s.Cluster) {
			return restartForUpgrade(s, b)
		}
		d, ok := calmForRestart(s, fmt.Sprintf("the processes of %s have to restart", someOf(b.groups)))
		if !ok {
			return d
		}
		if safety.ActsTogether(s.Cluster) {
			return restartTogether(s, b, d)
		}
		d.Why = fmt.Sprintf("the processes of %s run with other arguments than they would start with now", phrase.Count(len(b.groups), "process group"))
		d.Actions = []plan.Action{plan.RestartProcesses{Groups: b.groups, Addresses: b.addresses}}
		return d
	},
}

// leastBounceRetry is when to look again at the earliest after a restart was not safe.
const leastBounceRetry = 15 * time.Second

// calmForRestart asks what has to hold before servers end on purpose; ok is false when
// something does not.
func calmForRestart(s plan.Snapshot, what string) (d plan.Decision, ok bool) {
	uptime, missing := safety.UpLongEnough(s, s.Cluster.MinimumUptimeForBounce())
	d.Checks = []plan.Check{
		safety.Available(s.Database), safety.Unlocked(s.Database), safety.FewGenerations(s.Database), safety.CleanBounce(s.Database), uptime,
	}
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s, but not yet", what), Detail: refused.Words(), RetryAfter: max(missing, leastBounceRetry)}
		return d, false
	}
	return d, true
}

// addressesOf are where a group's processes listen, by the status document.
func addressesOf(status *fdb.Status, id v1beta2.ProcessGroupID) []fdb.Address {
	var addresses []fdb.Address
	for _, p := range status.ProcessesOf(string(id)) {
		if !p.Address.IsZero() {
			addresses = append(addresses, p.Address)
		}
	}
	return addresses
}
