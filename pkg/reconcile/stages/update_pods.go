package stages

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// updatePods deletes pods that were made from another spec than the one wanted now, one
// fault domain at a time; AddPods makes them anew over their old volumes. The next
// fault domain follows when the database is fully fault tolerant again. Process groups
// whose changed spec calls for a replacement instead are not touched here.
//
// The operator lets any active maintenance zone decide the order; here a zone that a
// person put under maintenance holds the update of all others.
func updatePods(o Options) plan.Stage {
	return plan.Stage{
		Name:  plan.StageUpdatePods,
		Reads: plan.Record | plan.Pods | plan.Volumes | plan.PodFiles | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision {
			outdated, silent, err := outdatedPods(s, o)
			if err != nil {
				return contradiction(err)
			}
			if len(outdated) == 0 {
				return plan.Decision{}
			}
			return updateOutdated(s, outdated, silent)
		},
	}
}

// updateOutdated asks what keeps all pods from being updated, and then which may go.
func updateOutdated(s plan.Snapshot, outdated []outdatedPod, silent []string) plan.Decision {
	if why := specsFrozen(s.Cluster); why != "" {
		return plan.WaitBehind(podDelay, plan.HoldSpecsFrozen, fmt.Sprintf("%s %s the old spec %s", phrase.Count(len(outdated), "pod"), phrase.Either(len(outdated), "keeps", "keep"), why))
	}
	if s.Cluster.DeletionMode() == v1beta2.PodUpdateModeNone {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldDeletionModeNone, Human: true, Reason: fmt.Sprintf(
			"automationOptions.deletionMode is None: delete these pods yourself, a fault domain at a time: %s", someOf(podNames(outdated)))}}
	}
	if why := unsettledPods(s); len(why) > 0 {
		return plan.Wait(podUpdateRetry, plan.HoldPodsUnsettled, "pods are updated once all others are settled: "+someOf(why))
	}
	if len(silent) > 0 && s.Cluster.DeletionMode() != v1beta2.PodUpdateModeAll {
		return stopUpdate(outdated, silent)
	}
	return updateSome(s, outdated)
}

// stopUpdate stops an update at the first pod that has the wanted spec and whose servers
// do not report. The spec may be what keeps them from it; and while nobody sees whether
// they came back meanwhile, a death that the database has not noticed yet cannot be told
// from an old one. The operator goes on once the data has been copied elsewhere.
func stopUpdate(outdated []outdatedPod, silent []string) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNotReporting, RetryAfter: podUpdateRetry, Reason: fmt.Sprintf(
		"%s %s to be recreated; the update stops while processes with the new spec do not report: %s; correct the spec, or replace these process groups",
		phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated)), someOf(silent))}}
}

// specsFrozen says why no pod may change now. New pods would run a version, or announce
// an address, that the rest of the cluster cannot use yet.
func specsFrozen(c *v1beta2.FoundationDBCluster) string {
	switch {
	case incompatibleUpgrade(c):
		return "until all processes run " + c.Spec.Version
	case tlsConversion(c):
		return "until the change to or from TLS is over"
	default:
		return ""
	}
}

// podUpdateRetry is when to look again after pods could not be updated. The operator
// waits as long.
const podUpdateRetry = 15 * time.Second

// outdatedPod is a pod that has to be made anew, and where it is.
type outdatedPod struct {
	plan.PodOfGroup

	class v1beta2.ProcessClass
	// zone is the fault domain that the pod's processes announce.
	zone string
	// silent is true when not all of its servers report.
	silent bool
}

func podNames(pods []outdatedPod) []string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Name
	}
	return names
}

// updateSome deletes the next pods, if that is safe now.
func updateSome(s plan.Snapshot, outdated []outdatedPod) plan.Decision {
	d := plan.Decision{Checks: podUpdateChecks(s)}
	if refused, ok := d.Refused(); ok {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s %s to be recreated; none is deleted now", phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated))), Detail: refused.Words(), RetryAfter: podUpdateRetry}
		return d
	}
	chosen, allowed, missing := nextPods(s, outdated)
	if !allowed.OK {
		d.Checks = append(d.Checks, allowed)
		d.Hold = &plan.Hold{
			Code:   plan.HoldCheckRefused,
			Reason: fmt.Sprintf("%s %s to be recreated, and none may go down now", phrase.Count(len(outdated), "pod"), phrase.Has(len(outdated))), Detail: allowed.Evidence, RetryAfter: cmp.Or(missing, podUpdateRetry),
		}
		return d
	}
	d.Why = fmt.Sprintf("%s %s not match the spec", phrase.Count(len(outdated), "pod"), phrase.Either(len(outdated), "does", "do"))
	if maintenance := maintenanceFor(s, chosen); maintenance != nil {
		d.Actions = append(d.Actions, *maintenance)
	}
	d.Actions = append(d.Actions, deletionOf(s.Cluster, chosen))
	d.Hold = &plan.Hold{Code: plan.HoldMorePodsFollow, Reason: fmt.Sprintf("the deleted pods are made anew in the next pass; %d more follow", len(outdated)-len(chosen)), RetryAfter: podDelay}
	return d
}

