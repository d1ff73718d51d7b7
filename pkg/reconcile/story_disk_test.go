package reconcile_test

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// A storage pod loses its disk and its fdbserver process is back within a second, with
// nothing. For more than a minute the database goes on reporting full replication, while one
// copy of the data is left. The rollout that begins then deletes the pods of other fault
// domains only after the database knows better.
func TestARolloutWaitsForAStorageProcessThatJustStarted(t *testing.T) {
	w := oldAndQuiet(t, 13, nil)
	database := w.FDB.Databases()[0]
	database.LoadBytes(200 << 20)
	emptied := w.Resource.Status.ProcessGroups[len(w.Resource.Status.ProcessGroups)-1].PodName(w.Resource)
	w.LoseDisk(emptied)
	w.Tick(8 * time.Second)
	if database.EveryKeyOnAtLeast(2) {
		t.Fatalf("%s had nothing to lose", emptied)
	}
	early := deletionsBesideYoung(w)
	changeStorageTemplate(w)
	var story bytes.Buffer
	settle(t, w, 60, &story)
	for _, pod := range *early {
		t.Errorf("%s was deleted while a process of another fault domain had just started", pod)
	}
	golden.RequireEqual(t, story.Bytes())
}

// deletionsBesideYoung collects the pods that are deleted within 90 s after a process of
// another fault domain started.
func deletionsBesideYoung(w *sim.Cluster) *[]string {
	var early []string
	w.Refuse = func(a plan.Action) error {
		deletion, ok := a.(plan.DeletePods)
		if !ok {
			return nil
		}
		for _, pod := range deletion.Pods {
			for _, zone := range w.FDB.Databases()[0].JustStarted(fdb.DeathNoticedAfter) {
				if zone != w.Pods[pod.Name].Spec.NodeName && !slices.Contains(early, pod.Name) {
					early = append(early, pod.Name)
				}
			}
		}
		return nil
	}
	return &early
}

// changeStorageTemplate changes what every storage pod is made from.
func changeStorageTemplate(w *sim.Cluster) {
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}}},
			}}},
		}
	})
}

// An fdbserver process that crashes in a loop is always young. It keeps its own pod from
// nothing: its process group is replaced, drained and removed, and after that the rollout of
// all others goes on.
func TestAStorageProcessThatCrashesInALoopIsReplaced(t *testing.T) {
	w := oldAndQuiet(t, 14, nil)
	crashing := groupOf(w, v1beta2.ProcessClassStorage)
	pod := crashing.PodName(w.Resource)
	changeStorageTemplate(w)
	w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{crashing.ProcessGroupID}
	early := deletionsBesideYoung(w)
	begun := w.Now()
	for w.Pods[pod] != nil {
		if w.Now().Sub(begun) > 30*time.Minute {
			t.Fatalf("%s is still there", pod)
		}
		w.KillServers(pod)
		w.Tick(20 * time.Second)
		pass(t, w, func(reconcile.Event) {})
	}
	w.Tick(10 * time.Minute)
	settle(t, w, 40, io.Discard)
	if w.Resource.ProcessGroup(crashing.ProcessGroupID) != nil || len(*early) > 0 {
		t.Errorf("%s is recorded; deleted beside a process that had just started: %v", crashing.ProcessGroupID, *early)
	}
}
