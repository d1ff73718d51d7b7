package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestRemoveServices(t *testing.T) {
	// A headless service that was needed until a moment ago.
	superfluous := func(s *plan.Snapshot) {
		s.Cluster.Spec.Routing.HeadlessService = new(true)
		headless := objects.HeadlessService(s.Cluster)
		s.Services[headless.Name] = headless
		s.Cluster.Spec.Routing.HeadlessService = nil
	}
	service := func(edit func(*corev1.Service)) func(*plan.Snapshot) {
		return stagestest.Combined(superfluous, func(s *plan.Snapshot) { edit(s.Services["sample"]) })
	}
	stagestest.Decides(t, RemoveServices, map[string]stagestest.Decision{
		"does nothing without a service":           {Given: func(*plan.Snapshot) {}},
		"deletes the one that nothing needs":       {Given: superfluous, Does: []string{"delete service sample"}},
		"keeps the one that the spec requires":     {Given: stagestest.Combined(superfluous, func(s *plan.Snapshot) { s.Cluster.Spec.Routing.HeadlessService = new(true) })},
		"keeps one without an owner":               {Given: service(func(o *corev1.Service) { o.OwnerReferences = nil })},
		"keeps one of a cluster that had its name": {Given: service(func(o *corev1.Service) { o.OwnerReferences[0].UID = "before" })},
		"keeps one without the cluster's labels":   {Given: service(func(o *corev1.Service) { o.Labels = nil })},
		"deletes none twice":                       {Given: service(func(o *corev1.Service) { o.DeletionTimestamp = new(stagestest.NoonTime()) })},
		"keeps it while a coordinator is known by a name": {
			Given: stagestest.Combined(superfluous, func(s *plan.Snapshot) {
				s.Cluster.Status.ConnectionString = "sample:abc@sample-log-101.sample.fdb.svc.cluster.local:4501,10.1.0.2:4501,10.1.0.3:4501"
			}), Holds: "sample-log-101.sample.fdb.svc.cluster.local:4501",
		},
		"keeps it while the cluster file cannot be read": {
			Given: stagestest.Combined(superfluous, func(s *plan.Snapshot) { s.Cluster.Status.ConnectionString = "?" }), Holds: "stays until",
		},
	})
}