// podUpdateChecks are asked before servers go down on purpose. A locked database is
// being restored or copied: nobody may shake it then.
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

// nextPods picks by the deletion mode: all, those of one fault domain, or one. The check
// says why none can be picked, and missing how long that takes at least, where it is known.
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
	if mode == v1beta2.PodUpdateModeProcessGroup {
		chosen = chosen[:1]
	}
	return chosen, allowed, 0
}

// allowedZones are the fault domains whose pods may go down now: first those where servers
// are down already, then in the order of their names.
func allowedZones(s plan.Snapshot, outdated []outdatedPod) (zones []string, allowed plan.Check, missing time.Duration) {
	byZone := map[string][]outdatedPod{}
	for _, pod := range outdated {
		byZone[pod.zone] = append(byZone[pod.zone], pod)
	}
	zones = slices.SortedFunc(maps.Keys(byZone), func(a, b string) int {
		return cmp.Or(cmp.Compare(turn(byZone[a]), turn(byZone[b])), strings.Compare(a, b))
	})
	if zones, allowed = besideUnavailable(s, zones); !allowed.OK {
		return zones, allowed, 0
	}
	if zones, allowed = besideMaintenance(s, zones, byZone); !allowed.OK {
		return zones, allowed, 0
	}
	return besideStarts(s, zones, byZone)
}

// turn is 0 for a fault domain that is down already: to make it anew costs nothing, and may
// bring it back.
func turn(pods []outdatedPod) int {
	if slices.ContainsFunc(pods, func(pod outdatedPod) bool { return pod.silent }) {
		return 0
	}
	return 1
}

// besideUnavailable leaves the zones that may go down beside those which have unavailable
// pods: all, as long as spec.maxZonesWithUnavailablePods is not reached.
func besideUnavailable(s plan.Snapshot, zones []string) ([]string, plan.Check) {
	c := plan.Check{ID: plan.CheckOneFaultDomainDown, Question: "may pods of one more fault domain be unavailable?", Gate: plan.GateReplicas, OK: true}
	unavailable, most := zonesWithUnavailablePods(s), s.Cluster.MaxZonesWithUnavailablePods()
	if len(unavailable) >= most {
		zones = slices.DeleteFunc(zones, func(zone string) bool {
			return len(unavailable) > most || !slices.Contains(unavailable, zone)
		})
		c.OK = len(zones) > 0
		c.Evidence = fmt.Sprintf("%s %s unavailable pods (%s); spec.maxZonesWithUnavailablePods is %d", phrase.Count(len(unavailable), "fault domain"), phrase.Has(len(unavailable)), someOf(unavailable), most)
	}
	return zones, c
}

// besideMaintenance leaves the zones that may go down while one is under maintenance: that
// one, and those that keep nothing. What is down in a zone under maintenance counts for
// nothing in the database's numbers, so a log of another zone would be the second loss.
func besideMaintenance(s plan.Snapshot, zones []string, byZone map[string][]outdatedPod) ([]string, plan.Check) {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain, OK: true, Evidence: "none is"}
	if under := maintenanceZone(s); under != "" {
		zones = slices.DeleteFunc(zones, func(zone string) bool { return zone != under && slices.ContainsFunc(byZone[zone], keepsSomething) })
		c.OK = len(zones) > 0
		c.Evidence = fmt.Sprintf("zone %s is under maintenance, and nothing that keeps data in another may go down until that has ended", under)
	}
	return zones, c
}

// besideStarts leaves the zones that may go down beside processes that have just started and
// keep data: the zone of such a process, and those that keep nothing. A pod whose fdbserver
// process crashes in a loop can therefore always be recreated.
func besideStarts(s plan.Snapshot, zones []string, byZone map[string][]outdatedPod) (left []string, c plan.Check, missing time.Duration) {
	starts := safety.JustStarted(s)
	c, _ = starts.Elsewhere()
	for _, zone := range zones {
		elsewhere, wait := starts.Elsewhere(zone)
		switch {
		case elsewhere.OK:
			left = append(left, zone)
		case !slices.ContainsFunc(byZone[zone], mayHaveData):
			left = append(left, zone)
			c.Evidence = "what goes down keeps no data"
		case missing == 0 || wait < missing:
			c, missing = elsewhere, wait
		}
	}
	c.OK = len(left) > 0
	return left, c, missing
}

func keepsSomething(pod outdatedPod) bool { return pod.class.IsStateful() }

func mayHaveData(pod outdatedPod) bool { return safety.MayKeepData(pod.class) }

func needsMaintenance(pod outdatedPod) bool { return pod.class.IsAffectedByMaintenance() }

func maintenanceZone(s plan.Snapshot) string {
	if s.Database.Status == nil {
		return ""
	}
	return s.Database.Status.Maintenance().Zone
}

// maintenanceFor tells the database to wait for the storage processes among the chosen
// pods instead of moving their data. Nil where the spec does not want that.
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
