package trial

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// bucketsOf are the distribution keys of the pods that are up, by the name of the pod.
func (h *History) bucketsOf() map[string]string {
	keys := map[string]string{}
	for name, pod := range h.w.Pods {
		keys[name] = objects.DistributionKeyOf(pod)
	}
	return keys
}

// takesSecondBucketDown judges packed pods with data that are down by our hand: of each class they are
// of one bucket.
func takesSecondBucketDown(h *History, d *deed) string {
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
func marksAgain(h *History, d *deed) string {
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
func changesKey(_ *History, d *deed) string {
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
func endsUnpacked(h *History, _ *deed) string {
	for _, w := range h.clusters {
		if wrong := Unpacked(w); wrong != "" && h.settling {
			return wrong
		}
	}
	return ""
}

// Unpacked is what is not packed as the spec packs it; empty for nothing.
func Unpacked(w *sim.Cluster) string {
	normalized, err := w.Resource.Normalized()
	if err != nil {
		return err.Error()
	}
	d := distribution.Of(normalized)
	tally := d.Count(w.Resource.Status.ProcessGroups)
	for _, g := range w.Resource.Status.ProcessGroups {
		key, packed := d.KeyOf(g)
		pod := w.Pods[g.PodName(w.Resource)]
		if pod == nil {
			return fmt.Sprintf("%s has no pod", g.ProcessGroupID)
		}
		if have := objects.DistributionKeyOf(pod); packed && (have != key || objects.DistributionDiffers(normalized, g, pod) != "") {
			return fmt.Sprintf("%s has the key %q, and should have %q: %s", g.ProcessGroupID, have, key, objects.DistributionDiffers(normalized, g, pod))
		}
		if packed && !tally.Of(g.ProcessClass).Balanced() {
			return fmt.Sprintf("process groups in the buckets of %s: %v", g.ProcessClass, tally.Of(g.ProcessClass))
		}
	}
	return ""
}
