package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// occasion is when an invariant is checked.
type occasion int

const (
	beforeAction occasion = iota
	afterAction
	afterPass
	onceKept     // the spec keeps process groups, and there was time to keep them
	underTrouble // that lasts, after more passes than an operation needs
	atTheEnd     // of all troubles, once passes have been run until nothing was left to do
)

// invariant is a sentence that has to be true whatever happens, and the question that
// answers it. Questions go to the model and the cluster, never to the status; the answer is
// empty when the sentence holds, else what is wrong.
type invariant struct {
	code      string
	sentence  string
	requested occasion
	broken    func(*History, *deed) string
}

// invariants are all of them. Each can fail: TestEveryInvariantCanFail.
var invariants = slices.Concat(keptInvariants, []invariant{
	{"acts-without-lease", "nothing is done without the Lease", beforeAction, actsWithoutLease},
	{"acts-after-refusal", "nothing is done once a gate or another run's Lease refused", beforeAction, actsAfterRefusal},
	{"acts-by-wrong-clock", "nothing is done by a clock that is wrong", beforeAction, actsByWrongClock},
	{"acts-without-lock", "nothing that needs the lock is done without it", beforeAction, actsWithoutLock},
	{"acts-on-old-facts", "nothing is done on facts older than the Lease or the lock", beforeAction, actsOnOldFacts},
	{"creates-again", "no database is created over one that exists", beforeAction, createsAgain},
	{"excludes-coordinator", "no coordinator is excluded", beforeAction, excludesCoordinator},
	{"excludes-what-stays", "only what leaves is excluded", beforeAction, excludesWhatStays},
	{"marks-again", "nothing is marked for removal that is marked", beforeAction, marksAgain},
	{"marks-without-successor", "nothing is marked for removal whose successor the API server refuses", beforeAction, marksWithoutSuccessor},
	{"ends-volume", "no pod goes down by our hand whose volume ends with it and is needed", beforeAction, endsVolume},
	{"excludes-without-replacement", "no live process is excluded without its replacement", beforeAction, excludesWithoutReplacement},
	{"follows-a-recovery", "nothing is excluded within 2 minutes after a recovery, or included within 10", beforeAction, followsARecovery},
	{"excludes-beside-one-that-may-report", "nothing is excluded beside a process of its class that ended a moment ago and may report again", beforeAction, excludesBesideOneThatMayReport},
	{"creates-without-owner", "every object that is created is owned by its cluster", beforeAction, createsWithoutOwner},
	{"reduces-replicas", "no data has fewer replicas than promised because of us", afterAction, reducesReplicas},
	{"deletes-what-is-needed", "nothing is deleted for good that the database needs", afterAction, deletesWhatIsNeeded},
	{"deletes-coordinator", "no coordinator is deleted", afterAction, deletesCoordinator},
	{"takes-second-zone-down", "one zone is down by our hand at most, and only when all others are complete", afterAction, takesSecondZoneDown},
	{"takes-second-bucket-down", "of each class one bucket is down by our hand at most", afterAction, takesSecondBucketDown},
	{"takes-down-for-a-dead-template", "one pod at most is taken down for a template that cannot start", afterAction, takesDownForADeadTemplate},
	{"changes-key", "no pod that stays gets another distribution key", afterAction, changesKey},
	{"allows-two-evictions", "a disruption budget never allows two evictions", afterAction, allowsTwoEvictions},
	{"follows-a-start", "nothing that keeps data goes down by our hand within 90 s after another process that keeps data started", afterAction, followsAStart},
	{"has-second-database", "there is never a second database", afterPass, hasSecondDatabase},
	{"loses-data", "no data is lost", afterPass, losesData},
	{"breaks-off", "a pass runs to its end", afterPass, breaksOff},
	{"calls-healthy", "no cluster is called healthy whose database starts no transactions", afterPass, callsHealthy},
	{"does-not-come-back", "what goes down by our hand answers again within 5 minutes and 3 passes without troubles", afterPass, doesNotComeBack},
	{"records-again", "passes do not record the same continuously", afterPass, recordsAgain},
	{"does-not-end", "while something is wrong, passes end reconciled, wait with a reason, or name what a user has to do, within 80 passes", underTrouble, doesNotEnd},
	{"does-not-converge", "a history converges once troubles end", atTheEnd, doesNotConverge},
	{"writes-to-converged", "a converged cluster gets no writes", atTheEnd, writesToConverged},
	{"ends-unpacked", "a converged cluster is packed as its spec packs it", atTheEnd, endsUnpacked},
	{"ends-without-budget", "a converged cluster has a disruption budget if it requests one", atTheEnd, endsWithoutBudget},
})

