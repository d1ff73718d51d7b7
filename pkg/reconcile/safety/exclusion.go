package safety

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ByLocality reports whether process groups are excluded by their ID rather than by
// address: where the spec requires it and the running version supports it.
func ByLocality(c *v1beta2.FoundationDBCluster) bool {
	return c.UseLocalitiesForExclusion() && CanExcludeLocalities(c)
}

// CanExcludeLocalities reports whether the running version supports exclusions by locality.
func CanExcludeLocalities(c *v1beta2.FoundationDBCluster) bool {
	running, err := fdb.ParseVersion(c.RunningVersion())
	return err == nil && running.SupportsLocalityExclusion()
}

// missingLimit is how long a process that stopped reporting delays exclusions
// of its class: it may be restarting. Default 5 min; source: the operator's exclusion
// rules.
const missingLimit = 5 * time.Minute

// ExclusionBudget is how many process groups of a class may start to drain now, and why.
// Without any replacement up, as many may as the redundancy mode tolerates to lose; every
// group that is draining takes one away. FoundationDB itself refuses nothing here: it allows
// the exclusion of all storage processes but one.
func ExclusionBudget(s plan.Snapshot, class v1beta2.ProcessClass, ongoing int) (budget int, check plan.Check) {
	left, why := exclusionRoom(s, class, ongoing)
	check = plan.Check{ID: plan.CheckExclusionBudget, Subject: string(class), Question: fmt.Sprintf("are enough %s processes up to exclude one?", class), Gate: plan.GateBudget, Need: "at least 1", Evidence: why}
	if left == nil {
		return 0, check
	}
	check.OK, check.Have = *left > 0, strconv.Itoa(*left)
	return max(0, *left), check
}

// UnresponsiveExclusion checks whether process groups of a class that are LongMissing may be
// excluded. They do not count in the budget: the number of the others does not change. But the
// others must be enough, in case the status and the database are both wrong.
func UnresponsiveExclusion(s plan.Snapshot, class v1beta2.ProcessClass, ongoing int) plan.Check {
	left, why := exclusionRoom(s, class, ongoing)
	c := plan.Check{ID: plan.CheckReportingBudget, Subject: string(class), Question: fmt.Sprintf("are enough %s processes up without those that stopped reporting?", class), Gate: plan.GateBudget, Need: "at least 0", Evidence: why}
	if left != nil {
		c.OK, c.Have = *left >= 0, strconv.Itoa(*left)
	}
	return c
}

// exclusionRoom is how many of a class are up beyond the required number, and how that was
// counted; nil while a missing one may come back, and without a complete status document:
// the conditions of the groups are those of an earlier one.
func exclusionRoom(s plan.Snapshot, class v1beta2.ProcessClass, ongoing int) (left *int, why string) {
	if why := noAnswer(s.Database); why != "" {
		return nil, why
	}
	valid := 0
	for _, g := range s.Groups() {
		if g.ProcessClass != class || g.IsRemovable() {
			continue
		}
		if why := mayReport(s, g); why != "" {
			return nil, why
		}
		// A group that should stay and was excluded by other means receives no data, even
		// while only the exclusions themselves show that. One that is marked is among those that
		// drain, unless the spec keeps it: then it counts in neither.
		stays := !g.IsMarkedForRemoval() || s.Cluster.KeepsFromReplacement(g.ProcessGroupID)
		excluded := stays && (g.HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded) || Excluded(s, g))
		if _, missing := missingSince(g); !missing && !excluded && len(reportingOf(s, g)) > 0 {
			valid++
		}
	}
	tolerance, desired := s.Cluster.FaultTolerance(), max(s.Cluster.DesiredProcessCounts()[class], 0)
	n := valid + tolerance - desired - ongoing
	return &n, fmt.Sprintf("%d up + %d tolerated − %d desired − %d draining = %d", valid, tolerance, desired, ongoing, n)
}

// mayReport returns why a group that does not report may do so any moment; empty otherwise.
func mayReport(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	since, missing := missingSince(g)
	recently := missing && s.Now.Sub(since) < missingLimit
	switch {
	case recently && neverReported(g):
		return fmt.Sprintf("%s was just created and has not reported yet; waiting up to %s", g.ProcessGroupID, missingLimit)
	case recently:
		return fmt.Sprintf("%s, may report again within %s", describeMissing(s, g, since), missingLimit)
	case isNotReporting(s, g) && (justCreatedPod(s, g) || !missing && justStartedPod(s, g)): // its condition follows, or is of the pod before
		return fmt.Sprintf("%s does not report, and its pod started less than %s ago", g.ProcessGroupID, missingLimit)
	}
	return ""
}

// neverReported reports whether no process of a group has ever reported: its fault domain is set
// with the first one that reports.
func neverReported(g *v1beta2.ProcessGroupStatus) bool { return g.FaultDomain == "" }

