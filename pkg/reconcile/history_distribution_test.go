package reconcile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var distributionProblems = []problem{
	{"how pods are packed changes", 3, func(h *history, dice *rand.Rand) {
		if key := h.w.Resource.FaultDomainKey(); key == v1beta2.FaultDomainKeyNone || key == v1beta2.FaultDomainKeyKubernetesCluster {
			return
		}
		pack := []v1beta2.BinPack{v1beta2.BinPackAll, v1beta2.BinPackStateful, v1beta2.BinPackClass}[dice.IntN(3)]
		config := packs(h.fewestDomains()+dice.IntN(3), pack, dice.IntN(4) == 0)
		config.Enabled = new(dice.IntN(4) > 0)
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = config })
		h.logf("spec: packed into %d fault domains by %s: enabled %t, required %t", *config.DesiredFaultDomains, pack, *config.Enabled, *config.Required)
	}},
}

// fewestDomains is how many fault domains are enough for coordinators and redundancy.
func (h *history) fewestDomains() int {
	if h.w.Resource.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeTriple {
		return 5
	}
	return 3
}

// repack does what is left to a user: enough fault domains for another redundancy, and no required
// ones, which a pod waits for until all others of its bucket have left a node.
func (h *history) repack() {
	h.inTurn(func() {
		have := h.w.Resource.Spec.DistributionConfig
		if have == nil {
			return
		}
		config := packs(max(*have.DesiredFaultDomains, h.fewestDomains()), *have.BinPack, false)
		config.Enabled = have.Enabled
		if *config.DesiredFaultDomains == *have.DesiredFaultDomains && !*have.Required {
			return
		}
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = config })
		h.logf("spec: packed into %d fault domains, preferred", *config.DesiredFaultDomains)
	})
}

// bucketsOf are the distribution keys of the pods that are up, by the name of the pod.
func (h *history) bucketsOf() map[string]string {
	keys := map[string]string{}
	for name, pod := range h.w.Pods {
		keys[name] = objects.DistributionKeyOf(pod)
	}
	return keys
}

// takesSecondBucketDown judges packed pods with data that are down by our hand: of each class they are
// of one bucket.
func takesSecondBucketDown(h *history, d *deed) string {
	buckets := map[v1beta2.ProcessClass]string{}
	maps.DeleteFunc(h.buckets, func(pod, _ string) bool { _, down := h.down[pod]; return !down })
	for pod := range h.down {
		if _, known := h.buckets[pod]; !known { // the key that it went down with: it may be created with another one
			h.buckets[pod] = d.before.buckets[pod]
		}
		g := h.groupOf(pod)
		if g == nil || h.buckets[pod] == "" {
			continue
		}
		if other := buckets[g.ProcessClass]; other != "" && other != h.buckets[pod] {
			return fmt.Sprintf("pods of %s and %s are down by our hand", other, h.buckets[pod])
		}
		buckets[g.ProcessClass] = h.buckets[pod]
	}
	return ""
}

// marksAgain judges marks for removal of groups that have one.
func marksAgain(h *history, d *deed) string {
	a, ok := d.action.(plan.MarkForRemoval)
	if !ok {
		return ""
	}
	for _, id := range a.Groups {
		if g := h.w.Resource.ProcessGroup(id); g != nil && g.IsMarkedForRemoval() {
			return string(id)
		}
	}
	return ""
}

// changesKey judges pods that stay.
func changesKey(_ *history, d *deed) string {
	recreated := d.removedPods()
	for name, key := range d.before.buckets {
		now, there := d.after.buckets[name]
		if there && now != key && !slices.Contains(recreated, name) {
			return fmt.Sprintf("%s had %q and has %q", name, key, now)
		}
	}
	return ""
}

// endsUnpacked judges clusters that are reconciled.
func endsUnpacked(h *history, _ *deed) string {
	for _, w := range h.clusters {
		if wrong := packedWrong(w); wrong != "" && h.settling {
			return wrong
		}
	}
	return ""
}

// packing enables the packing of pods.
func packing(h *history) {
	h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = packs(3, v1beta2.BinPackClass, false) })
}

// unevenly are stages of which one draws random numbers, and one replaces no excess.
func unevenly(_ *history, all []plan.Stage) []plan.Stage {
	for i := range all {
		decide := all[i].Decide
		edited := func(edit func(*v1beta2.FoundationDBClusterSpec)) func(plan.Snapshot) plan.Decision {
			return func(s plan.Snapshot) plan.Decision {
				s.Cluster = s.Cluster.DeepCopy()
				edit(&s.Cluster.Spec)
				return decide(s)
			}
		}
		switch all[i].Name {
		case plan.StageAddProcessGroups:
			all[i].Decide = edited(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = nil })
		case plan.StageReplaceMisconfiguredPods:
			all[i].Decide = edited(func(s *v1beta2.FoundationDBClusterSpec) {
				s.ProcessCounts = v1beta2.ProcessCounts{Storage: 99, Log: 99, Stateless: 99}
			})
		default:
		}
	}
	return all
}

// twoOnOneNode moves the second storage pod to the node of the first.
func (h *history) twoOnOneNode() {
	storage := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStorage)
	first, second := storage[0].PodName(h.w.Resource), storage[1].PodName(h.w.Resource)
	h.w.Cordoned = map[string]bool{}
	for _, node := range h.w.Nodes {
		h.w.Cordoned[node] = node != h.w.Pods[first].Spec.NodeName
	}
	h.w.KillPod(second)
}

// bothBuckets takes the two down once all data is where they are, as if they were of two buckets.
func (h *history) bothBuckets(s plan.Snapshot) []plan.Action {
	storage := pick(s, isStorage)
	if len(storage) < 2 {
		return nil
	}
	first, second := storage[0].PodName(s.Cluster), storage[1].PodName(s.Cluster)
	t := h.truth()
	if zone := t.zones[first]; zone != t.zones[second] || !t.completeBut[zone] || len(t.young) > 0 {
		return nil
	}
	h.w.Pods[first].Labels[v1beta2.LabelDistributionKey] = "storage-0"
	h.w.Pods[second].Labels[v1beta2.LabelDistributionKey] = "storage-1"
	return []plan.Action{renewalOf(s, storage[:2])}
}
