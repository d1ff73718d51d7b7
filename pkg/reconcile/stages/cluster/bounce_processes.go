package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
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

// certificatesConfigured checks, before processes get their first TLS listener, whether the
// paths of their certificate and key are configured. A process with a TLS listener and
// without these exits at once. All would exit together, and a correction of the spec is not
// applied until the database is available again.
//
// A file at FoundationDB's default path does not count: it cannot be observed from outside.
// The operator does not check this.
func certificatesConfigured(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.Check {
	c := plan.Check{ID: plan.CheckCertificatesSet, Question: "do all processes with a TLS listener have a certificate and key configured?", Gate: plan.GateConfig}
	var lacking []string
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !hasCertificate(s, g) {
			lacking = append(lacking, string(id))
		}
	}
	c.OK, c.Evidence = len(lacking) == 0, phrase.CountOf(len(groups), len(groups), "process group")+" "+phrase.Has(len(groups))
	if !c.OK {
		c.Evidence = fmt.Sprintf("neither variables of container %s (%s, %s) nor custom parameters configure them for %s",
			v1beta2.ContainerMain, v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile, readings.SomeOf(lacking))
	}
	return c
}

// firstTLS reports whether a TLS listener is added to processes that have none.
func firstTLS(c *v1beta2.FoundationDBCluster) bool {
	return readings.TLSConversion(c) && c.Spec.MainContainer.EnableTLS
}

func hasCertificate(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	return objects.SetsTLSFile(s.Cluster, g.ProcessClass, pod, v1beta2.EnvTLSCertificateFile) && objects.SetsTLSFile(s.Cluster, g.ProcessClass, pod, v1beta2.EnvTLSKeyFile)
}

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

// restartTogether restarts the processes of all control-plane instances at once, so that a
// change of all of them costs one recovery. Every control-plane instance announces its own
// process groups; the one that holds the lock when all pending ones are ready restarts them.
//
// The operator removes the announcements of all control-plane instances before every restart,
// in local mode too. Here only those of restarted groups are removed, and none in local mode.
func restartTogether(s plan.Snapshot, b readings.Bounce, d plan.Decision) plan.Decision {
	if !s.Coordination.Lists.Read {
		d.Hold = &plan.Hold{Code: plan.HoldSharedListsUnread, Reason: "processes cannot restart together with those of other control-plane instances: " + readings.ListsUnread, RetryAfter: plan.PodDelay}
		return d
	}
	own := readings.Restartable(s, b)
	if change := readyToRestart(s, own); !change.IsEmpty() {
		return readings.Announcing(d, change, safety.CommonRestart())
	}
	members, check, missing := safety.Synchronized(s, safety.CommonRestart())
	d.Checks = append(d.Checks, check)
	if !check.OK {
		d.Hold = readings.NotTogether(check, missing)
		return d
	}
	action, notReporting := commonRestart(s, b, members)
	if len(notReporting) > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldAddressesUnknown, Reason: fmt.Sprintf("other control-plane instances announced the restart of %s, and the database does not report their addresses", readings.SomeOf(notReporting)), RetryAfter: plan.PodDelay}
		return d
	}
	d.Why = fmt.Sprintf("the processes of %s of all control-plane instances run with other arguments than they would start with now", phrase.Count(len(action.Groups), "process group"))
	d.Actions = []plan.Action{action}
	return d
}

func readyToRestart(s plan.Snapshot, own []v1beta2.ProcessGroupID) plan.ChangeLists {
	e := readings.ListEditor{S: s, Change: plan.ChangeLists{At: s.Now}}
	for _, id := range own {
		e.Add(s.Cluster.ProcessGroup(id), fdb.PendingForRestart, fdb.ReadyForRestart)
	}
	return e.Change
}

// commonRestart returns a restart of the own processes and those that the others announced.
// notReporting are groups of others of which no process reports.
func commonRestart(s plan.Snapshot, b readings.Bounce, members []fdb.Member) (a plan.RestartProcesses, notReporting []string) {
	a = plan.RestartProcesses{Groups: readings.Restartable(s, b), Addresses: slices.Clone(b.Addresses), Announced: members}
	for _, g := range safety.Others(s, members) {
		addresses := readings.AddressesOf(s.Database.Status, g.ProcessGroupID)
		if len(addresses) == 0 {
			notReporting = append(notReporting, string(g.ProcessGroupID))
		}
		a.Groups, a.Addresses = append(a.Groups, g.ProcessGroupID), append(a.Addresses, addresses...)
	}
	return a, notReporting
}
