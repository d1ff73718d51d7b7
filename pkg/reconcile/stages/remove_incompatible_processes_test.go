package stages

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// knocking are peers of another protocol.
func knocking(addresses ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.IncompatibleConnections = addresses }
}

// missingFor stops the reports of the first group's process for a time.
func missingFor(d time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		g := s.Cluster.ProcessGroup(oneGroup)
		dropProcess(s, g)
		g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-d))
	}
}

// madeAgo sets the age of the first group's pod.
func madeAgo(d time.Duration) func(*plan.Snapshot) {
	return onePod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(-d)) })
}

// shutOutFor stops the reports of the first group's process because of its protocol.
func shutOutFor(d time.Duration) func(*plan.Snapshot) {
	return combined(knocking("10.1.0.1:4501"), missingFor(d))
}

func TestRemoveIncompatibleProcesses(t *testing.T) {
	shutOut := shutOutFor(30 * time.Second)
	decides(t, removeIncompatibleProcesses, map[string]decision{
		"does nothing without incompatible connections":        {given: missingFor(time.Hour)},
		"deletes a pod whose server is shut out":               {given: shutOut, does: []string{deleteOne}},
		"leaves a server alone that reports":                   {given: knocking("10.1.0.1:4501", "10.1.0.2:33656")},
		"leaves strangers alone":                               {given: combined(knocking("192.0.2.7:4501"), missingFor(time.Hour))},
		"waits until the process has not reported for a while": {given: shutOutFor(29 * time.Second), holds: "not missing for 30s yet"},
		"does nothing during an incompatible upgrade":          {given: combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" })},
		"deletes one during an upgrade whose versions understand each other": {
			given: combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.3.80" }), does: []string{deleteOne},
		},
		"does nothing before there is a database": {given: combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Status.Configured = false })},
		"leaves a pod alone from whose address another group reports": {
			given: combined(shutOut, func(s *plan.Snapshot) {
				editProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Address.Host = "10.1.0.1" })
			}),
		},
		"deletes no pod that was made while its address may still be listed for another": {
			given: combined(shutOut, madeAgo(10*time.Minute-time.Second)), holds: "the pod of log-101 is 9m59s old",
		},
		"deletes a pod that has had its address for as long as the list goes back": {
			given: combined(shutOut, madeAgo(10*time.Minute)), does: []string{deleteOne},
		},
		"deletes no pod for an address that its group had before": {
			given: combined(shutOut, onePod(func(p *corev1.Pod) { p.Status.PodIP, p.Status.PodIPs = "10.1.9.9", []corev1.PodIP{{IP: "10.1.9.9"}} })),
		},
		"deletes no pod that does not run": {given: combined(shutOut, onePod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))},
		"deletes no pod that was missed until a while ago": {given: combined(shutOut, func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(oneGroup).SetCondition(v1beta2.ConditionMissingPod, noon)
		})},
		"is not kept from a pod by who has an address that its group had before": {
			given: combined(shutOut, func(s *plan.Snapshot) {
				g := s.Cluster.ProcessGroup(oneGroup)
				g.Addresses = append(g.Addresses, podIP(2))
			}), does: []string{deleteOne},
		},
		"waits while the database is unavailable": {
			given: combined(shutOut, func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }), holds: "cannot determine which processes try to join",
		},
		"waits while the status document is incomplete": {
			given: combined(shutOut, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}), holds: "the status document is incomplete",
		},
		"waits while a listed process has not reported what it is": {
			given: combined(shutOut, func(s *plan.Snapshot) {
				editProcess(s, s.Groups()[1], func(p *fdb.Process) { p.CommandLine = "" })
			}), holds: "have not reported it yet",
		},
	})
}
