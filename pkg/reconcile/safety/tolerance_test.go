package safety

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestReportingProcessesAreCountedOncePerGroup(t *testing.T) {
	process := func(id, host string) fdb.Process {
		p := fdb.Process{Version: "7.3.79", CommandLine: "fdbserver", Locality: map[string]string{fdb.LocalityZoneID: "z1"}}
		p.Address.Host = host
		if id != "" {
			p.Locality[fdb.LocalityInstanceID] = id
		}
		return p
	}
	notReporting := process("storage-1", "10.0.0.1")
	notReporting.Version = ""
	tests := map[string]struct {
		processes []fdb.Process
		want      int
	}{
		"its own by ID":                      {[]fdb.Process{process("storage-1", "10.0.0.9")}, 1},
		"its own by ID and address":          {[]fdb.Process{process("storage-1", "10.0.0.1")}, 1},
		"one without ID at its address":      {[]fdb.Process{process("", "10.0.0.1")}, 1},
		"one without ID at an old address":   {[]fdb.Process{process("", "10.0.0.2")}, 1},
		"one without ID elsewhere":           {[]fdb.Process{process("", "10.0.0.9")}, 0},
		"one of another group":               {[]fdb.Process{process("storage-2", "10.0.0.9")}, 0},
		"one of another group at an address": {[]fdb.Process{process("storage-2", "10.0.0.1")}, 0},
		"one that does not report":           {[]fdb.Process{notReporting}, 0},
		"two of one pod":                     {[]fdb.Process{process("storage-1", "10.0.0.1"), process("storage-1", "10.0.0.1")}, 2},
	}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1", Addresses: []string{"10.0.0.2", "10.0.0.1"}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := &fdb.Status{}
			status.Cluster.Processes = map[string]fdb.Process{}
			for i, p := range tc.processes {
				status.Cluster.Processes[string(rune('a'+i))] = p
			}
			if got := reportingCounter(status)(g); got != tc.want {
				t.Errorf("%d processes counted, want %d", got, tc.want)
			}
			if got := len(reportingOf(plan.Snapshot{Cluster: &v1beta2.FoundationDBCluster{}, Database: plan.DatabaseFacts{Status: status}}, g)); got != tc.want {
				t.Errorf("%d processes listed, want %d", got, tc.want)
			}
		})
	}
}

