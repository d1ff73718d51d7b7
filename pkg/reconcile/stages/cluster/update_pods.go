package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// UpdatePods deletes pods that were created from another spec than the current one, one fault
// domain at a time; AddPods recreates them with their volumes. The next fault domain follows when
// the database is fully fault tolerant again. Process groups whose changed spec requires a
// replacement instead are not touched here.
//
// The template of a class proves itself on one pod before a second one is taken down, whatever the
// class. A pod that never started is recreated at once where it differs from the spec: it holds
// nothing, and a spec that broke it can be corrected. AddPods creates missing pods during an upgrade
// and a change of TLS as well, so neither makes it wait.
//
// A dry run of a pod of each class comes before the first deletion: where the API server refuses it, the pod that runs
// stays.
//
// The operator updates any zone under active maintenance next; here a zone that a user put under
// maintenance blocks the update of all others.
func UpdatePods(o plan.Options) plan.Stage {
	return WithRecreation(plan.Stage{
		Name:   plan.StageUpdatePods,
		Reads:  plan.ClusterResource | plan.Pods | plan.Volumes | plan.PodFiles | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision { return updatePods(s, o) },
	})
}

// updatePods decides which pods are updated, if the API server accepts them.
func updatePods(s plan.Snapshot, o plan.Options) plan.Decision {
	u, err := podsToUpdate(s, o)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	keep := u.keepLastVolumes(s)
	if len(u.outdated)+len(u.unstarted) == 0 {
		return plan.Decision{Hold: keep.Hold()}
	}
	d := u.decide(s)
	if len(d.Actions) == 0 {
		d.Hold = keep.HoldBefore(d.Hold)
	}
	return d
}

// keepLastVolumes omits the pods whose volume would end with them, and returns them: their process groups
// are replaced while their processes still run, and the data moves. A pod that never started keeps the
// volume of the one before.
func (u *podUpdate) keepLastVolumes(s plan.Snapshot) (keep readings.VolumesGoing) {
	ends := func(pod outdatedPod) bool { return keep.Keeps(s, s.Cluster.ProcessGroup(pod.Group)) }
	u.unstarted = slices.DeleteFunc(u.unstarted, func(pod outdatedPod) bool {
		kept := ends(pod)
		if g := s.Cluster.ProcessGroup(pod.Group); kept {
			u.stranded = append(u.stranded, podOf{g, s.Pod(g)})
		}
		return kept
	})
	u.outdated = slices.DeleteFunc(u.outdated, ends)
	return keep
}

// decide returns what blocks the update of all pods, or which may be updated now.
func (u *podUpdate) decide(s plan.Snapshot) plan.Decision {
	all := slices.Concat(u.unstarted, u.outdated)
	manual := s.Cluster.DeletionMode() == v1beta2.PodUpdateModeNone
	if why := specsFrozen(s.Cluster); why != "" && (len(u.unstarted) == 0 || manual) {
		return plan.WaitBehind(plan.PodDelay, plan.HoldSpecsFrozen, fmt.Sprintf("%s %s the old spec %s", phrase.Count(len(all), "pod"), phrase.Either(len(all), "keeps", "keep"), why))
	}
	if manual {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldDeletionModeNone, Manual: true, Reason: fmt.Sprintf(
			"spec.automationOptions.deletionMode is None: delete these pods manually, one fault domain at a time: %s", readings.SomeOf(podNames(all)))}}
	}
	if len(u.unstarted) > 0 {
		return recreateUnstarted(u.unstarted, len(u.outdated))
	}
	// The template may have been changed since, and have the same fault: only a pod that starts would show that. What keeps the pod is the reason.
	if startFailures(u.stranded).stuck > 0 {
		return plan.Decision{}
	}
	unproven := u.unproven()
	if startFailures(unproven).stuck > 0 {
		return stopUpdate(u.outdated, unproven)
	}
	if why := blockingUpdate(s); len(why) > 0 {
		return plan.Wait(PodUpdateRetry, plan.HoldPodsUnsettled, "pods are updated once all others are settled: "+readings.SomeOf(why))
	}
	if s.Cluster.DeletionMode() != v1beta2.PodUpdateModeAll {
		unproven = slices.Concat(u.notReporting, slices.DeleteFunc(unproven, func(c podOf) bool { return slices.Contains(u.notReporting, c) }))
	}
	if len(unproven) > 0 {
		return stopUpdate(u.outdated, unproven)
	}
	return updateSome(s, u)
}

