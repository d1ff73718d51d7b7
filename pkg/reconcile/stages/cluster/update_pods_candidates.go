package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// podUpdate is what the pods of a cluster are by the present spec.
type podUpdate struct {
	// outdated are the running pods that have to be recreated, in the order of the status.
	outdated []outdatedPod
	// unstarted are the outdated pods that never started.
	unstarted []outdatedPod
	// stranded are those of the unstarted ones that are kept, since the data on the volume would end with them.
	stranded []podOf
	// notReporting are the current pods, of groups with a volume, whose processes do not report.
	notReporting []podOf
	// attempted are the current pods, of any class, that do not show yet that their template works.
	attempted []podOf
	// proven are the classes of which a pod with the current spec runs, and its processes report.
	proven map[v1beta2.ProcessClass]bool
}

// podOf is a pod with its process group; nil while the group has none.
type podOf struct {
	group *v1beta2.ProcessGroupStatus
	pod   *corev1.Pod
}

// podsToUpdate compares the pods with the spec. An outdated pod that does not report its fault domain is
// omitted: what goes down with it is unknown. So is one whose group is to be replaced, or for which
// that is unknown: it waits with its present pod.
func podsToUpdate(s plan.Snapshot, o plan.Options) (u podUpdate, err error) {
	u.proven = map[v1beta2.ProcessClass]bool{}
	hashes := objects.RememberedSpecHashes(s.Cluster, s.Hashes)
	inspect := sync.OnceValue(func() readings.Inspection { return readings.NewInspection(s, o) }) // needed in few passes
	processes, byGroup := reportingProcesses(s.Database.Status), sync.OnceValue(s.Database.Status.ProcessesByGroup)
	for _, g := range s.Groups() {
		pod, stays := s.Pod(g), !g.IsMarkedForRemoval()
		if pod == nil && stays && processes != nil && !g.ProcessClass.IsTester() {
			u.attempted = append(u.attempted, podOf{group: g}) // its pod gets the current spec, and does not exist yet
		}
		if pod == nil || pod.DeletionTimestamp != nil {
			continue
		}
		want, err := hashes.Of(g)
		if err != nil {
			return u, err
		}
		switch isCurrent := pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == want; {
		case isCurrent:
			u.current(s, podOf{g, pod}, processes, byGroup)
		case stays:
			u.differing(s, podOf{g, pod}, processes, inspect)
		case readings.NeverStarted(pod) && !g.IsRemovable(): // its data can leave only once its process runs
			u.unstarted = append(u.unstarted, outdatedPod{PodOfGroup: plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID}})
		}
	}
	return u, nil
}

// current adds a pod with the current spec. One of a group that is marked for removal shows about its template what any
// other does. What a spec lets fail on purpose shows nothing.
func (u *podUpdate) current(s plan.Snapshot, c podOf, processes processCount, byGroup func() map[string][]fdb.Process) {
	g, pod := c.group, c.pod
	matters := g.ProcessClass.IsStateful() && !g.IsMarkedForRemoval() && !s.Cluster.ReplacesPodsOf(g.ProcessClass) && !readings.PendingTooLong(s, g)
	if matters && processes.Misses(g, pod) {
		u.notReporting = append(u.notReporting, c)
	}
	switch {
	case processes == nil || u.proven[g.ProcessClass]:
	case !processes.Misses(g, pod) && cameBack(s, g, pod, byGroup()[string(g.ProcessGroupID)]):
		u.proven[g.ProcessClass] = true
	case !g.ProcessClass.IsTester() && len(objects.Faults(&pod.Spec)) == 0:
		u.attempted = append(u.attempted, c)
	}
}

// cameBack reports whether the reporting processes of a pod are its own, and not those of the pod before.
func cameBack(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, processes []fdb.Process) bool {
	return elsewhereThan(pod, processes) == "" && (s.Now.Sub(pod.CreationTimestamp.Time) >= podYoungFor || notYetBack(s, g, pod, processes) == "")
}

