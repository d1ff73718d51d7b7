package audit

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Only names of process groups and pods are known to be removed: an address may be another one's.
func TestRemovedGroupsAndPodsAreKnownFromEvents(t *testing.T) {
	removed := func(a plan.Action, err error) Entry {
		return NewEntry(Run{RunID: "1"}, plan.StageRemovePods, a, err, time.Time{}, time.Time{})
	}
	events := &Events{Client: fake.NewClientBuilder().Build(), About: corev1.ObjectReference{Kind: "FoundationDBCluster", Namespace: "fdb", Name: "sample", UID: "1"}}
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
	for _, another := range []types.UID{"", "2"} { // what was deleted, or another object of the same name
		if known.AddEvents(list.Items, another); len(known) > 0 {
			t.Errorf("UID %q: known to be removed: %v", another, known)
		}
	}
	written := list.Items[0].DeepCopy() // by another program
	written.ReportingController, written.Annotations[AnnotationRemoves] = "another", "storage-99"
	known.AddEvents(append(list.Items, *written), "1")
	want := Removals{"storage-7": true, "storage-8": true, "sample-storage-8": true, "storage-9": true}
	if diff := cmp.Diff(want, known); diff != "" {
		t.Errorf("known to be removed (-want +got):\n%s", diff)
	}
}

// A context is the name of an API server on one machine, and the name of a cluster is used again.
func TestRecordsOfAnotherClusterOfTheSameNameProveNothing(t *testing.T) {
	tests := map[string]struct {
		recorded, of Run
		want         Match
		proof        bool
	}{
		"the same cluster": {recorded: Run{UID: "1", Context: "a", Cluster: "sample"}, of: Run{UID: "1", Context: "a", Cluster: "sample"}, want: MatchUID, proof: true},
		"the same cluster after its context was renamed":    {recorded: Run{UID: "1", Context: "a", Cluster: "sample"}, of: Run{UID: "1", Context: "b", Cluster: "sample"}, want: MatchUID, proof: true},
		"a cluster that was recreated":                      {recorded: Run{UID: "1", Context: "a", Cluster: "sample"}, of: Run{UID: "2", Context: "a", Cluster: "sample"}, want: MatchNone},
		"a record of an earlier release":                    {recorded: Run{Context: "a", Cluster: "sample"}, of: Run{UID: "1", Context: "a", Cluster: "sample"}, want: MatchName},
		"a record of an earlier release in another context": {recorded: Run{Context: "b", Cluster: "sample"}, of: Run{UID: "1", Context: "a", Cluster: "sample"}, want: MatchNone},
		"a record of an earlier release of another cluster": {recorded: Run{Context: "a", Cluster: "other"}, of: Run{UID: "1", Context: "a", Cluster: "sample"}, want: MatchNone},
		"a cluster that does not exist any more":            {recorded: Run{UID: "1", Context: "a", Cluster: "sample"}, of: Run{Context: "a", Cluster: "sample"}, want: MatchName},
		"a cluster of the same name in another namespace":   {recorded: Run{Context: "a", Namespace: "x", Cluster: "sample"}, of: Run{UID: "1", Context: "a", Cluster: "sample"}, want: MatchNone},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.recorded.Match(tc.of); got != tc.want {
				t.Errorf("match %d, want %d", got, tc.want)
			}
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := Append(path, NewEntry(tc.recorded, plan.StageRemovePods, plan.DeleteGroupObjects{Group: "storage-9"}, nil, time.Time{}, time.Time{})); err != nil {
				t.Fatal(err)
			}
			known := Removals{}
			if err := known.AddFile(path, tc.of); err != nil || known["storage-9"] != tc.proof {
				t.Errorf("known to be removed: %v (%v), want %t", known, err, tc.proof)
			}
			entries, _, err := ReadFile(path, tc.of)
			if err != nil || (len(entries) == 1) != (tc.want != MatchNone) {
				t.Errorf("%d entries (%v)", len(entries), err)
			}
		})
	}
}