// recreateUnstarted deletes the pods that never started, at once and whatever the database answers: no
// process ends with them. No other control-plane instance has to know.
func recreateUnstarted(pods []outdatedPod, remaining int) plan.Decision {
	a := plan.DeletePods{}
	for _, pod := range pods {
		a.Pods = append(a.Pods, pod.PodOfGroup)
	}
	return plan.Decision{
		Why:     fmt.Sprintf("%s never started and %s not match the spec", phrase.Count(len(pods), "pod"), phrase.Either(len(pods), "does", "do")),
		Actions: []plan.Action{a},
		Hold:    &plan.Hold{Code: plan.HoldMorePodsFollow, Reason: fmt.Sprintf("%s deleted, recreated by the next pass; %d remaining", phrase.Count(len(pods), "pod"), remaining), RetryAfter: plan.PodDelay},
	}
}

// failures are why pods do not start, as far as that is known.
type failures struct {
	pods []string
	// stuck is how many of them time does not resolve.
	stuck int
}

func startFailures(pods []podOf) (f failures) {
	for _, c := range pods {
		if c.pod == nil {
			continue
		}
		if why, stuck := readings.StartFailure(c.pod); why != "" {
			f.pods = append(f.pods, why)
			if stuck {
				f.stuck++
			}
		}
	}
	return f
}

// stopUpdate stops an update at the first pod that has the current spec and whose processes do not
// report. The spec may be the cause; and while it is unknown whether they reported meanwhile, a
// death that the database has not noticed yet cannot be distinguished from an old one. The
// operator continues once the data has been copied elsewhere, and beside stateless pods at once.
func stopUpdate(outdated []outdatedPod, waiting []podOf) plan.Decision {
	failed := startFailures(waiting)
	ids := make([]string, len(waiting))
	for i, c := range waiting {
		ids[i] = string(c.group.ProcessGroupID)
	}
	reason := fmt.Sprintf("%s %s to be recreated; the update stops while processes with the new spec do not report: %s; correct the spec, or replace these process groups",
		phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated)), readings.SomeOf(ids))
	if len(failed.pods) > 0 {
		reason = fmt.Sprintf("%s %s to be recreated; the update stops at the first pod with the new spec that does not start: %s; correct the spec",
			phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated)), readings.SomeOf(failed.pods))
	}
	hold := &plan.Hold{Code: plan.HoldNotReporting, Reason: reason, Manual: failed.stuck > 0}
	if failed.stuck == 0 {
		hold.RetryAfter = PodUpdateRetry
	}
	return plan.Decision{Hold: hold}
}

// specsFrozen describes until when no pod may change. New pods would run a version, or announce an
// address, that the rest of the cluster cannot use yet.
func specsFrozen(c *v1beta2.FoundationDBCluster) string {
	switch {
	case readings.IncompatibleUpgrade(c):
		return "until all processes run " + c.Spec.Version
	case readings.TLSConversion(c):
		return "until the conversion to or from TLS is over"
	default:
		return ""
	}
}

// PodUpdateRetry is when a refused update of pods is checked again. The operator waits as long.
const PodUpdateRetry = 15 * time.Second

// outdatedPod is a pod that has to be recreated, and its zone.
type outdatedPod struct {
	plan.PodOfGroup

	class v1beta2.ProcessClass
	// zone is the fault domain that the pod's processes announce.
	zone string
	// bucket is the distribution key of the pod; empty where pods are not packed.
	bucket string
	// notReporting is true when not all of its processes report.
	notReporting bool
}

func podNames(pods []outdatedPod) []string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Name
	}
	return names
}

// updateSome deletes the next pods, if that is safe now.
func updateSome(s plan.Snapshot, u *podUpdate) plan.Decision {
	outdated := u.outdated
	d := plan.Decision{Checks: podUpdateChecks(s)}
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s %s to be recreated; none is deleted now", phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated))), Detail: refused.Evidence, RetryAfter: PodUpdateRetry}
		return d
	}
	chosen, allowed, missing := nextPods(s, outdated)
	if !allowed.OK {
		d.Checks = append(d.Checks, allowed)
		d.Hold = &plan.Hold{
			Code:   plan.HoldCheckRefused,
			Reason: fmt.Sprintf("%s %s to be recreated, and none may go down now", phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated))), Detail: allowed.Evidence, RetryAfter: cmp.Or(missing, PodUpdateRetry),
		}
		return d
	}
	chosen = u.withCanary(chosen)
	d.Why = fmt.Sprintf("%s %s not match the spec", phrase.Count(len(outdated), "pod"), phrase.Either(len(outdated), "does", "do"))
	if maintenance := maintenanceFor(s, chosen); maintenance != nil {
		d.Actions = append(d.Actions, *maintenance)
	}
	d.Actions = append(d.Actions, deletionOf(s.Cluster, chosen))
	d.Hold = &plan.Hold{Code: plan.HoldMorePodsFollow, Reason: fmt.Sprintf("%s deleted, recreated by the next pass; %d remaining", phrase.Count(len(chosen), "pod"), len(outdated)-len(chosen)), RetryAfter: plan.PodDelay}
	return d
}