// differing adds a pod that was created from another spec. One whose processes do not report may not report
// its fault domain either: it counts as in the one where they last were, and nothing goes down with it.
func (u *podUpdate) differing(s plan.Snapshot, c podOf, processes processCount, inspect func() readings.Inspection) {
	g, pod := c.group, c.pod
	unstarted, misses := readings.NeverStarted(pod), processes.Misses(g, pod)
	zone, known := readings.ZoneOf(s.Cluster, s.PodFiles[pod.Name].Variables)
	if !known && misses {
		zone, known = cmp.Or(string(g.FaultDomain), pod.Name), true
	}
	if !unstarted && (!known || s.Cluster.ReplacesPodsOf(g.ProcessClass) || readings.PendingTooLong(s, g)) {
		return
	}
	if reason, err := inspect().Group(g); reason != "" || err != nil {
		return // ReplaceMisconfiguredPods reports the reason
	}
	one := outdatedPod{
		PodOfGroup: plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID}, class: g.ProcessClass, zone: zone,
		bucket: objects.DistributionKeyOf(pod), notReporting: misses,
	}
	if unstarted {
		u.unstarted = append(u.unstarted, one)
		return
	}
	u.outdated = append(u.outdated, one)
}

// unproven returns the first pods of templates that have not shown yet that they work: no pod of their
// class with the current spec has processes that report.
func (u *podUpdate) unproven() []podOf {
	return slices.DeleteFunc(slices.Clone(u.attempted), func(c podOf) bool { return u.proven[c.group.ProcessClass] })
}

// processCount is how many processes of each process group report. It is nil without a complete
// status document: then none is known not to report, and nothing is taken down anyway.
type processCount map[string]int

func reportingProcesses(status *fdb.Status) processCount {
	if status == nil || status.Incomplete() {
		return nil
	}
	count := processCount{}
	for _, p := range status.Cluster.Processes {
		if p.Reporting() {
			count[p.InstanceID()]++
		}
	}
	return count
}

// Misses reports whether fewer of a pod's processes report than it runs.
func (c processCount) Misses(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) bool {
	if c == nil {
		return false
	}
	servers, err := objects.ServersPerPodOf(pod, g.ProcessClass)
	return err != nil || c[string(g.ProcessGroupID)] < servers
}

// How long a removed pod may still look alive to the database, and for how long a new pod's
// processes may be confused with those of the pod before it.
const (
	podVanishedFor = 90 * time.Second
	podYoungFor    = time.Minute
)

// UnsettledPods describes which pods of stateful process groups are starting or terminating. Groups
// marked for removal count until they are drained: they still hold data. The database reports a
// dead storage process only after a minute, so a second fault domain could go down while its
// status is still healthy.
func UnsettledPods(s plan.Snapshot) []string {
	var reasons []string
	processes := s.Database.Status.ProcessesByGroup()
	for _, g := range s.Groups() {
		if g.IsRemovable() || !g.ProcessClass.IsStateful() || readings.PendingTooLong(s, g) {
			continue
		}
		if why := unsettled(s, g, s.Pod(g), processes[string(g.ProcessGroupID)]); why != "" {
			reasons = append(reasons, fmt.Sprintf("%s %s", g.ProcessGroupID, why))
		}
	}
	return reasons
}

func unsettled(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, processes []fdb.Process) string {
	switch {
	case pod == nil:
		since, known := g.Condition(v1beta2.ConditionMissingPod)
		if !known || s.Now.Sub(since) < podVanishedFor {
			return "lost its pod a moment ago"
		}
		return ""
	case pod.DeletionTimestamp != nil:
		return stillTerminating(s, pod, processes)
	case g.HasCondition(v1beta2.ConditionMissingPod):
		return "has a pod that this pass created" // whatever this machine's clock shows
	case s.Now.Sub(pod.CreationTimestamp.Time) < podYoungFor:
		return cmp.Or(elsewhereThan(pod, processes), notYetBack(s, g, pod, processes))
	default:
		return elsewhereThan(pod, processes)
	}
}