// LongMissing reports whether a group has not reported for missingLimit, the database has
// no process of it, and its pod was not just recreated. Its exclusion moves no role and does
// not reduce the number of processes that are up.
func LongMissing(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, missing := missingSince(g)
	return missing && s.Now.Sub(since) >= missingLimit && isNotReporting(s, g) && !justStartedPod(s, g)
}

// justStartedPod reports whether a group's pod is yet to be created, or whether it or its main
// container started too short a time ago to have reported.
func justStartedPod(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	return pod == nil || justCreatedPod(s, g) || slices.ContainsFunc(mainContainers(pod), func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil && s.Now.Sub(c.State.Running.StartedAt.Time) < missingLimit
	})
}

// justCreatedPod reports whether a group has a pod that was created too short a time ago to have
// reported. A container that crashes in an older pod does not renew that time.
func justCreatedPod(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	return pod != nil && s.Now.Sub(pod.CreationTimestamp.Time) < missingLimit
}

// isNotReporting reports whether the database has no process of a group. While the zone of a
// group is under maintenance its conditions do not show that, and still it receives no data.
// An incomplete document proves nothing.
func isNotReporting(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return s.Database.Status != nil && !s.Database.Status.Incomplete() && len(processesOf(s, g)) == 0
}

// missingSince is since when a group has been without its pod, or without its processes: a
// group without a pod has no condition about its processes.
func missingSince(g *v1beta2.ProcessGroupStatus) (since time.Time, missing bool) {
	for _, t := range []v1beta2.ProcessGroupConditionType{v1beta2.ConditionMissingProcesses, v1beta2.ConditionMissingPod} {
		if at, ok := g.Condition(t); ok && (!missing || at.After(since)) {
			since, missing = at, true
		}
	}
	return since, missing
}

// Drained checks whether nothing of the database depends on a process group any more. The
// output of the exclusion command is no proof: it also reports success for a process that is
// still the cluster controller, and never for one that is dead. Required instead: a fully
// recovered database with one generation of logs, no exclusion in progress that could be the
// group's, and, of the group's processes, none that is not excluded or still has a role. A
// group that does not report is drained when all data is fully replicated without it.
func Drained(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckDrained, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("is %s drained?", g.ProcessGroupID), Gate: plan.GateExcluded}
	status := s.Database.Status
	switch {
	case status == nil:
		c.Evidence = noStatus(s.Database)
	case !status.Available():
		c.Evidence = "the database is unavailable"
	case !status.FullyRecovered():
		c.Evidence = fmt.Sprintf("roles are unknown before the last recovery is over: its state is %s with %s of logs", phrase.Or(status.RecoveryName(), phrase.Unknown), phrase.Count(len(status.Cluster.Logs), "generation"))
	case !status.RolesKnown():
		c.Evidence = "the status document does not report all roles"
	case notExcluded(s, g) != "": // clear without the lists, which take longer to read
		c.Evidence = notExcluded(s, g)
	case !s.Coordination.ExclusionsRead:
		c.Evidence = "exclusions in progress are unknown"
	default:
		c.Evidence = holdsSomething(s, g)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = "it is excluded, has no roles, and no data depends on it"
		}
	}
	return c
}

// notExcluded names a process of a group that the status document lists and that is not
// excluded; empty without one.
func notExcluded(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, p := range processesOf(s, g) {
		if !p.IsExcluded() {
			return whose(p) + " is not excluded"
		}
	}
	return ""
}

// holdsSomething returns what still depends on a group whose reporting processes are excluded;
// empty when nothing does.
func holdsSomething(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, address := range s.Coordination.InProgressExclusions {
		if address == fdb.UnknownLogAddress {
			return "an exclusion of a log at an unknown address is in progress, and could be its own"
		}
		if slices.ContainsFunc(g.Addresses, func(a string) bool { return hostOf(address) == a }) {
			return "its exclusion is in progress"
		}
	}
	processes := processesOf(s, g)
	for _, p := range processes {
		if len(p.Roles) > 0 {
			return whose(p) + " still has the role " + roleNames(p)
		}
	}
	if len(reportingOf(s, g)) < serversOf(s, g) || g.HasCondition(v1beta2.ConditionMissingProcesses) {
		if why := missingHolds(s, g); why != "" {
			return why
		}
	}
	if !covered(s.Coordination.Exclusions, g) {
		return "the exclusion was ended, although the status document still shows it"
	}
	return ""
}

// serversOf is how many fdbserver processes a group has: the number that its pod was created
// with, and without a pod the desired number.
func serversOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) int {
	if pod := s.Pod(g); pod != nil {
		if n, err := objects.ServersPerPodOf(pod, g.ProcessClass); err == nil {
			return n
		}
	}
	return s.Cluster.ServersPerPod(g.ProcessClass)
}