func actsWithoutLease(_ *History, d *deed) string {
	if d.k.lease == 0 && d.k.refused == "" {
		return "the Lease was never taken"
	}
	return ""
}

func actsAfterRefusal(_ *History, d *deed) string { return d.k.refused }

func actsByWrongClock(h *History, _ *deed) string {
	if check := h.w.Clock().Check(); !check.OK {
		return check.Evidence
	}
	return ""
}

// actsWithoutLock does not judge a lock that was taken away a moment ago: then the actor
// refuses, and so does the cluster.
func actsWithoutLock(_ *History, d *deed) string {
	if plan.EffectOf(d.action).Locked && d.k.lock == 0 && !d.k.robbed {
		return "the lock was never taken"
	}
	return ""
}

func actsOnOldFacts(_ *History, d *deed) string {
	moment := d.k.lease
	if plan.EffectOf(d.action).Locked {
		moment = max(moment, d.k.lock)
	}
	if old := d.k.olderThan(moment, d.stage); old != 0 {
		return fmt.Sprintf("last observed before: %s", old)
	}
	return ""
}

// createsAgain judges what a status shows: a stale one does not show the creation, and FoundationDB refuses the second.
func createsAgain(h *History, d *deed) string {
	if c, ok := d.action.(plan.Configure); ok && c.New && d.before.desiredReplicas > 0 && !h.stale {
		return "it was created before"
	}
	return ""
}

func excludesCoordinator(h *History, d *deed) string {
	for _, g := range excludedGroups(h, d) {
		if d.before.coordinators[g.PodName(h.w.Resource)] {
			return string(g.ProcessGroupID)
		}
	}
	return ""
}

func excludesWhatStays(h *History, d *deed) string {
	for _, g := range excludedGroups(h, d) {
		if !g.IsMarkedForRemoval() {
			return string(g.ProcessGroupID)
		}
	}
	return ""
}

// endsVolume judges pods that are to come back. Those that leave are proven to be drained.
func endsVolume(_ *History, d *deed) string {
	a, ok := d.action.(plan.DeletePods)
	if !ok {
		return ""
	}
	for _, pod := range a.Pods {
		if d.before.going[pod.Name] && d.before.needed[pod.Name] {
			return fmt.Sprintf("the PVC of %s is being deleted", pod.Name)
		}
	}
	return ""
}

// excludesWithoutReplacement: FoundationDB lets all processes but one be excluded. What
// the redundancy tolerates to lose may drain without a replacement, no more. While status is
// stale, a process that has died since counts as one that stays: nothing shows its death.
func excludesWithoutReplacement(h *History, d *deed) string {
	marked := map[v1beta2.ProcessClass][]string{}
	for _, g := range excludedGroups(h, d) {
		marked[g.ProcessClass] = append(marked[g.ProcessClass], string(g.ProcessGroupID))
	}
	normalized, err := h.w.Resource.Normalized()
	if err != nil {
		return err.Error()
	}
	for class, ids := range marked {
		remaining := slices.DeleteFunc(h.database().Remaining(string(class)), func(id string) bool {
			return slices.Contains(ids, id) || h.w.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)) == nil
		})
		if h.stale {
			remaining = append(remaining, unseenDeaths(h, d, class, append(remaining, ids...))...)
		}
		need := normalized.DesiredProcessCounts()[class] - normalized.FaultTolerance()
		if len(remaining) < need {
			return fmt.Sprintf("%s: %d stay, and %d needed", class, len(remaining), need)
		}
	}
	return ""
}