// stillTerminating describes a terminating pod until ignoreTerminatingPodsSeconds of the spec are over, and
// after that while one of its processes reports: it can end at any moment, and until then the
// database counts its replicas. The operator ignores it by its age alone.
func stillTerminating(s plan.Snapshot, pod *corev1.Pod, processes []fdb.Process) string {
	switch {
	case s.Now.Sub(pod.DeletionTimestamp.Time) < s.Cluster.IgnoreTerminatingPodsFor():
		return "has a terminating pod"
	case slices.ContainsFunc(processes, fdb.Process.Reporting):
		return "has a terminating pod whose processes still report"
	default:
		return ""
	}
}

// blockingUpdate describes the pods for which an update of others waits: the unsettled ones, and
// terminating ones of stateless groups that stay. Those hold no data, but each that goes down
// can cost a recovery. The operator waits for stateful ones only.
func blockingUpdate(s plan.Snapshot) []string {
	reasons := UnsettledPods(s)
	processes := sync.OnceValue(s.Database.Status.ProcessesByGroup) // mostly no pod terminates
	for _, g := range s.Remaining() {
		pod := s.Pod(g)
		if g.ProcessClass.IsStateful() || pod == nil || pod.DeletionTimestamp == nil {
			continue
		}
		if why := stillTerminating(s, pod, processes()[string(g.ProcessGroupID)]); why != "" {
			reasons = append(reasons, fmt.Sprintf("%s %s", g.ProcessGroupID, why))
		}
	}
	return reasons
}

// elsewhereThan describes a process that reports an address that its pod does not have: it belongs
// to the pod before, whatever the clocks show.
func elsewhereThan(pod *corev1.Pod, processes []fdb.Process) string {
	ips, err := objects.PublicIPs(pod)
	if err != nil {
		return "" // a pod without readable addresses is judged by its age alone
	}
	for _, p := range processes {
		if !p.Address.IsZero() && !slices.ContainsFunc(ips, func(ip string) bool { return fdb.SameHost(ip, p.Address.Host) }) {
			return fmt.Sprintf("has a process at %s, which its pod does not have: the status document is stale", p.Address.Host)
		}
	}
	return ""
}

// notYetBack describes a new pod whose processes do not report yet. A process that is older than its
// pod belongs to the pod before: the status document is stale.
func notYetBack(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, processes []fdb.Process) string {
	if s.Database.Status == nil {
		return "has a new pod, and the status of its processes is unknown"
	}
	reporting := slices.DeleteFunc(slices.Clone(processes), func(p fdb.Process) bool { return !p.Reporting() })
	if (processCount{string(g.ProcessGroupID): len(reporting)}).Misses(g, pod) {
		return "has a new pod whose processes do not report yet"
	}
	age := s.Now.Sub(pod.CreationTimestamp.Time)
	for _, p := range reporting {
		if uptime, known := p.Uptime(); known && uptime > age {
			return fmt.Sprintf("has a process that is older (%s) than its pod (%s): the status document is stale, or this machine's clock is wrong",
				uptime.Round(time.Second), age.Round(time.Second))
		}
	}
	return ""
}

// zonesWithUnavailablePods returns the fault domains of stateful process groups that are
// unavailable now.
func zonesWithUnavailablePods(s plan.Snapshot) []string {
	var zones []string
	for _, g := range s.Remaining() {
		if !g.ProcessClass.IsStateful() || g.FaultDomain == "" || slices.Contains(zones, string(g.FaultDomain)) {
			continue
		}
		if unavailable(s, g) {
			zones = append(zones, string(g.FaultDomain))
		}
	}
	slices.Sort(zones)
	return zones
}

