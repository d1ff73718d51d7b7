package inspect

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// A patch replaces the whole list, and the two forms of the field must not differ afterwards.
func TestKeepPatchReplacesTheListOfKeptGroups(t *testing.T) {
	annotated := map[string]string{v1beta2.AnnotationCancelReplacements: "storage-1"}
	tests := map[string]struct {
		annotations map[string]string
		ids         []v1beta2.ProcessGroupID
		want        string
	}{
		"of the field":                   {nil, []v1beta2.ProcessGroupID{"storage-2", "storage-1", "storage-2"}, `{"spec":{"cancelReplacementsForInstance":["storage-1","storage-2"]}}`},
		"of the field, emptied":          {nil, nil, `{"spec":{"cancelReplacementsForInstance":[]}}`},
		"of the annotation, where it is": {annotated, []v1beta2.ProcessGroupID{"storage-2", "storage-1"}, `{"metadata":{"annotations":{"kubectl-fdb/cancel-replacements":"storage-1,storage-2"}},"spec":{"cancelReplacementsForInstance":null}}`},
		"of the annotation, emptied":     {annotated, nil, `{"metadata":{"annotations":{"kubectl-fdb/cancel-replacements":""}},"spec":{"cancelReplacementsForInstance":null}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Annotations = tc.annotations
			if diff := cmp.Diff(tc.want, KeepPatch(c, tc.ids)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
	c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{CancelReplacementsForInstance: []v1beta2.ProcessGroupID{"storage-2", "storage-1"}}}
	if got := KeptWithout(c, []string{"storage-2"}); !slices.Equal(got, []v1beta2.ProcessGroupID{"storage-1"}) {
		t.Errorf("without storage-2: %v", got)
	}
}

func TestRemovalPatchTakesGroupsOffTheRemovalLists(t *testing.T) {
	type ids = []v1beta2.ProcessGroupID
	tests := map[string]struct {
		spec v1beta2.FoundationDBClusterSpec
		want string
	}{
		"drained":           {v1beta2.FoundationDBClusterSpec{ProcessGroupsToRemove: ids{"storage-1", "storage-2"}}, `{"spec":{"processGroupsToRemove":["storage-2"]}}`},
		"without exclusion": {v1beta2.FoundationDBClusterSpec{ProcessGroupsToRemoveWithoutExclusion: ids{"storage-1"}}, `{"spec":{"processGroupsToRemoveWithoutExclusion":[]}}`},
	}
	for name, tc := range tests {
		if got := RemovalPatch(&v1beta2.FoundationDBCluster{Spec: tc.spec}, []string{"storage-1"}); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestKeptGroupViewShowsStoredDataAndExclusion(t *testing.T) {
	f := healthy(t)
	g := f.Cluster.ProcessGroup("storage-1")
	if v := f.KeptView(g); v != nil {
		t.Errorf("without a list: %+v", v)
	}
	f.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1"}
	f.MarkReasons = map[v1beta2.ProcessGroupID][]string{"storage-1": {"the spec of the PVC differs"}}
	v := f.KeptView(g)
	switch {
	case v == nil || v.Field != "spec.cancelReplacementsForInstance" || v.ExcludedSince != nil || v.StoredBytes == nil || v.ExpectedBytes == nil:
		t.Errorf("got %+v", v)
	case !slices.Equal(v.MarkedWithout, []string{"the spec of the PVC differs"}):
		t.Errorf("marked without the list: %v", v.MarkedWithout)
	}
	others := int64(0)
	for _, id := range []v1beta2.ProcessGroupID{"storage-2", "storage-3", "storage-4", "storage-5"} {
		others += *f.Group(f.Cluster.ProcessGroup(id)).StoredBytes
	}
	if *v.ExpectedBytes != others/4 {
		t.Errorf("expected %d, want the average %d of the others", *v.ExpectedBytes, others/4)
	}

	inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
	g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Minute))
	f.Recorded = f.Cluster
	if v := f.KeptView(g); v.ExcludedSince == nil || !v.ExcludedSince.Equal(noon.Add(-time.Minute)) {
		t.Errorf("excluded since %v", v.ExcludedSince)
	}
	f.Database.Status = nil
	if v := f.KeptView(g); v.StoredBytes != nil || v.ExpectedBytes != nil || v.ExcludedSince != nil {
		t.Errorf("without an answer of the database: %+v", v)
	}
}

func TestStatusCountsKeptProcessGroups(t *testing.T) {
	f := healthy(t)
	f.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1", "storage-2", "storage-9"}
	f.MarkReasons = map[v1beta2.ProcessGroupID][]string{"storage-2": {"it failed"}, "storage-3": {"not kept"}}
	if v := NewStatusView(meta, f).ProcessGroups; v.Kept != 2 || v.KeptDespiteSpec != 1 {
		t.Errorf("%d kept, %d despite the spec", v.Kept, v.KeptDespiteSpec)
	}
}