// An outage is as old as the first evidence of it, and a container that is started repeatedly does not
// make it younger.
func TestOutagesAreDatedByTheFirstEvidence(t *testing.T) {
	ended := func(ago time.Duration) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(evening.Add(-ago))}}
	}
	container := func(c corev1.ContainerStatus) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			c.Name = v1beta2.ContainerMain
			p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
		}
	}
	ran := func(length, ago time.Duration) corev1.ContainerState {
		state := ended(ago)
		state.Terminated.StartedAt = metav1.NewTime(state.Terminated.FinishedAt.Add(-length))
		return state
	}
	crashLoop := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	tests := map[string]struct {
		pod       func(*corev1.Pod) // nil without a pod
		node      *corev1.ConditionStatus
		firstSeen time.Duration // 0 for never
		want      time.Duration
		source    OutageSource
	}{
		"nothing dates it":                  {pod: func(*corev1.Pod) {}},
		"a pass saw it":                     {pod: func(*corev1.Pod) {}, firstSeen: time.Minute, want: time.Minute, source: OutageFirstSeen},
		"without a pod a pass saw it":       {firstSeen: time.Minute, want: time.Minute, source: OutageFirstSeen},
		"its node is lost, before the pass": {pod: func(*corev1.Pod) {}, node: new(corev1.ConditionUnknown), firstSeen: time.Second, want: 10 * time.Minute, source: OutageOfNode},
		"its node is lost, and no pass ran": {pod: func(*corev1.Pod) {}, node: new(corev1.ConditionFalse), want: 10 * time.Minute, source: OutageOfNode},
		"its node is ready":                 {pod: func(*corev1.Pod) {}, node: new(corev1.ConditionTrue), firstSeen: time.Second, want: time.Second, source: OutageFirstSeen},
		"its container ended": {
			pod: container(corev1.ContainerStatus{State: ended(5 * time.Minute)}), firstSeen: time.Minute, want: 5 * time.Minute, source: OutageOfContainer,
		},
		"its container crashes repeatedly": {
			pod: container(corev1.ContainerStatus{State: crashLoop, LastTerminationState: ended(3 * time.Second)}), firstSeen: 9 * time.Minute, want: 9 * time.Minute, source: OutageFirstSeen,
		},
		"its container crashed, and no pass ran": {
			pod: container(corev1.ContainerStatus{State: crashLoop, LastTerminationState: ended(3 * time.Second)}), want: 3 * time.Second, source: OutageOfContainer,
		},
		"its container crashes after two seconds, and no pass ran": {
			pod: container(corev1.ContainerStatus{State: crashLoop, RestartCount: 7, LastTerminationState: ran(2*time.Second, 3*time.Second)}),
		},
		"its container crashes after two seconds, and a pass saw it": {
			pod: container(corev1.ContainerStatus{State: ran(2*time.Second, time.Second), RestartCount: 7}), firstSeen: 40 * time.Second, want: 40 * time.Second, source: OutageFirstSeen,
		},
		"its container was restarted long ago, and ended": {
			pod: container(corev1.ContainerStatus{State: crashLoop, RestartCount: 7, LastTerminationState: ran(time.Hour, 3*time.Second)}), want: 3 * time.Second, source: OutageOfContainer,
		},
		"its container was just started again": {
			pod: container(corev1.ContainerStatus{
				State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-time.Second))}},
				LastTerminationState: ended(time.Hour),
			}), firstSeen: 9 * time.Minute, want: 9 * time.Minute, source: OutageFirstSeen,
		},
		"its pod is being deleted": {
			pod: func(p *corev1.Pod) {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(evening.Add(-time.Minute))), new(int64(30))
			}, want: 90 * time.Second, source: OutageOfPod,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			g := s.Groups()[0]
			s.Pods, s.Nodes = map[string]*corev1.Pod{}, map[string]*corev1.Node{}
			if tc.pod != nil {
				pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-1"}}
				tc.pod(pod)
				s.Pods[g.PodName(s.Cluster)] = pod
			}
			if tc.node != nil {
				s.Nodes["node-1"] = &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeReady, Status: *tc.node, LastTransitionTime: metav1.NewTime(evening.Add(-10 * time.Minute))},
				}}}
			}
			want := Outage{Source: tc.source}
			if tc.source != "" {
				want.Since = evening.Add(-tc.want)
			}
			if got := OutageOf(s, g, ago(tc.firstSeen)); !got.Since.Equal(want.Since) || got.Source != want.Source {
				t.Errorf("outage since %s by %q, want %s by %q", got.Since, got.Source, want.Since, want.Source)
			}
		})
	}
}

func ago(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return evening.Add(-d)
}

// What a user reads of a group that waits has both times: how long it has been missing, and when the
// time that counts began.
func TestMissingProcessEvidenceHasOutageAgeAndFirstSeenTime(t *testing.T) {
	s := draining(t)
	g := s.Groups()[0]
	s.Pods = map[string]*corev1.Pod{g.PodName(s.Cluster): {Spec: corev1.PodSpec{NodeName: "node-1"}}}
	s.Nodes = map[string]*corev1.Node{"node-1": {Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(evening.Add(-94 * time.Second))},
	}}}}
	if got, want := describeMissing(s, g, evening.Add(-time.Second)), string(g.ProcessGroupID)+" missing for 1m34s, first seen 1s ago"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Nodes = nil
	if got, want := describeMissing(s, g, evening.Add(-time.Second)), string(g.ProcessGroupID)+" missing for 1s"; got != want {
		t.Errorf("without a node: got %q, want %q", got, want)
	}
}