// withCanary limits chosen pods while templates have not proven themselves: to one pod, as long as no
// class that is being updated has; then to one of each class that has not. The first is one without data
// where there is one.
func (u *podUpdate) withCanary(chosen []outdatedPod) []outdatedPod {
	if !slices.ContainsFunc(u.outdated, func(pod outdatedPod) bool { return u.proven[pod.class] }) {
		if i := slices.IndexFunc(chosen, func(pod outdatedPod) bool { return !holdsData(pod) }); i >= 0 {
			return chosen[i : i+1]
		}
		return chosen[:1]
	}
	canary := map[v1beta2.ProcessClass]bool{}
	return slices.DeleteFunc(slices.Clone(chosen), func(pod outdatedPod) bool {
		second := !u.proven[pod.class] && canary[pod.class]
		canary[pod.class] = true
		return second
	})
}

// podUpdateChecks returns the checks before processes are taken down on purpose. A locked database
// is being restored or copied, and must not be disturbed.
func podUpdateChecks(s plan.Snapshot) []plan.Check {
	return []plan.Check{
		safety.Available(s.Database), safety.Unlocked(s.Database), safety.RecentProof(s), safety.FullFaultTolerance(s),
	}
}

func deletionOf(c *v1beta2.FoundationDBCluster, chosen []outdatedPod) plan.Action {
	a := plan.DeletePods{Shared: c.DeletionMode() != v1beta2.PodUpdateModeAll}
	for _, pod := range chosen {
		a.Pods = append(a.Pods, pod.PodOfGroup)
	}
	return a
}

// nextPods chooses by the deletion mode: all, those of one fault domain, or one. The check has the
// reason why none can be chosen, and missing the minimum wait, where it is known.
func nextPods(s plan.Snapshot, outdated []outdatedPod) (chosen []outdatedPod, allowed plan.Check, missing time.Duration) {
	mode := s.Cluster.DeletionMode()
	if mode == v1beta2.PodUpdateModeAll {
		return outdated, plan.Check{OK: true}, 0
	}
	zones, allowed, missing := allowedZones(s, outdated)
	if len(zones) == 0 {
		return nil, allowed, missing
	}
	chosen = slices.DeleteFunc(slices.Clone(outdated), func(pod outdatedPod) bool { return pod.zone != zones[0] })
	chosen = ofOneBucket(chosen)
	if mode == v1beta2.PodUpdateModeProcessGroup {
		chosen = chosen[:1]
	}
	return chosen, allowed, 0
}

// ofOneBucket omits the pods of a class that are of another bucket than the first one. Where
// spec.distributionConfig only prefers that a bucket has its fault domain to itself, two may share
// one, and of each class no more than one bucket goes down at a time.
func ofOneBucket(pods []outdatedPod) []outdatedPod {
	first := map[v1beta2.ProcessClass]string{}
	return slices.DeleteFunc(pods, func(pod outdatedPod) bool {
		if pod.bucket == "" {
			return false
		}
		bucket, found := first[pod.class]
		if !found {
			first[pod.class] = pod.bucket
		}
		return found && bucket != pod.bucket
	})
}

// allowedZones returns the fault domains whose pods may go down now: first those where processes
// are down already, then in the order of their names.
func allowedZones(s plan.Snapshot, outdated []outdatedPod) (zones []string, allowed plan.Check, missing time.Duration) {
	byZone := map[string][]outdatedPod{}
	for _, pod := range outdated {
		byZone[pod.zone] = append(byZone[pod.zone], pod)
	}
	zones = slices.SortedFunc(maps.Keys(byZone), func(a, b string) int {
		return cmp.Or(cmp.Compare(turn(byZone[a]), turn(byZone[b])), strings.Compare(a, b))
	})
	if zones, allowed = withinUnavailableBudget(s, zones); !allowed.OK {
		return zones, allowed, 0
	}
	if zones, allowed = outsideMaintenance(s, zones, byZone); !allowed.OK {
		return zones, allowed, 0
	}
	return withoutRecentStarts(s, zones, byZone)
}

// turn returns 0 for a fault domain that is down already: its recreation costs nothing, and may be
// the fix.
func turn(pods []outdatedPod) int {
	if slices.ContainsFunc(pods, func(pod outdatedPod) bool { return pod.notReporting }) {
		return 0
	}
	return 1
}