func unavailable(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	return pod == nil || pod.DeletionTimestamp != nil ||
		g.HasCondition(v1beta2.ConditionPodPending) || g.HasCondition(v1beta2.ConditionMissingProcesses) || g.HasCondition(v1beta2.ConditionPodFailing)
}

// WithRecreation returns a stage that deletes only those of its pods which the API server would accept again: a dry run
// of a pod of each class comes before the first deletion of a pass. The process of a deleted pod that cannot be created
// again is missed until a user helps.
func WithRecreation(of plan.Stage) plan.Stage {
	decide := of.Decide
	of.More |= plan.Successors
	of.Matters = func(s plan.Snapshot) bool { return readings.Has[plan.DeletePods](decide(s)) }
	of.Decide = func(s plan.Snapshot) plan.Decision { return keepRefused(s, decide(s)) }
	return of
}

// keepRefused returns the decision without the deletion of pods that the API server would not accept again with the
// current spec: the pod that runs stays.
func keepRefused(s plan.Snapshot, d plan.Decision) plan.Decision {
	if !readings.Has[plan.DeletePods](d) {
		return d
	}
	a := &acceptance{s: s, room: safety.NewRecreationRoom(s), classes: map[v1beta2.ProcessClass]plan.Check{}}
	d = readings.Narrowed(d, func(deletion plan.DeletePods) (plan.DeletePods, bool) {
		deletion.Pods = slices.DeleteFunc(slices.Clone(deletion.Pods), func(p plan.PodOfGroup) bool { return !a.accepts(p.Group) })
		return deletion, len(deletion.Pods) > 0
	})
	d.Checks = append(d.Checks, a.checks...)
	if len(a.kept) > 0 {
		hold := a.hold()
		if d.Hold != nil && readings.Has[plan.DeletePods](d) {
			hold.Then = d.Hold.Then
		}
		d.Hold = hold
	}
	if !readings.Has[plan.DeletePods](d) {
		d.Actions, d.Why = nil, ""
	}
	return d
}

// acceptance are the answers about the pods that would be recreated.
type acceptance struct {
	s       plan.Snapshot
	room    *safety.RecreationRoom
	classes map[v1beta2.ProcessClass]plan.Check
	checks  []plan.Check
	kept    []v1beta2.ProcessGroupID
	// refused is the check of the first pod that is kept for a rule that only a user changes, or for a quota.
	refused *plan.Check
}

func (a *acceptance) accepts(id v1beta2.ProcessGroupID) bool {
	c := a.ofClass(a.s.Cluster.ProcessGroup(id).ProcessClass)
	if c.OK {
		if c = a.room.Fits(id); !c.OK {
			a.checks = append(a.checks, c)
		}
	}
	if !c.OK {
		a.kept = append(a.kept, id)
		if a.refused == nil || a.refused.ID == plan.CheckRecreationFits {
			a.refused = &c
		}
	}
	return c.OK
}

func (a *acceptance) ofClass(class v1beta2.ProcessClass) plan.Check {
	c, asked := a.classes[class]
	if !asked {
		c = safety.RecreationAccepted(a.s, class)
		a.classes[class] = c
		a.checks = append(a.checks, c)
	}
	return c
}

func (a *acceptance) hold() *plan.Hold {
	keeps := phrase.Either(len(a.kept), "keeps its pod", "keep their pods")
	h := &plan.Hold{
		Code: plan.HoldAdmissionRefused, Manual: true, Subjects: phrase.Strings(a.kept), Detail: a.refused.Evidence,
		Reason: fmt.Sprintf("%s %s: the API server would not accept the new pod", readings.SomeOf(a.kept), keeps),
	}
	if a.refused.ID == plan.CheckRecreationFits {
		h.Code, h.Manual, h.RetryAfter = plan.HoldQuotaExhausted, false, plan.PodDelay
		h.Reason = fmt.Sprintf("%s %s: a ResourceQuota has no room for the larger pod", readings.SomeOf(a.kept), keeps)
	}
	return h
}
