package readings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// distributionDiffers: the pod is packed into fault domains otherwise than the spec packs it, or its
// bucket has too many process groups. A pod is never recreated for that, since its volume may be
// bound to its node.
func (i Inspection) distributionDiffers(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (wrong string, err error) {
	if wrong, err := i.packedOtherwise(g, pod); wrong != "" || err != nil {
		return wrong, err
	}
	return i.excess()[g.ProcessGroupID], nil
}

// packedOtherwise returns how a pod is packed otherwise than the spec packs it. A pod with the hash
// of the current spec is not: it was created from it, or a user adopted it as it is.
func (i Inspection) packedOtherwise(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	wrong := objects.DistributionDiffers(i.s.Cluster, g, pod)
	if wrong == "" {
		return "", nil
	}
	want, err := i.specs.Of(g)
	if err != nil || pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == want {
		return "", err
	}
	return wrong, nil
}

// excessGroups returns why process groups have to leave their buckets, the fewest possible, by
// group.
func (i Inspection) excessGroups() map[v1beta2.ProcessGroupID]string {
	d := distribution.Of(i.s.Cluster)
	if !d.Enabled() {
		return nil
	}
	reasons := map[v1beta2.ProcessGroupID]string{}
	desired := i.s.Cluster.DesiredProcessCounts()
	for class, groups := range packedByClass(i.s, d) {
		total := max(len(groups), desired[class])
		if len(excessOf(d, groups, total, i.leavesBucket)) == 0 {
			continue
		}
		// Of equal process groups those leave first that are replaced for another reason anyway.
		excess := excessOf(d, groups, total, func(g *v1beta2.ProcessGroupStatus) bool { return i.leavesBucket(g) || i.replacedOtherwise(g) })
		for _, g := range excess {
			bucket, _ := d.BucketOf(g)
			reasons[g.ProcessGroupID] = fmt.Sprintf("the distribution key %s has more process groups of its class than others", d.Key(class, bucket))
		}
	}
	return reasons
}

// packedByClass returns the process groups that stay and have a bucket, by class. Those come first
// that stay in their bucket rather than others: the ones that the spec keeps, then by number.
func packedByClass(s plan.Snapshot, d distribution.Distribution) map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus {
	packed := map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus{}
	for _, g := range s.Remaining() {
		if _, has := d.BucketOf(g); has {
			packed[g.ProcessClass] = append(packed[g.ProcessClass], g)
		}
	}
	rank := func(g *v1beta2.ProcessGroupStatus) (others, number int) {
		if !s.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
			others = 1
		}
		_, _, number, _ = g.ProcessGroupID.Split() // it has a bucket by its number
		return others, number
	}
	for _, groups := range packed {
		slices.SortStableFunc(groups, func(a, b *v1beta2.ProcessGroupStatus) int {
			othersA, numberA := rank(a)
			othersB, numberB := rank(b)
			return cmp.Or(cmp.Compare(othersA, othersB), cmp.Compare(numberA, numberB))
		})
	}
	return packed
}

func excessOf(d distribution.Distribution, groups []*v1beta2.ProcessGroupStatus, total int, leaves func(*v1beta2.ProcessGroupStatus) bool) []*v1beta2.ProcessGroupStatus {
	members := make([]distribution.Member, len(groups))
	for n, g := range groups {
		bucket, _ := d.BucketOf(g)
		members[n] = distribution.Member{Bucket: bucket, Leaves: leaves(g)}
	}
	var found []*v1beta2.ProcessGroupStatus
	for _, n := range distribution.Excess(members, total, d.Domains()) {
		found = append(found, groups[n])
	}
	return found
}

// leavesBucket reports whether a group is known to be replaced because its pod is packed otherwise.
func (i Inspection) leavesBucket(g *v1beta2.ProcessGroupStatus) bool {
	pod := i.s.Pod(g)
	if pod == nil {
		return false
	}
	wrong, err := i.packedOtherwise(g, pod)
	return wrong != "" && err == nil
}

// replacedOtherwise reports whether a group is known to be replaced for another reason than the
// distribution.
func (i Inspection) replacedOtherwise(g *v1beta2.ProcessGroupStatus) bool {
	pod := i.s.Pod(g)
	if pod == nil {
		return false
	}
	if wrong, err := i.first(triggers, g, pod); wrong != "" || err != nil {
		return wrong != ""
	}
	wrong, err := i.changed(g, pod)
	return wrong != "" && err == nil
}

// DistributionInForce reports whether the pods are packed as the spec packs them: at least one, and
// none otherwise.
func DistributionInForce(s plan.Snapshot) bool {
	d, found := distribution.Of(s.Cluster), false
	for _, g := range s.Remaining() {
		pod := s.Pod(g)
		if _, packed := d.BucketOf(g); !packed || pod == nil {
			continue
		}
		if objects.DistributionDiffers(s.Cluster, g, pod) != "" {
			return false
		}
		found = true
	}
	return found
}

// DistributionMoves is what is replaced until the pods are packed as the spec packs them.
type DistributionMoves struct {
	// Replaced and Staying are numbers of process groups that are not marked for removal.
	Replaced, Remaining int
	// Domains is the desired number of fault domains.
	Domains int
	// Pods is how many pods exist at once at most, without those that are drained and not removed
	// yet where Limited.
	Pods int
	// Limited is true where fewer are replaced at once than in all.
	Limited bool
}

// DistributionMoves returns what the distribution replaces now and in later passes.
func (i Inspection) DistributionMoves() DistributionMoves {
	m := DistributionMoves{Domains: distribution.Of(i.s.Cluster).Domains()}
	for _, g := range i.s.Remaining() {
		pod := i.s.Pod(g)
		if pod == nil {
			m.Remaining++
			continue
		}
		wrong, err := i.distributionDiffers(g, pod)
		if wrong != "" && err == nil && !i.s.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
			m.Replaced++
		} else {
			m.Remaining++
		}
	}
	for _, g := range i.s.Groups() {
		if !g.IsRemovable() {
			m.Pods++
		}
	}
	most := i.s.Cluster.MaxConcurrentMisconfigurationReplacements()
	m.Limited = most < m.Replaced
	m.Pods += min(m.Replaced, most)
	return m
}

// Text returns the numbers as one clause; empty where nothing is replaced.
func (m DistributionMoves) Text(c *v1beta2.FoundationDBCluster) string {
	if m.Replaced == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s %s replaced to pack pods into %s, %d %s; up to %s at once",
		m.Replaced, phrase.Count(m.Replaced+m.Remaining, "process group"), phrase.Either(m.Replaced, "is", "are"), phrase.Count(m.Domains, "fault domain"),
		m.Remaining, phrase.Either(m.Remaining, "stays", "stay"), phrase.Count(m.Pods, "pod"))
	switch most := c.MaxConcurrentMisconfigurationReplacements(); {
	case m.Limited:
		return fmt.Sprintf("%s besides drained ones (spec.automationOptions.maxConcurrentReplacements is %d)", text, most)
	case most == math.MaxInt:
		return text + " (spec.automationOptions.maxConcurrentReplacements limits them)"
	default:
		return text
	}
}
