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
// address: where the spec wants that and the running version can.
func ByLocality(c *v1beta2.FoundationDBCluster) bool {
	return c.UseLocalitiesForExclusion() && CanExcludeLocalities(c)
}

// CanExcludeLocalities reports whether the running version knows exclusions by locality.
func CanExcludeLocalities(c *v1beta2.FoundationDBCluster) bool {
	running, err := fdb.ParseVersion(c.RunningVersion())
	return err == nil && running.SupportsLocalityExclusion()
}

// missingPatience is how long a process that stopped reporting holds back exclusions
// of its class: it may be restarting. Default 5 min; source: the operator's exclusion
// rules.
const missingPatience = 5 * time.Minute

// ExclusionBudget is how many process groups of a class may start to drain now, and
// why. Without any replacement up, as many may as the redundancy tolerates to lose;
// every group that already drains takes one away. FoundationDB itself refuses
// nothing here: it lets all storage servers but one be excluded.
func ExclusionBudget(s plan.Snapshot, class v1beta2.ProcessClass, ongoing int) (budget int, check plan.Check) {
	left, why := exclusionRoom(s, class, ongoing)
	check = plan.Check{ID: plan.CheckExclusionBudget, Subject: string(class), Question: fmt.Sprintf("are enough %s processes up to let one go?", class), Gate: plan.GateBudget, Need: "at least 1", Evidence: why}
	if left == nil {
		return 0, check
	}
	check.OK, check.Have = *left > 0, strconv.Itoa(*left)
	return max(0, *left), check
}

// SilentExclusion asks whether process groups of a class of which NothingToLose is true may
// be excluded. They take no place in the budget: the others are as many without them. But
// those have to be enough, for the day on which the record and the database are both wrong.
func SilentExclusion(s plan.Snapshot, class v1beta2.ProcessClass, ongoing int) plan.Check {
	left, why := exclusionRoom(s, class, ongoing)
	c := plan.Check{ID: plan.CheckReportingBudget, Subject: string(class), Question: fmt.Sprintf("are enough %s processes up without those that are long silent?", class), Gate: plan.GateBudget, Need: "at least 0", Evidence: why}
	if left != nil {
		c.OK, c.Have = *left >= 0, strconv.Itoa(*left)
	}
	return c
}

// exclusionRoom is how many of a class are up beyond what has to be, and how that was
// counted; nil while one may come back.
func exclusionRoom(s plan.Snapshot, class v1beta2.ProcessClass, ongoing int) (left *int, why string) {
	valid := 0
	for _, g := range s.Groups() {
		if g.ProcessClass != class || g.IsGone() {
			continue
		}
		since, missing := missingSince(g)
		if missing && s.Now.Sub(since) < missingPatience && neverReported(g) {
			return nil, fmt.Sprintf("%s was just created and has not yet reported; it is given %s", g.ProcessGroupID, missingPatience)
		}
		if missing && s.Now.Sub(since) < missingPatience {
			return nil, fmt.Sprintf("%s has been missing for %s only and may come back within %s", g.ProcessGroupID, s.Now.Sub(since).Round(time.Second), missingPatience)
		}
		// A group that should stay and that somebody excluded takes no data over, also where
		// only the exclusions themselves tell of it yet.
		excluded := !g.IsMarkedForRemoval() && (g.HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded) || Excluded(s, g))
		if !missing && !excluded && !isSilent(s, g) {
			valid++
		}
	}
	tolerance, desired := s.Cluster.FaultTolerance(), max(s.Cluster.DesiredProcessCounts()[class], 0)
	n := valid + tolerance - desired - ongoing
	return &n, fmt.Sprintf("%d up + %d tolerated − %d wanted − %d draining = %d", valid, tolerance, desired, ongoing, n)
}

// neverReported reports whether no process of a group was ever seen: its fault domain is recorded
// with the first one that reports.
func neverReported(g *v1beta2.ProcessGroupStatus) bool { return g.FaultDomain == "" }

