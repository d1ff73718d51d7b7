package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestCheckDeletion(t *testing.T) {
	asked := new(stagestest.NoonTime())
	held := func(s *plan.Snapshot) {
		s.Cluster.DeletionTimestamp, s.Cluster.Finalizers = asked, []string{"example.com/a", "example.com/b"}
	}
	namespace := func(s *plan.Snapshot) {
		s.Namespace.Object = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fdb", DeletionTimestamp: asked}}
	}
	stagestest.Decides(t, CheckDeletion, map[string]stagestest.Decision{
		"goes on with a cluster that stays":          {Given: func(*plan.Snapshot) {}},
		"goes on where the namespace is unknown":     {Given: func(s *plan.Snapshot) { s.Namespace.Hidden = "forbidden" }},
		"ends a pass over one that is being deleted": {Given: held, Holds: "held by finalizers example.com/a, example.com/b; all pods and PVCs go with it when it is removed", Manual: true, Then: plan.EndPass},
		"ends a pass in a namespace that is":         {Given: namespace, Holds: "Namespace fdb is being deleted since", Manual: true, Then: plan.EndPass},
		"goes on where a user overrides it": {Given: stagestest.Combined(held, func(s *plan.Snapshot) {
			s.Overrides = map[plan.Gate]string{plan.GateDeletion: "it is the only way"}
		})},
	})
}
