package inspect

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// KeptView is how the spec keeps a process group from being replaced and removed.
type KeptView struct {
	// Field is the field of the spec that lists the group.
	Field string `json:"field"`
	// MarkedWithout are why the next pass would mark the group for removal without the field.
	MarkedWithout []string `json:"markedWithout"`
	// ExcludedSince is since when the group has been excluded; null when it is not, and when
	// that is unknown.
	ExcludedSince *time.Time `json:"excludedSince"`
	// StoredBytes is what the group holds; null for classes without data, and when unknown.
	StoredBytes *int64 `json:"storedBytes"`
	// ExpectedBytes is what the other process groups of the class that stay hold on average: an
	// included group has its data back at about that. Null when unknown.
	ExpectedBytes *int64 `json:"expectedBytes"`
}

// KeptView returns how the spec keeps a process group; nil if it does not.
func (f Facts) KeptView(g *v1beta2.ProcessGroupStatus) *KeptView {
	if !f.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
		return nil
	}
	v := &KeptView{
		Field: string(v1beta2.ExtensionCancelReplacements), MarkedWithout: OrEmpty(slices.Clone(f.MarkReasons[g.ProcessGroupID])),
		StoredBytes: f.Group(g).StoredBytes, ExpectedBytes: f.expectedBytes(g),
	}
	if f.IsExcludedInDatabase(g) {
		if since, has := f.Since(g, v1beta2.ConditionProcessIsMarkedAsExcluded); has {
			v.ExcludedSince = Known(since)
		}
	}
	return v
}

// expectedBytes is the average of the other groups of the class that stay and report.
func (f Facts) expectedBytes(g *v1beta2.ProcessGroupStatus) *int64 {
	if f.Database.Status == nil {
		return nil
	}
	var sum, n int64
	for _, other := range f.Remaining() {
		if other.ProcessClass != g.ProcessClass || other == g || f.IsExcludedInDatabase(other) {
			continue
		}
		if stored := f.Group(other).StoredBytes; stored != nil {
			sum, n = sum+*stored, n+1
		}
	}
	if n == 0 {
		return nil
	}
	return new(sum / n)
}

// keptDespiteSpec counts the kept groups that the next pass would mark without the list.
func (f Facts) keptDespiteSpec() (n int) {
	for _, g := range f.Groups() {
		if f.Cluster.KeepsFromReplacement(g.ProcessGroupID) && len(f.MarkReasons[g.ProcessGroupID]) > 0 {
			n++
		}
	}
	return n
}

// KeepPatch returns the merge patch that makes the spec keep these process groups and no others,
// by the form that the cluster uses: the field of the spec, or its annotation.
func KeepPatch(c *v1beta2.FoundationDBCluster, ids []v1beta2.ProcessGroupID) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var list any = OrEmpty(ids)
	patch := map[string]any{}
	if _, annotated := c.Annotations[v1beta2.AnnotationCancelReplacements]; annotated {
		words := make([]string, len(ids))
		for i, id := range ids {
			words[i] = string(id)
		}
		list = nil // the two forms must not differ
		patch["metadata"] = map[string]any{"annotations": map[string]any{v1beta2.AnnotationCancelReplacements: strings.Join(words, ",")}}
	}
	patch["spec"] = map[string]any{"cancelReplacementsForInstance": list}
	text, err := json.Marshal(patch)
	if err != nil {
		return "" // strings always marshal
	}
	return string(text)
}

// KeptWithout returns the process groups that the spec keeps, without some of them. The cluster
// must be normalized.
func KeptWithout(c *v1beta2.FoundationDBCluster, without []string) []v1beta2.ProcessGroupID {
	return slices.DeleteFunc(c.KeptProcessGroups(), func(id v1beta2.ProcessGroupID) bool { return slices.Contains(without, string(id)) })
}

// RemovalPatch returns the merge patch that takes process groups off the lists of those to remove.
func RemovalPatch(c *v1beta2.FoundationDBCluster, off []string) string {
	rest := func(ids []v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
		return OrEmpty(slices.DeleteFunc(slices.Clone(ids), func(id v1beta2.ProcessGroupID) bool { return slices.Contains(off, string(id)) }))
	}
	spec := map[string]any{}
	if len(c.Spec.ProcessGroupsToRemove) > 0 {
		spec["processGroupsToRemove"] = rest(c.Spec.ProcessGroupsToRemove)
	}
	if len(c.Spec.ProcessGroupsToRemoveWithoutExclusion) > 0 {
		spec["processGroupsToRemoveWithoutExclusion"] = rest(c.Spec.ProcessGroupsToRemoveWithoutExclusion)
	}
	text, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return "" // strings always marshal
	}
	return string(text)
}

// PatchWords returns the arguments of kubectl that merge a patch into a cluster's resource.
func PatchWords(cluster, patch string) []string {
	return []string{"patch", "foundationdbcluster", cluster, "--type", "merge", "-p", patch}
}