// missingHolds returns why a group with a process that does not report may hold data. Only full
// replication of everything without it proves that it does not.
func missingHolds(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	if !isExcluded(s, g) {
		return "it does not report and is not excluded"
	}
	if why := maybeJustDied(s, g); why != "" {
		return why
	}
	least, known := s.Database.Status.MinReplicasRemaining()
	need, reported := replicasDesired(s)
	switch {
	case !reported:
		return "it does not report, and " + unknownRedundancy(s)
	case !known:
		return "it does not report, and the replication of the data is unknown"
	case least < need:
		return fmt.Sprintf("it does not report, and some data has %s, %d required", phrase.CountOf(least, need, "replica"), need)
	case !s.Database.Status.LogsFullyReplicated():
		return "it does not report, and the logs are not fully replicated"
	default:
		return ""
	}
}

// maybeJustDied returns why the database's numbers may not show yet that a group stopped
// reporting. Once a group is proven drained, nothing depends on it.
func maybeJustDied(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	if g.IsExcluded() {
		return ""
	}
	since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
	if !missing {
		return "it does not report, since when is unknown"
	}
	if unresponsive := s.Database.AsOf.Sub(unbroken(s, g, since)); unresponsive < fdb.DeathNoticedAfter {
		return fmt.Sprintf("it %s, and the database notices a loss only after %s", stoppedReporting(s, g, since), fdb.DeathNoticedAfter)
	}
	return ""
}

func redundancyOf(s plan.Snapshot) string {
	if c := s.Database.Status.Cluster.Configuration; c != nil && c.RedundancyMode != "" {
		return c.RedundancyMode
	}
	return string(s.Cluster.Spec.DatabaseConfiguration.RedundancyMode)
}

// isExcluded reports whether exclusions cover a group: its locality, or all of its addresses.
// An exclusion by locality does not cover a log that the cluster controller does not know;
// that such a log is not needed shows in the generations of logs, in the replication of the
// current one, and in the exclusions in progress.
func isExcluded(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return covered(s.Database.Status.ExcludedTargets(), g)
}

// Excluded reports whether an exclusion of a group is in force, by its locality or addresses: in the
// status document, which can lag, or in the exclusions themselves where they were read.
func Excluded(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return (s.Database.Status != nil && isExcluded(s, g)) || covered(s.Coordination.Exclusions, g)
}

// Untouched checks whether no data of a group that is marked for removal was moved yet, so
// that the group can still stay. Both the status document and the exclusions themselves must
// show it: an excluded group is draining.
func Untouched(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckNothingMoved, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("has no data of %s been moved yet?", g.ProcessGroupID), Gate: plan.GateExcluded}
	switch {
	case g.IsExcluded():
		c.Evidence = "it is already drained"
	case s.Database.Status == nil:
		c.Evidence = noStatus(s.Database)
	case s.Database.Status.Incomplete():
		c.Evidence = incompleteDocument
	case !s.Coordination.ExclusionsRead, s.Database.Status.Cluster.Configuration == nil:
		c.Evidence = "exclusions are unknown"
	case isExcluded(s, g), covered(s.Coordination.Exclusions, g), slices.ContainsFunc(processesOf(s, g), fdb.Process.IsExcluded):
		c.Evidence = "it is excluded, and its data and roles are being moved"
	default:
		c.OK, c.Evidence = true, "it is not excluded"
	}
	return c
}

func covered(targets []string, g *v1beta2.ProcessGroupStatus) bool {
	return slices.Contains(targets, g.ExclusionString()) || addressesExcluded(targets, g)
}

func addressesExcluded(targets []string, g *v1beta2.ProcessGroupStatus) bool {
	return len(g.Addresses) > 0 && !slices.ContainsFunc(g.Addresses, func(a string) bool { return !slices.Contains(targets, a) })
}

func roleNames(p fdb.Process) string {
	names := make([]string, len(p.Roles))
	for i, r := range p.Roles {
		names[i] = r.Role
	}
	return strings.Join(names, " and ")
}

// hostOf is an address without its port: "1.2.3.4:4501", "[::1]:4501".
func hostOf(address string) string {
	a, err := fdb.ParseAddress(address)
	if err != nil {
		return address
	}
	return a.Host
}

// NoDatabaseYet reports whether it is certain that no database exists that a process group
// could hold data of: there is no cluster file, or the database itself reports that it was
// never created, no pod has files of one or a volume that cannot be read, and no PVC is older than the
// resource. A status with configured false is no proof: it may have been lost and
// created again. Nor is that of the database alone: coordinators that lost their files report the same.
func NoDatabaseYet(s plan.Snapshot) bool {
	switch {
	case s.Cluster.Status.Configured:
		return false
	case s.Cluster.Status.ConnectionString == "":
		return true
	case s.Database.Status == nil || !s.Database.Status.NeverConfigured() || s.Database.DataDirs != nil:
		return false
	}
	created := s.Cluster.CreationTimestamp
	for _, g := range s.Groups() {
		if claim := s.Volumes[g.PVCName(s.Cluster)]; claim != nil && claim.CreationTimestamp.Before(&created) {
			return false
		}
	}
	return true
}
