package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// knocking are peers of another protocol.
func knocking(addresses ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.IncompatibleConnections = addresses }
}

// missingFor stops the reports of the first group's process for a time.
func missingFor(d time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		g := s.Cluster.ProcessGroup(stagestest.OneGroup)
		stagestest.DropProcess(s, g)
		g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-d))
	}
}

// madeAgo sets the age of the first group's pod.
func madeAgo(d time.Duration) func(*plan.Snapshot) {
	return stagestest.OnePod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-d)) })
}

// shutOutFor stops the reports of the first group's process because of its protocol.
func shutOutFor(d time.Duration) func(*plan.Snapshot) {
	return stagestest.Combined(knocking("10.1.0.1:4501"), missingFor(d))
}

func TestRemoveIncompatibleProcesses(t *testing.T) {
	shutOut := shutOutFor(30 * time.Second)
	stagestest.Decides(t, RemoveIncompatibleProcesses, map[string]stagestest.Decision{
		"does nothing without incompatible connections":        {Given: missingFor(time.Hour)},
		"deletes a pod whose server is shut out":               {Given: shutOut, Does: []string{stagestest.DeleteOne}},
		"keeps a pod whose PVC is being deleted":               {Given: stagestest.Combined(shutOut, going(stagestest.OneGroup)), Holds: "the data on the volume would be lost with it: log-101", Manual: true},
		"leaves a server alone that reports":                   {Given: knocking("10.1.0.1:4501", "10.1.0.2:33656")},
		"leaves strangers alone":                               {Given: stagestest.Combined(knocking("192.0.2.7:4501"), missingFor(time.Hour))},
		"waits until the process has not reported for a while": {Given: shutOutFor(29 * time.Second), Holds: "not missing for 30s yet"},
		"does nothing during an incompatible upgrade":          {Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" })},
		"deletes one during an upgrade whose versions understand each other": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.3.80" }), Does: []string{stagestest.DeleteOne},
		},
		"does nothing before there is a database": {Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Status.Configured = false })},
		"leaves a pod alone from whose address another group reports": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Address.Host = "10.1.0.1" })
			}),
		},
		"deletes no pod that was made while its address may still be listed for another": {
			Given: stagestest.Combined(shutOut, madeAgo(10*time.Minute-time.Second)), Holds: "the pod of log-101 is 9m59s old",
		},
		"deletes a pod that has had its address for as long as the list goes back": {
			Given: stagestest.Combined(shutOut, madeAgo(10*time.Minute)), Does: []string{stagestest.DeleteOne},
		},
		"deletes no pod for an address that its group had before": {
			Given: stagestest.Combined(shutOut, stagestest.OnePod(func(p *corev1.Pod) { p.Status.PodIP, p.Status.PodIPs = "10.1.9.9", []corev1.PodIP{{IP: "10.1.9.9"}} })),
		},
		"deletes no pod that does not run": {Given: stagestest.Combined(shutOut, stagestest.OnePod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))},
		"deletes no pod that was missed until a while ago": {Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(stagestest.OneGroup).SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon)
		})},
		"is not kept from a pod by who has an address that its group had before": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				g := s.Cluster.ProcessGroup(stagestest.OneGroup)
				g.Addresses = append(g.Addresses, stagestest.PodIP(2))
			}), Does: []string{stagestest.DeleteOne},
		},
		"waits while the database is unavailable": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }), Holds: "cannot determine which processes try to join",
		},
		"waits while the status document is incomplete": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}), Holds: "the status document is incomplete",
		},
		"waits while a listed process has not reported what it is": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[1], func(p *fdb.Process) { p.CommandLine = "" })
			}), Holds: "have not reported it yet",
		},
	})
}
