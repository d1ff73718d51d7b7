package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
		if !c.IsBeingUpgraded() || safety.NoDatabaseYet(s) {
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

// judgeVersions ends a pass whose change of the version is known to lose data or availability.
// While it is unknown whether the database uses what decides that, a change does not begin; one
// that has begun continues, since a database that is down may need the pods that later stages
// create.
func judgeVersions(s plan.Snapshot, running, target fdb.Version) plan.Decision {
	d := plan.Decision{Checks: safety.VersionChange(s, running, target)}
	facts := versionfacts.OfChange(running, target, safety.UseOf(s))
	facts = slices.DeleteFunc(facts, func(f versionfacts.Applying) bool { return !f.Consequence.LosesDatabase() })
	certain := slices.DeleteFunc(slices.Clone(facts), func(f versionfacts.Applying) bool { return f.Applies != versionfacts.Yes })
	switch {
	case len(certain) > 0:
		d.Hold = &plan.Hold{Code: plan.HoldVersionUnsafe, Manual: true, Reason: fmt.Sprintf(
			"the change from %s to %s is unsafe for this database: %s; set spec.version to another version, or set spec.ignoreUpgradabilityChecks",
			running, target, inFactWords(certain))}
		return endPass(d, 0)
	case len(facts) > 0 && !changeHasBegun(s, target):
		d.Hold = &plan.Hold{Code: plan.HoldConfigurationUnknown, Reason: fmt.Sprintf(
			"cannot determine whether the change from %s to %s is safe: the database does not report whether it uses %s; to continue before, set spec.version to %s or set spec.ignoreUpgradabilityChecks",
			running, target, facts[0].Condition, running)}
		return endPass(d, plan.PodDelay)
	}
	return d
}

// inFactWords joins facts with their advice and first sources.
func inFactWords(facts []versionfacts.Applying) string {
	clauses := make([]string, len(facts))
	for i, f := range facts {
		clauses[i] = fmt.Sprintf("%s (%s, %s): %s", f.Summary, f.ID, f.Sources[0], f.Advice)
	}
	return strings.Join(clauses, "; ")
}

// changeHasBegun reports whether any pod already has the new version, in its sidecar or in its
// main container.
func changeHasBegun(s plan.Snapshot, target fdb.Version) bool {
	return upgradeHasBegun(s) || slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		pod := s.Pod(g)
		return pod != nil && readings.MainVersion(pod) == target
	})
}

// imageRunsAnother returns why the image that the spec has for spec.version proves to be of another version: processes of
// pods that have this very image report that, and no process reports spec.version. A digest, or a tag such as latest,
// names no version. Nil where the image differs between the versions, or nothing is reported.
func imageRunsAnother(s plan.Snapshot) error {
	if s.Database.Status == nil {
		return nil
	}
	reported := map[v1beta2.ProcessGroupID]string{}
	for _, p := range s.Database.Status.ProcessList() {
		version := readings.Released(p)
		if version == s.Cluster.Spec.Version {
			return nil // a tag that has another image now
		}
		if version != "" {
			reported[v1beta2.ProcessGroupID(p.InstanceID())] = version
		}
	}
	var groups []v1beta2.ProcessGroupID
	var image, version string
	for _, g := range s.Groups() {
		pod, found := s.Pod(g), reported[g.ProcessGroupID]
		if pod == nil || found == "" {
			continue
		}
		desired, err := objects.MainImage(s.Cluster, g.ProcessClass, s.Cluster.Spec.Version)
		if err == nil && desired == readings.MainImage(pod) {
			groups, image, version = append(groups, g.ProcessGroupID), desired, found
		}
	}
	if len(groups) == 0 {
		return nil
	}
	return fmt.Errorf("the image %s has %s, as %s %s, and spec.version is %s: set spec.mainContainer.imageConfigs to an image of %s; "+
		"if the tag has another image now, set spec.ignoreUpgradabilityChecks", image, version, readings.SomeOf(groups),
		phrase.Either(len(groups), "reports", "report"), s.Cluster.Spec.Version, s.Cluster.Spec.Version)
}
