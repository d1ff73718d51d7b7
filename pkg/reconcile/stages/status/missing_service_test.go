package status

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestMissingService(t *testing.T) {
	fromServices := func(s *plan.Snapshot) { s.Cluster.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService) }
	withService := func(s *plan.Snapshot) {
		service := objects.GroupService(s.Cluster, stagestest.FirstOf(*s, "storage"))
		s.Services[service.Name] = service
	}
	had := stagestest.Had(v1beta2.ConditionMissingService)
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"holds without a service":                       {fromServices, true},
		"holds without a pod, too":                      {stagestest.All(fromServices, stagestest.LosePod), true},
		"holds while the pod terminates slowly":         {stagestest.All(fromServices, endsSince(time.Hour)), true},
		"clears with a service":                         {stagestest.All(fromServices, withService, had), false},
		"clears with a service and without a pod":       {stagestest.All(fromServices, withService, had, stagestest.LosePod), false},
		"clears where pods have addresses of their own": {had, false},
		"does not come to a group whose data has moved": {stagestest.All(fromServices, stagestest.ExcludeFirst, excluded, stagestest.LosePod), false},
		"stays as it was in a zone under maintenance":   {stagestest.All(fromServices, stagestest.UnderMaintenance("node-14")), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			if got := judged(t, s).HasCondition(v1beta2.ConditionMissingService); got != tc.want {
				t.Errorf("MissingService: %t, want %t", got, tc.want)
			}
		})
	}
}