// withinUnavailableBudget returns the zones that may go down in addition to those which have
// unavailable pods: all, as long as spec.maxZonesWithUnavailablePods is not reached. The zones
// with unavailable pods always may, or a spec that broke them could not be corrected. The
// operator deletes nothing there either once more than the maximum are unavailable.
func withinUnavailableBudget(s plan.Snapshot, zones []string) ([]string, plan.Check) {
	c := plan.Check{ID: plan.CheckOneFaultDomainDown, Question: "may pods of one more fault domain be unavailable?", Gate: plan.GateReplicas, OK: true}
	unavailable, most := zonesWithUnavailablePods(s), s.Cluster.MaxZonesWithUnavailablePods()
	if len(unavailable) >= most {
		zones = slices.DeleteFunc(zones, func(zone string) bool { return !slices.Contains(unavailable, zone) })
		c.OK = len(zones) > 0
		c.Evidence = fmt.Sprintf("%s; spec.maxZonesWithUnavailablePods is %d", unavailableWords(unavailable), most)
	}
	return zones, c
}

// unavailableWords returns which fault domains have unavailable pods.
func unavailableWords(zones []string) string {
	if len(zones) == 0 {
		return "no fault domain has unavailable pods"
	}
	return fmt.Sprintf("%s %s unavailable pods (%s)", phrase.Count(len(zones), "fault domain"), phrase.Has(len(zones)), readings.SomeOf(zones))
}

// outsideMaintenance returns the zones that may go down while one is under maintenance: that one,
// and those without data. Processes that are down in the zone under maintenance do not count in
// the database's numbers, so a log of another zone would be the second loss.
func outsideMaintenance(s plan.Snapshot, zones []string, byZone map[string][]outdatedPod) ([]string, plan.Check) {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain, OK: true, Evidence: "none is"}
	under, unread := MaintenanceZone(s)
	if under == "" && !unread {
		return zones, c
	}
	zones = slices.DeleteFunc(zones, func(zone string) bool {
		return (unread || zone != under) && slices.ContainsFunc(byZone[zone], holdsData)
	})
	c.OK = len(zones) > 0
	c.Evidence = fmt.Sprintf("zone %s is under maintenance; until it ends, no process with data in another zone may go down", under)
	if unread {
		c.Evidence = safety.MaintenanceKnown(s.Database).Evidence
	}
	return zones, c
}

// withoutRecentStarts returns the zones that may go down while processes with data have just
// started: the zone of such a process, and those without data. A pod whose fdbserver process
// crashes in a loop can therefore always be recreated.
func withoutRecentStarts(s plan.Snapshot, zones []string, byZone map[string][]outdatedPod) (left []string, c plan.Check, missing time.Duration) {
	starts := safety.JustStarted(s)
	c, _ = starts.Elsewhere()
	for _, zone := range zones {
		elsewhere, wait := starts.Elsewhere(zone)
		switch {
		case elsewhere.OK:
			left = append(left, zone)
		case !slices.ContainsFunc(byZone[zone], mayHaveData):
			left = append(left, zone)
			c.Evidence = "the pods that go down hold no data"
		case missing == 0 || wait < missing:
			c, missing = elsewhere, wait
		}
	}
	c.OK = len(left) > 0
	return left, c, missing
}

func holdsData(pod outdatedPod) bool { return pod.class.IsStateful() }

func mayHaveData(pod outdatedPod) bool { return safety.MayKeepData(pod.class) }

func needsMaintenance(pod outdatedPod) bool { return pod.class.IsAffectedByMaintenance() }

// MaintenanceZone returns the zone in maintenance mode; empty without one. Unread is true if the database
// is available and did not report it. Whether it is available is a question of its own.
func MaintenanceZone(s plan.Snapshot) (zone string, unread bool) {
	if s.Database.Status == nil {
		return "", false
	}
	now, known := s.Database.Status.Maintenance()
	return now.Zone, !known && s.Database.Available()
}

// maintenanceFor returns the maintenance for the zone of the storage processes among the chosen
// pods, so that their data is not moved. Nil where the spec disables that.
func maintenanceFor(s plan.Snapshot, chosen []outdatedPod) *plan.StartMaintenance {
	if !s.Cluster.UseMaintenanceModeChecker() || s.Cluster.DeletionMode() == v1beta2.PodUpdateModeAll {
		return nil
	}
	a := &plan.StartMaintenance{Zone: chosen[0].zone, Duration: s.Cluster.MaintenanceModeTime(), At: s.Now}
	for _, pod := range chosen {
		if needsMaintenance(pod) {
			a.Groups = append(a.Groups, pod.Group)
		}
	}
	if len(a.Groups) == 0 {
		return nil
	}
	return a
}
