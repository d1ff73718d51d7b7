package live_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestSuccessorsAreTriedByADryRun(t *testing.T) {
	f := settled(t)
	f.log.permitted = true
	before, pods := &corev1.PodList{}, &corev1.PodList{}
	if err := f.api.List(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	f.store(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods", Namespace: key.Namespace}})
	if s := f.observe(plan.ClusterResource | plan.Successors); !s.Successors.Read || len(s.Successors.Refused)+len(s.Successors.Unknown) > 0 || len(s.Successors.Namespace.Quotas) != 1 {
		t.Errorf("all are accepted, beside one quota: %+v", s.Successors)
	}
	f.log.refuse = func(r string) error {
		if strings.HasPrefix(r, "create Pod sample-storage-") {
			return refusedPod("no")
		}
		return nil
	}
	s := f.observe(plan.ClusterResource | plan.Successors)
	if refused := s.Successors.Refused; len(refused) != 1 || refused[v1beta2.ProcessClassStorage].Kind != plan.RefusedByPolicy {
		t.Errorf("storage is refused: %+v", s.Successors)
	}
	f.log.permitted = false
	if s = f.observe(plan.ClusterResource | plan.Successors); s.Successors.Unknown[v1beta2.ProcessClassStorage] == "" {
		t.Errorf("without the permission the answer is unknown: %+v", s.Successors)
	}
	if err := f.api.List(t.Context(), pods); err != nil || len(pods.Items) != len(before.Items) {
		t.Errorf("%d pods, %d before: %v", len(pods.Items), len(before.Items), err)
	}
}
