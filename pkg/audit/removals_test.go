package audit

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Only names of process groups and pods are known to be removed: an address may be another one's.
func TestRemovedGroupsAndPodsAreKnownFromEvents(t *testing.T) {
	removed := func(a plan.Action, err error) Entry {
		return NewEntry(Run{RunID: "1"}, plan.StageRemovePods, a, err, time.Time{}, time.Time{})
	}
	events := &Events{Client: fake.NewClientBuilder().Build(), About: corev1.ObjectReference{Kind: "FoundationDBCluster", Namespace: "fdb", Name: "sample"}}
	if err := events.Write(t.Context(), []Entry{
		removed(plan.IncludeAndForget{Targets: []string{"10.1.0.99", "10.1.0.98:4501"}, Groups: []v1beta2.ProcessGroupID{"storage-7"}}, nil),
		removed(plan.DeleteGroupObjects{Group: "storage-8", Pod: "sample-storage-8"}, nil),
		removed(plan.DeleteGroupObjects{Group: "storage-9"}, nil),
		removed(plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{"log-3"}}, errors.New("timed out")),
		removed(plan.CreatePod{Group: "log-4"}, nil),
	}); err != nil {
		t.Fatal(err)
	}
	var list corev1.EventList
	if err := events.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	known := Removals{}
	known.AddEvents(list.Items)
	want := Removals{"storage-7": true, "storage-8": true, "sample-storage-8": true, "storage-9": true}
	if diff := cmp.Diff(want, known); diff != "" {
		t.Errorf("known to be removed (-want +got):\n%s", diff)
	}
}
