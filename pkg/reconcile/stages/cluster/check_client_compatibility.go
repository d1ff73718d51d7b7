package cluster

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CheckClientCompatibility ends a pass that would upgrade the database to a version which it
// cannot change to, by which data or availability would be lost as far as is known, or which
// some of its clients are incompatible with, or which its images do not have: pods would be recreated
// and binaries copied in vain, and new pods would run another version, also without an upgrade. No
// other stage runs then: whatever a pass creates or restarts could start in the new version already.
//
// The operator checks the same for a cluster without a database, so that a mistyped version
// cannot be corrected downwards before the first database exists. There is no data and no
// client then, and nothing is checked here.
var CheckClientCompatibility = plan.Stage{
	Name:  plan.StageCheckClientCompatibility,
	Reads: plan.ClusterResource | plan.Pods | plan.Database,
	Decide: func(s plan.Snapshot) plan.Decision {
		c := s.Cluster
		if c.Spec.IgnoreUpgradabilityChecks {
			return plan.Decision{}
		}
		if errs := c.ImageContradictions(); len(errs) > 0 {
			return endPass(readings.InvalidSpec(errs.ToAggregate()), 0)
		}
		if !c.IsBeingUpgraded() || noDatabaseYet(s) {
			return plan.Decision{}
		}
		if err := imageRunsAnother(s); err != nil {
			return endPass(readings.InvalidSpec(err), 0)
		}
		running, target, err := versionChange(c)
		if err != nil {
			return endPass(readings.InvalidSpec(err), 0)
		}
		if !running.CanChangeTo(target) {
			return endPass(readings.InvalidSpec(fmt.Errorf(
				"FoundationDB cannot be downgraded from %s to %s; revert spec.version, or set spec.ignoreUpgradabilityChecks", running, target)), 0)
		}
		d := judgeVersions(s, running, target)
		if d.Hold != nil || running.ProtocolCompatible(target) {
			return d
		}
		clients := judgeClients(s, target)
		clients.Checks = append(d.Checks, clients.Checks...)
		return clients
	},
}

// clientRetry is when clients are checked again.
// Source: the operator waits as long.
const clientRetry = time.Minute

// judgeClients looks for clients that would lose the database. While these are unknown the
// pass ends, unless the upgrade has begun: then clients were checked before, and a database
// that is down on the way may need the very pods that later stages create. Its processes are
// restarted only while it is available, and so after another check of the clients.
func judgeClients(s plan.Snapshot, target fdb.Version) plan.Decision {
	d := plan.Decision{Checks: clientsAreKnown(s.Database)}
	if unknown, is := d.Refused(); is {
		if upgradeHasBegun(s) {
			return d
		}
		d.Hold = &plan.Hold{Code: plan.HoldClientsUnknown, Reason: fmt.Sprintf(
			"cannot determine whether all clients are compatible with %s (%s); to continue before, set spec.version to %s or set spec.ignoreUpgradabilityChecks",
			target, unknown.Evidence, s.Cluster.RunningVersion())}
		return endPass(d, plan.PodDelay)
	}
	if old := readings.OldClients(s, target); len(old) > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldClientsIncompatible, Manual: true, Reason: fmt.Sprintf(
			"clients incompatible with %s: %s; upgrade them, or ignore their log groups (spec.automationOptions.ignoreLogGroupsForUpgrade)",
			target, readings.SomeOf(old))}
		return endPass(d, clientRetry)
	}
	return d
}

// clientsReconnect is how long clients may need after a recovery to find the database again;
// until then the database counts none. The model of FoundationDB 7.3.79 needs 4.5 s.
const clientsReconnect = 30 * time.Second

// clientsAreKnown returns the checks that must pass before the status document's list of
// clients is valid. An unavailable database needs no other check.
func clientsAreKnown(d plan.DatabaseFacts) []plan.Check {
	available := safety.Available(d)
	if !available.OK {
		return []plan.Check{available}
	}
	listed := plan.Check{ID: plan.CheckClientsListed, Question: "does the status document list the clients?", OK: d.Status.Cluster.Clients != nil, Evidence: "it does"}
	if !listed.OK {
		listed.Evidence = "it does not"
	}
	return []plan.Check{available, safety.RecoveredFor(d, clientsReconnect), listed}
}

// endPass ends the pass after this stage.
func endPass(d plan.Decision, retryAfter time.Duration) plan.Decision {
	d.Hold.Then, d.Hold.RetryAfter = plan.EndPass, retryAfter
	return d
}

// noDatabaseYet reports whether a database certainly was never created. The status of the
// resource alone is no proof, since it may have been lost.
func noDatabaseYet(s plan.Snapshot) bool {
	if s.Configured() {
		return false
	}
	return s.Cluster.Status.ConnectionString == "" || (s.Database.Status != nil && s.Database.Status.NeverConfigured())
}

func versionChange(c *v1beta2.FoundationDBCluster) (running, target fdb.Version, err error) {
	if running, err = fdb.ParseVersion(c.RunningVersion()); err != nil {
		return running, target, fmt.Errorf("parse the running version: %w", err)
	}
	target, err = fdb.ParseVersion(c.Spec.Version)
	return running, target, err
}

// upgradeHasBegun reports whether a pod has the sidecar of the new version. Sidecars get it
// in place, in a pass that has accepted all clients, and long before any process restarts;
// pods that are created meanwhile do not have it. An image that does not differ between the
// versions proves nothing.
func upgradeHasBegun(s plan.Snapshot) bool {
	before := s.Cluster.DeepCopy()
	before.Spec.Version = s.Cluster.RunningVersion()
	for _, g := range s.Groups() {
		pod := s.Pod(g)
		if pod == nil {
			continue
		}
		fresh, err := objects.SidecarImage(s.Cluster, g.ProcessClass)
		if err != nil {
			return false
		}
		if old, err := objects.SidecarImage(before, g.ProcessClass); err == nil && old != fresh && readings.SidecarImage(pod) == fresh {
			return true
		}
	}
	return false
}