// unseenDeaths are the groups of a class, besides others, that have a pod, are not excluded, and report as
// far as the resource knows.
func unseenDeaths(h *History, d *deed, class v1beta2.ProcessClass, others []string) []string {
	var unseen []string
	for _, g := range h.w.Resource.Status.ProcessGroups {
		excluded := slices.ContainsFunc(append(slices.Clone(g.Addresses), g.ExclusionString()), func(target string) bool { return slices.Contains(d.before.excluded, target) })
		reports := !g.HasCondition(v1beta2.ConditionMissingProcesses) && !g.HasCondition(v1beta2.ConditionMissingPod)
		if _, hasPod := d.before.pods[g.PodName(h.w.Resource)]; g.ProcessClass == class && hasPod && reports && !excluded && !slices.Contains(others, string(g.ProcessGroupID)) {
			unseen = append(unseen, string(g.ProcessGroupID))
		}
	}
	return unseen
}

// reducesReplicas judges volumes. A group that the spec wants gone without exclusion
// takes one replica with it, and that is requested.
func reducesReplicas(h *History, d *deed) string {
	floor := min(d.before.desiredReplicas, d.after.desiredReplicas)
	if a, ok := d.action.(plan.DeleteGroupObjects); ok && h.waived(a.Group) {
		floor--
	}
	for i, after := range d.after.replicas {
		if i < len(d.before.replicas) && after < d.before.replicas[i] && after < floor {
			return fmt.Sprintf("replicas of a shard: %d of %d, and %d before", after, d.after.desiredReplicas, d.before.replicas[i])
		}
	}
	return ""
}

// deletesWhatIsNeeded judges groups that do not come back: their claim went, or their
// pod went and they are leaving. A pod that is made again under its name finds its volume.
func deletesWhatIsNeeded(h *History, d *deed) string {
	for _, pod := range d.removedClaims() {
		if d.before.needed[pod] && !h.waivedPod(pod) {
			return fmt.Sprintf("the volume of %s holds what the database needs", pod)
		}
	}
	for _, pod := range d.removedPods() {
		if d.before.needed[pod] && d.forGood(h, pod) && !h.waivedPod(pod) {
			return fmt.Sprintf("%s holds what the database needs", pod)
		}
	}
	return ""
}

func deletesCoordinator(h *History, d *deed) string {
	for _, pod := range append(d.removedPods(), d.removedClaims()...) {
		if d.before.coordinators[pod] && (d.forGood(h, pod) || !d.after.claims[pod]) {
			return pod
		}
	}
	return ""
}

// takesSecondZoneDown judges pods with data that come back under their name, and those
// that leave undrained because the spec requests it. They are down until they answer, or
// until nothing of theirs is needed any more. A pod whose process is shut out by its protocol is down
// already, and only recreating it ends that. While status is stale it cannot be known what
// else is down, another control-plane instance's pods among it; nor does any status tell of another
// control-plane instance's storage server that died within the last minute.
func takesSecondZoneDown(h *History, d *deed) string {
	for pod := range h.down {
		if h.answers(pod) || !h.needs(pod) {
			delete(h.down, pod)
		}
	}
	others := len(h.down) > 0
	for _, pod := range d.removedPods() {
		if d.before.needed[pod] && !d.before.shutOut[pod] && (!h.leaves(pod) || h.waivedPod(pod)) {
			h.down[pod] = d.before.zones[pod]
		}
	}
	zones := h.knownDown()
	switch {
	case len(zones) > 1:
		return fmt.Sprintf("%s are down by our hand", strings.Join(zones, " and "))
	case len(zones) == 1 && !others && !h.stale && !d.before.completeBut[zones[0]]:
		return "something in another zone was down already"
	}
	return ""
}

// followsAStart judges running servers that end with what the database needs. The status
// document shows 66 to 70 s later that a process which has just started lost its data. What
// is in the same fault domain goes down together. All processes at once restart by the
// minimum uptime instead; a stale status document has no age to judge by.
func followsAStart(h *History, d *deed) string {
	if h.stale {
		return ""
	}
	for _, pod := range d.ended() {
		for process, zone := range d.before.young {
			if zone != d.before.zones[pod] {
				return fmt.Sprintf("%s goes down, and %s started less than 90 s ago", pod, process)
			}
		}
	}
	return ""
}