// NothingToLose reports whether nobody counts on a group any more: it has been missing for
// longer than anybody waits for it, the database sees no process of it, and its pod is none
// that was just made anew and brings one. To exclude it moves no role and makes nobody fewer.
func NothingToLose(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, missing := missingSince(g)
	return missing && s.Now.Sub(since) >= missingPatience && isSilent(s, g) && !startsAnew(s, g)
}

// startsAnew reports whether a group's pod is yet to be made, or it or the container of its
// servers started too short a time ago to have reported.
func startsAnew(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	young := func(at time.Time) bool { return s.Now.Sub(at) < missingPatience }
	return pod == nil || young(pod.CreationTimestamp.Time) || slices.ContainsFunc(mainContainers(pod), func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil && young(c.State.Running.StartedAt.Time)
	})
}

// isSilent reports whether the database sees no process of a group. Of a group whose zone is
// under maintenance nothing is put on record then, and yet it takes no data over. A document
// that is incomplete shows no silence.
func isSilent(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return s.Database.Status != nil && !s.Database.Status.Incomplete() && len(processesOf(s, g)) == 0
}

// missingSince is since when a group has been without its pod, or without its processes:
// nobody asks for the processes of a group that has no pod.
func missingSince(g *v1beta2.ProcessGroupStatus) (since time.Time, missing bool) {
	for _, t := range []v1beta2.ProcessGroupConditionType{v1beta2.ConditionMissingProcesses, v1beta2.ConditionMissingPod} {
		if at, ok := g.Condition(t); ok && (!missing || at.After(since)) {
			since, missing = at, true
		}
	}
	return since, missing
}

// Drained asks whether nothing of the database depends on a process group any more.
// The exclusion command's own word for it is no proof: it also comes for a process
// that is still the cluster controller, and never for one that is dead. What is asked
// instead: a fully recovered database with one generation of logs, no exclusion in
// progress that could be the group's, and, of the group's processes, none that is not
// excluded or still has a role. A group that is silent is drained when all data is at
// full replication without it.
func Drained(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckDrained, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("is %s drained?", g.ProcessGroupID), Gate: plan.GateExcluded}
	status := s.Database.Status
	switch {
	case status == nil:
		c.Evidence = s.Database.Why()
	case !status.Available():
		c.Evidence = "the database is unavailable"
	case !status.FullyRecovered():
		c.Evidence = fmt.Sprintf("roles cannot be trusted before the last recovery is over: it is at %s with %s of logs", phrase.Or(status.RecoveryName(), phrase.Unknown), phrase.Count(len(status.Cluster.Logs), "generation"))
	case !status.RolesKnown():
		c.Evidence = "the status document does not tell all roles"
	case notExcluded(s, g) != "": // clear without the lists, which take longer to read
		c.Evidence = notExcluded(s, g)
	case !s.Coordination.ExclusionsRead:
		c.Evidence = "which exclusions are in progress is not known"
	default:
		c.Evidence = holdsSomething(s, g)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = "excluded, without roles, and no data depends on it"
		}
	}
	return c
}

// notExcluded names a process of a group that the status document has, and that is not
// excluded; empty without one.
func notExcluded(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, p := range processesOf(s, g) {
		if !p.IsExcluded() {
			return whose(p) + " is not excluded"
		}
	}
	return ""
}

// holdsSomething says what still depends on a group whose processes are excluded, those that
// report; empty when nothing does.
func holdsSomething(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, address := range s.Coordination.InProgressExclusions {
		if address == fdb.UnknownLogAddress {
			return "an exclusion of a log at an unknown address is in progress, which may be anybody's"
		}
		if slices.ContainsFunc(g.Addresses, func(a string) bool { return hostOf(address) == a }) {
			return "its exclusion is in progress"
		}
	}
	processes := processesOf(s, g)
	for _, p := range processes {
		if len(p.Roles) > 0 {
			return whose(p) + " still is " + roleNames(p)
		}
	}
	if len(processes) < serversOf(s, g) || g.HasCondition(v1beta2.ConditionMissingProcesses) {
		if why := silentHolds(s, g); why != "" {
			return why
		}
	}
	if !covered(s.Coordination.Exclusions, g) {
		return "the database itself has no exclusion of it any more, whatever the status document says"
	}
	return ""
}

