package stagestest

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Had sets conditions of the first storage group that began before.
func Had(conditions ...v1beta2.ProcessGroupConditionType) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, c := range conditions {
			FirstOf(*s, "storage").SetCondition(c, Noon.Add(-time.Hour))
		}
	}
}

// PodWith edits the pod of the first storage group.
func PodWith(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(FirstPod(s)) }
}

// MaintenanceUnread is a database that could not read in time which zone is under maintenance.
func MaintenanceUnread(s *plan.Snapshot) {
	c := &s.Database.Status.Cluster
	c.FullReplication, c.MaintenanceZone, c.MaintenanceSecondsRemaining = nil, "", nil
	c.Messages = append(c.Messages, fdb.Message{Name: fdb.MessageFullReplicationTimeout})
}

// UnderMaintenance puts a zone in maintenance mode.
func UnderMaintenance(zone string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = zone }
}
