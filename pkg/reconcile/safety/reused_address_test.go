package safety

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestOnlyARunningPodTakesOverAnAddress asks whose the process without an ID is that reports from
// an address which storage-1 had, and which a pod of another group may have now.
func TestOnlyARunningPodTakesOverAnAddress(t *testing.T) {
	for name, tc := range map[string]struct {
		given func(*corev1.Pod)
		want  int
	}{
		"a live pod has it":                  {func(*corev1.Pod) {}, 0},
		"a live pod has another":             {func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.77" }, 1},
		"a pod that terminates has it":       {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(evening)) }, 1},
		"a pod that has ended has it":        {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, 1},
		"a pod in the network of its node":   {func(p *corev1.Pod) { p.Spec.HostNetwork = true }, 1},
		"a pod whose addresses are unknown":  {unreadableAddresses, 1},
		"a pod that has not started has one": {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			process(&s, func(p *fdb.Process) { p.Locality = nil })
			pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}}
			tc.given(pod)
			s.Pods = map[string]*corev1.Pod{s.Groups()[2].PodName(s.Cluster): pod}
			if got := processesOf(s, s.Groups()[0]); len(got) != tc.want {
				t.Errorf("%d processes, want %d", len(got), tc.want)
			}
		})
	}
}

// unreadableAddresses is a pod with addresses and an unknown IP family.
func unreadableAddresses(pod *corev1.Pod) {
	pod.Spec.Containers = []corev1.Container{{Name: v1beta2.ContainerMain}}
	pod.Annotations = map[string]string{v1beta2.AnnotationIPFamily: "?"}
}

// TestPodsWithUnreadableAddressesDoNotProveTheOwnDatabase counts the groups that report from their pods.
func TestPodsWithUnreadableAddressesDoNotProveTheOwnDatabase(t *testing.T) {
	s := draining(t)
	s.Pods = map[string]*corev1.Pod{}
	for i, g := range s.Groups() {
		s.Pods[g.PodName(s.Cluster)] = &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.0.0." + string(rune('1'+i))}}
	}
	if c := OwnDatabase(s); !c.OK {
		t.Fatalf("%+v", c)
	}
	for _, pod := range s.Pods {
		unreadableAddresses(pod)
		if _, err := objects.PublicIPs(pod); err == nil {
			t.Fatal("the addresses are readable")
		}
	}
	if c := OwnDatabase(s); c.OK || c.Have != "0 process groups" {
		t.Errorf("%+v", c)
	}
}

// TestAStillRunningProcessIsLocatedOnlyIfItsMachineIsKnown compares the words of three facts, and asserts
// that only the machine that is known is named.
func TestAStillRunningProcessIsLocatedOnlyIfItsMachineIsKnown(t *testing.T) {
	words := func(locality map[string]string) string {
		s := draining(t)
		s.Now = evening.Add(time.Hour)
		process(&s, func(p *fdb.Process) { p.Locality = locality })
		return StillRuns(s, s.Groups()[0])
	}
	unknown := words(nil)
	nowhere := words(map[string]string{fdb.LocalityInstanceID: "storage-1"})
	somewhere := words(map[string]string{fdb.LocalityInstanceID: "storage-1", fdb.LocalityMachineID: "m1"})
	inZone := words(map[string]string{fdb.LocalityInstanceID: "storage-1", fdb.LocalityZoneID: "m1"})
	if unknown == "" || nowhere == "" || unknown == nowhere || somewhere == nowhere || somewhere != inZone || somewhere == "" {
		t.Errorf("unknown process: %q\nunknown machine: %q\nknown machine: %q\nknown zone: %q", unknown, nowhere, somewhere, inZone)
	}
	for _, output := range []string{unknown, nowhere} {
		if strings.Contains(output, "m1") {
			t.Errorf("a machine is named: %q", output)
		}
	}
	if !strings.Contains(somewhere, "m1") {
		t.Errorf("the machine is not named: %q", somewhere)
	}
	if anonymous := words(map[string]string{fdb.LocalityMachineID: "m1"}); anonymous != unknown {
		t.Errorf("a process of an unknown group on a known machine: %q", anonymous)
	}
	if got := StillRuns(plan.Snapshot{}, &v1beta2.ProcessGroupStatus{}); got != "" {
		t.Errorf("%q without a status document", got)
	}
}