// knownDown are the zones that are down by our hand, as far as whose turn it is can know.
func (h *History) knownDown() []string {
	var zones []string
	for pod, zone := range h.down {
		if !h.stale || h.home(pod) == h.w {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// hasSecondDatabase counts those that a user created. Servers with a cluster file from before
// coordinators moved can meet at addresses that other coordinators have got since: they agree
// on a leader there, and wait for a user to create a database.
func hasSecondDatabase(h *History, _ *deed) string {
	created := slices.DeleteFunc(h.w.FDB.Databases(), func(d *locked.Database) bool { return d.DesiredReplicas() == 0 })
	if len(created) == 0 && !h.w.Resource.Status.Configured {
		return "" // it is still to be created
	}
	if len(created) != 1 {
		return fmt.Sprintf("there are %d", len(created))
	}
	return ""
}

func losesData(h *History, _ *deed) string {
	if !h.database().EveryKeyOnAtLeast(1) {
		return fmt.Sprintf("replicas: %v", h.database().Replicas())
	}
	return ""
}

func breaksOff(h *History, _ *deed) string {
	if h.passError != nil {
		return h.passError.Error()
	}
	return ""
}

func doesNotConverge(h *History, d *deed) string {
	switch {
	case !h.exists():
		return "there is no database"
	case writesToConverged(h, d) != "", countsDiffer(h, d) != "": // have sentences of their own
		return ""
	case !h.database().EveryKeyOnAtLeast(h.database().DesiredReplicas()):
		return fmt.Sprintf("replicas: %v of %d", h.database().Replicas(), h.database().DesiredReplicas())
	}
	for _, w := range h.clusters {
		if why := h.unfinished(w); why != "" {
			return why
		}
	}
	return ""
}

// unfinished is what keeps a cluster from matching its spec.
func (h *History) unfinished(w *sim.Cluster) string {
	switch {
	case !h.endings[w].pass.Settled():
		return fmt.Sprintf("pass %d, the last one, ended %s", h.passes, h.endings[w].pass.Outcome)
	case w.Resource.Status.Generations.Reconciled != w.Resource.Generation:
		return "the spec's generation is not reconciled"
	case w.Resource.Status.Health.DataMovementPriority != 0: // that data has arrived will be recorded
		return "data still moves"
	}
	for _, g := range w.Resource.Status.ProcessGroups {
		if g.IsMarkedForRemoval() {
			return fmt.Sprintf("%s is still marked for removal", g.ProcessGroupID)
		}
	}
	return ""
}

func writesToConverged(h *History, _ *deed) string {
	if !h.settling {
		return ""
	}
	var words []string
	for _, w := range h.clusters {
		for _, a := range w.Acted[h.endings[w].acted:] {
			words = append(words, a.Describe())
		}
	}
	return strings.Join(words, "; ")
}

// excludedGroups are the groups of the resource that an action excludes.
func excludedGroups(h *History, d *deed) []*v1beta2.ProcessGroupStatus {
	a, ok := d.action.(plan.Exclude)
	if !ok {
		return nil
	}
	var groups []*v1beta2.ProcessGroupStatus
	for _, id := range a.Groups {
		if g := h.w.Resource.ProcessGroup(id); g != nil {
			groups = append(groups, g)
		}
	}
	return groups
}

// leaves reports whether the group of a pod goes for good.
func (h *History) leaves(pod string) bool {
	g := h.groupOf(pod)
	return g == nil || g.IsMarkedForRemoval()
}

// forGood reports whether a deleted pod is not recreated: AddPods recreates the pods of all
// process groups that are not drained yet, those that are marked for removal among them, and
// DeletePods is for pods that are to be recreated.
func (d *deed) forGood(h *History, pod string) bool {
	if _, recreated := d.action.(plan.DeletePods); recreated {
		g := h.groupOf(pod)
		return g == nil || g.IsRemovable()
	}
	return h.leaves(pod)
}

// waived reports whether the spec requests a group's end without exclusion.
func (h *History) waived(id v1beta2.ProcessGroupID) bool {
	g := h.w.Resource.ProcessGroup(id)
	return slices.Contains(h.w.Resource.Spec.ProcessGroupsToRemoveWithoutExclusion, id) || (g != nil && g.ExclusionSkipped)
}

func (h *History) waivedPod(pod string) bool {
	g := h.groupOf(pod)
	return g != nil && h.waived(g.ProcessGroupID)
}
