package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
