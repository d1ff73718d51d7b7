package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestTheGroupsOfAnAction(t *testing.T) {
	type ids = []v1beta2.ProcessGroupID
	for name, tc := range map[string]struct {
		action Action
		want   ids
	}{
		"several":                {MarkForRemoval{Groups: ids{"log-1", "log-2"}}, ids{"log-1", "log-2"}},
		"those that are added":   {AddGroups{Groups: []NewGroup{{ID: "log-1"}, {ID: "log-2"}}}, ids{"log-1", "log-2"}},
		"those of deleted pods":  {DeletePods{Pods: []PodOfGroup{{Group: "log-1", Name: "c-log-1"}}}, ids{"log-1"}},
		"whose pod it is":        {CreatePod{Group: "log-1", Name: "c-log-1"}, ids{"log-1"}},
		"whose labels they are":  {PatchMetadata{Group: "log-1", Kind: KindPod, Name: "c-log-1"}, ids{"log-1"}},
		"whose spec is adopted":  {AdoptSpec{Group: "log-1", Kind: KindPod, Name: "c-log-1"}, ids{"log-1"}},
		"whose service it is":    {ApplyService{Group: "log-1", Name: "c-log-1"}, ids{"log-1"}},
		"none: the headless one": {ApplyService{Name: "c"}, nil},
		"none: the database":     {Configure{}, nil},
		"none: the status":       {WriteStatus{}, nil},
		"of all lists, once each": {
			ChangeLists{Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{"a": {"log-2", "log-1"}}, Addresses: map[v1beta2.ProcessGroupID][]string{"log-1": nil}},
			ids{"log-1", "log-2"},
		},
	} {
		if diff := cmp.Diff(tc.want, GroupsOf(tc.action)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Exclusions are read where one may concern a group, and where none may.
func TestExclusionsAreReadOnlyForRemovedOrKeptGroups(t *testing.T) {
	at := metav1.Now()
	tests := map[string]struct {
		group v1beta2.ProcessGroupStatus
		keep  v1beta2.ProcessGroupID
		want  bool
	}{
		"a group that stays":           {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1"}},
		"one that is removed":          {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1", RemovalTimestamp: &at}, want: true},
		"one that the spec keeps":      {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1"}, keep: "storage-1", want: true},
		"the spec keeps another group": {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1"}, keep: "storage-2"},
	}
	for name, tc := range tests {
		c := &v1beta2.FoundationDBCluster{Status: v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{&tc.group}}}
		if tc.keep != "" {
			c.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{tc.keep}
		}
		if got := ExclusionsMatter(c); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
