package cluster

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// BounceProcesses restarts processes that run with other arguments, or in another version,
// than they would start with now: all at once, since each restart costs a recovery.
// Processes of groups that are marked for removal restart too, once they have loaded the
// configuration: they still hold data or roles. Nothing waits for them to load it.
//
// In global synchronization mode the processes of all control-plane instances restart at
// once; see restartTogether.
//
// The operator ends its pass while it waits for the minimum uptime; here later stages run,
// since none of them relies on what a restart would change.
var BounceProcesses = plan.Stage{
	Name:  plan.StageBounceProcesses,
	Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.KillProcesses() || !s.Cluster.Status.Configured {
			return plan.Decision{}
		}
		b := readings.CollectBounce(s)
		if len(b.Groups) == 0 {
			if len(b.Spared) > 0 {
				return plan.Wait(plan.PodDelay, plan.HoldRestartsKeptBack, keptFromRestarting(&b))
			}
			return forgetDeadTesters(s)
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{
				Code:   plan.HoldDatabaseUnavailable,
				Reason: fmt.Sprintf("the processes of %s have to restart", phrase.Count(len(b.Groups), "process group")), Detail: available.Evidence, RetryAfter: plan.PodDelay,
			}}
		}
		if why := b.NotReady(); why != "" {
			return plan.Wait(plan.PodDelay, plan.HoldPodsUnsettled, why)
		}
		if firstTLS(s.Cluster) {
			if configured := certificatesConfigured(s, b.Groups); !configured.OK {
				return plan.Decision{Checks: []plan.Check{configured}, Hold: &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: fmt.Sprintf(
					"processes are not restarted with a TLS listener: %s; revert spec.mainContainer.enableTls, add certificates to the pods, then set it again", configured.Evidence)}}
			}
		}
		if readings.IncompatibleUpgrade(s.Cluster) {
			return restartForUpgrade(s, b)
		}
		d, ok := CheckRestart(s, fmt.Sprintf("the processes of %s have to restart", readings.SomeOf(b.Groups)))
		if !ok {
			return d
		}
		if safety.ActsTogether(s.Cluster) {
			return restartTogether(s, b, d)
		}
		d.Why = fmt.Sprintf("the processes of %s run with other arguments than they would start with now", phrase.Count(len(b.Groups), "process group"))
		d.Actions = []plan.Action{plan.RestartProcesses{Groups: b.Groups, Addresses: b.Addresses}}
		return d
	},
}

// minBounceRetry is the minimum time before a refused restart is checked again.
const minBounceRetry = 15 * time.Second

// CheckRestart makes the checks of an intended restart; ok is false when one of them fails.
func CheckRestart(s plan.Snapshot, what string) (d plan.Decision, ok bool) {
	uptime, missing := safety.UpLongEnough(s, s.Cluster.MinimumUptimeForBounce())
	d.Checks = []plan.Check{
		safety.Available(s.Database), safety.Unlocked(s.Database), safety.FewGenerations(s.Database), safety.CleanBounce(s.Database), uptime,
	}
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: what, Detail: refused.Evidence, RetryAfter: max(missing, minBounceRetry)}
		return d, false
	}
	return d, true
}

// keptFromRestarting describes the spared groups, with the field that spares them.
func keptFromRestarting(b *readings.Bounce) string {
	return "kept from restarting by spec.buggify.ignoreDuringRestart: " + readings.SomeOf(b.Spared)
}
