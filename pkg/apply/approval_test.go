package apply

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTheZeroApprovalPermitsNothing(t *testing.T) {
	for _, a := range []plan.Action{plan.Configure{}, plan.DeleteGroupObjects{}, plan.WriteStatus{}, plan.WriteBackupStatus{}, plan.WriteRestoreStatus{}} {
		if new(Approval).Permits("", a) {
			t.Errorf("permitted %s", plan.KindOf(a))
		}
	}
}

// The node of a pod is unknown at planning time, and recorded on it by the same pass.
func TestAPlanFileApprovalCoversMetadataOfCreatedObjects(t *testing.T) {
	var a Approval
	a.addFile(&planned.ApprovedPlan{Items: []planned.ApprovedItem{
		{Kind: "CreatePod", Details: []byte(`{"group": "storage-1", "name": "sample-storage-1"}`)},
		{Kind: "CreatePVC", Details: []byte(`{"group": "storage-1", "name": "sample-storage-1-data"}`)},
	}})
	for want, actions := range map[bool][]plan.Action{
		true: {
			plan.PatchMetadata{Kind: plan.KindPod, Name: "sample-storage-1"},
			plan.PatchMetadata{Kind: plan.KindPVC, Name: "sample-storage-1-data"},
			plan.SyncPodFiles{Group: "storage-1", Pod: "sample-storage-1"},
		},
		false: {
			plan.PatchMetadata{Kind: plan.KindPod, Name: "sample-storage-2"},
			plan.PatchMetadata{Kind: plan.KindPVC, Name: "sample-storage-1"},
			plan.SyncPodFiles{Group: "storage-1", Pod: "sample-storage-2"},
			plan.DeletePods{},
		},
	} {
		for _, action := range actions {
			if got := a.Permits("", action); got != want {
				t.Errorf("permitted %t, want %t: %s", got, want, action.Describe())
			}
		}
	}
}