// serversOf is how many servers a group has: as many as its pod was made with, and
// without a pod as many as the spec wants.
func serversOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) int {
	if pod := s.Pod(g); pod != nil {
		if n, err := objects.ServersPerPodOf(pod, g.ProcessClass); err == nil {
			return n
		}
	}
	return s.Cluster.ServersPerPod(g.ProcessClass)
}

// silentHolds judges a group of which a server does not report. It could still have what others
// need; only full replication of everything without it says that it does not.
func silentHolds(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	if !isExcluded(s, g) {
		return "it does not report and is not excluded"
	}
	if why := maybeJustDied(s, g); why != "" {
		return why
	}
	least, known := s.Database.Status.MinReplicasRemaining()
	need, told := replicasWanted(s)
	switch {
	case !told:
		return "it does not report, and " + unknownRedundancy(s)
	case !known:
		return "it does not report, and the replication of the data is not known"
	case least < need:
		return fmt.Sprintf("it does not report, and some data has %s", phrase.CountOf(least, need, "replica"))
	case !s.Database.Status.LogsFullyReplicated():
		return "it does not report, and the logs are not fully replicated"
	default:
		return ""
	}
}

// maybeJustDied says that a group's silence may be too young for the database's numbers
// to show it. Once a group was proven drained its silence is of no interest any more.
func maybeJustDied(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	if g.IsExcluded() {
		return ""
	}
	since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
	if !missing {
		return "it does not report, and nobody has seen yet since when"
	}
	if silent := s.Database.AsOf.Sub(unbroken(s, g, since)); silent < fdb.DeathNoticedAfter {
		return fmt.Sprintf("it stopped reporting %s ago, and the database's numbers show a death after %s only", silent.Round(time.Second), fdb.DeathNoticedAfter)
	}
	return ""
}

func redundancyOf(s plan.Snapshot) string {
	if c := s.Database.Status.Cluster.Configuration; c != nil && c.RedundancyMode != "" {
		return c.RedundancyMode
	}
	return string(s.Cluster.Spec.DatabaseConfiguration.RedundancyMode)
}

// isExcluded reports whether exclusions cover a group: its locality, or all of its
// addresses. An exclusion by locality does not see a log that the cluster controller does
// not see; that such a log is needed by nobody shows in the generations of logs, in the
// replication of the current one, and in the exclusions in progress.
func isExcluded(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return covered(s.Database.Status.ExcludedTargets(), g)
}

// Excluded reports whether an exclusion of a group is in force, by its own names: in the
// status document, which can lag, or in the exclusions themselves where they were read.
func Excluded(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return (s.Database.Status != nil && isExcluded(s, g)) || covered(s.Coordination.Exclusions, g)
}

// Untouched asks whether nothing of a group that is marked for removal was moved away yet,
// so that it can still stay as it is. Both the status document and the exclusions
// themselves have to say so: a group that is excluded gives its data away.
func Untouched(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckNothingMoved, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("was nothing of %s moved away yet?", g.ProcessGroupID), Gate: plan.GateExcluded}
	switch {
	case g.IsExcluded():
		c.Evidence = "its exclusion is over"
	case s.Database.Status == nil:
		c.Evidence = s.Database.Why()
	case s.Database.Status.Incomplete():
		c.Evidence = incompleteDocument
	case !s.Coordination.ExclusionsRead:
		c.Evidence = "which exclusions there are is not known"
	case isExcluded(s, g), covered(s.Coordination.Exclusions, g), slices.ContainsFunc(processesOf(s, g), fdb.Process.IsExcluded):
		c.Evidence = "it is excluded, and gives its data and roles away"
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

// NoDatabaseYet reports whether it is certain that no database exists that a process
// group could hold data of: there is no cluster file, or the database itself says that
// it was never created. A record that says "not configured" is no proof: it may have
// been lost and begun anew.
func NoDatabaseYet(s plan.Snapshot) bool {
	if s.Cluster.Status.Configured {
		return false
	}
	return s.Cluster.Status.ConnectionString == "" || (s.Database.Status != nil && s.Database.Status.NeverConfigured())
}
