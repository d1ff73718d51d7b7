package stagestest

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// OutdatedStorage returns a healthy cluster whose three storage pods, and one log pod, were created
// from another spec; storage-114 and storage-115 share a fault domain.
func OutdatedStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage || g.ProcessGroupID == "log-101" {
			s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
		}
	}
	ShareZone(&s, "storage-115", NodeName(14))
	return s
}

// ShareZone moves a group's pod to another fault domain.
func ShareZone(s *plan.Snapshot, id v1beta2.ProcessGroupID, zone string) {
	g := s.Cluster.ProcessGroup(id)
	g.FaultDomain = v1beta2.FaultDomain(zone)
	s.PodFiles[g.PodName(s.Cluster)].Variables[v1beta2.EnvZoneID] = zone
}

// WithMaintenance lets the spec use maintenance mode.
func WithMaintenance(s *plan.Snapshot) {
	yes := true
	s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = &yes
}
