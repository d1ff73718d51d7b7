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

// The coordinator at 10.0.0.2 is storage-2; its pod was created an hour ago, and it does not
// report.
func TestAMissingCoordinatorIsExpectedBackForTwoMinutes(t *testing.T) {
	const g = "storage-2"
	pod := func(change func(*corev1.Pod)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { change(s.Pods["sample-"+g]) }
	}
	created := func(ago time.Duration) func(*plan.Snapshot) {
		return pod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(evening.Add(-ago)) })
	}
	ends := func(ago time.Duration) func(*plan.Snapshot) {
		return pod(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(evening.Add(-ago))) })
	}
	lost := func(s *plan.Snapshot) { delete(s.Pods, "sample-"+g) }
	noted := func(t v1beta2.ProcessGroupConditionType, ago time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.ProcessGroup(g).SetCondition(t, evening.Add(-ago)) }
	}
	missing := func(ago time.Duration) func(*plan.Snapshot) {
		return noted(v1beta2.ConditionMissingProcesses, ago)
	}
	reports := func(s *plan.Snapshot) {
		s.Database.Status.Cluster.Processes[g] = s.Database.Status.Cluster.Processes["storage-1"]
		edit(g, func(p *fdb.Process) {
			p.Locality = map[string]string{fdb.LocalityInstanceID: g}
			p.Address.Host = "10.0.0.99"
		})(s)
	}
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		atRisk bool
		want   string
	}{
		"not noted yet":                  {unchanged, false, "storage-2 does not report, since when is unknown"},
		"missing for long":               {missing(2 * time.Minute), false, ""},
		"missing for a moment":           {missing(2*time.Minute - time.Second), false, "storage-2 missing for 1m59s, 2m0s required"},
		"missing, with a quorum at risk": {missing(time.Second), true, ""},
		"unnoted, with a quorum at risk": {unchanged, true, ""},
		"a new pod":                      {created(2*time.Minute - time.Second), false, "the pod of storage-2 was created 1m59s ago"},
		"a new pod, quorum at risk":      {created(time.Second), true, "the pod of storage-2 was created 1s ago"},
		"a pod that is no longer new":    {both(missing(time.Hour), created(2*time.Minute)), false, ""},
		"a pod that ends":                {both(missing(time.Hour), ends(time.Second)), false, "the pod of storage-2 was due to terminate 1s ago, and is recreated"},
		"a pod that should have ended":   {both(missing(time.Hour), ends(2*time.Minute)), false, ""},
		"a pod lost, not noted yet":      {both(missing(time.Hour), lost), false, "storage-2 has just lost its pod, which is recreated"},
		"a pod lost a moment ago":        {both(lost, noted(v1beta2.ConditionMissingPod, time.Second)), false, "storage-2 lost its pod 1s ago, and it is recreated"},
		"a pod lost long ago":            {both(lost, noted(v1beta2.ConditionMissingPod, 2*time.Minute)), false, ""},
		"it is back elsewhere":           {reports, false, ""},
		"it was started a moment ago":    {both(reports, pod(func(p *corev1.Pod) { p.Status.ContainerStatuses = startedAgo(time.Second) })), false, "storage-2 does not report, since when is unknown"},
		"it was started two minutes ago": {both(reports, pod(func(p *corev1.Pod) { p.Status.ContainerStatuses = startedAgo(2 * time.Minute) })), false, ""},
		"its pod has another address":    {pod(func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.98" }), false, ""},
		"its pod has this address":       {pod(func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.2" }), false, "storage-2 does not report, since when is unknown"},
		"another group has the address":  {edit("storage-1", func(p *fdb.Process) { p.Address.Host = "10.0.0.2" }), false, ""},
		"it is drained and to be removed": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(g).MarkForRemoval(evening)
			s.Cluster.ProcessGroup(g).SetExcluded(evening)
		}, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			created(time.Hour)(&s)
			delete(s.Database.Status.Cluster.Processes, g)
			tc.given(&s)
			expected := mayComeBack
			if tc.atRisk {
				expected = comesBackAtOnce
			}
			if got := expected(s, fdb.Address{Host: "10.0.0.2", Port: 4501}); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func startedAgo(ago time.Duration) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{
		Name: v1beta2.ContainerMain, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-ago))}},
	}}
}

func TestAQuorumIsAtRiskWhenOneMoreLossTakesIt(t *testing.T) {
	for _, tc := range []struct {
		all, reachable int
		want           bool
	}{{3, 3, false}, {3, 2, true}, {5, 5, false}, {5, 4, false}, {5, 3, true}, {1, 1, true}} {
		status := &fdb.Status{}
		for i := range tc.all {
			status.Client.Coordinators.Coordinators = append(status.Client.Coordinators.Coordinators, fdb.CoordinatorStatus{Reachable: i < tc.reachable})
		}
		if got := quorumAtRisk(status); got != tc.want {
			t.Errorf("%d of %d: %t, want %t", tc.reachable, tc.all, got, tc.want)
		}
	}
}
