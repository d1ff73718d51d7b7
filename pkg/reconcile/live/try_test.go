package live_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Neither the API server nor what the Cluster remembers may show what was only tried.
func TestTryingAnActionPersistsNothing(t *testing.T) {
	f := settled(t)
	s := f.observe(plan.Everything)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: f.cluster.Key.Namespace, Name: "new"}}
	group := s.Groups()[0].ProcessGroupID
	before := f.resource().ResourceVersion
	tests := map[string]struct {
		action    plan.Action
		requested bool
		fails     func(error) bool
	}{
		"a new object":               {plan.CreatePod{Name: "new", Object: pod}, true, nil},
		"a node that is not there":   {plan.CordonNode{Node: "n9"}, true, apierrors.IsNotFound},
		"the record":                 {plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{group}, At: s.Now}, true, nil},
		"a restart of servers":       {plan.RestartProcesses{}, false, nil},
		"the deny list":              {plan.UpdateDenyList{Deny: []string{"dc9"}}, false, nil},
		"a service that comes again": {plan.ApplyService{Verb: plan.ReplaceService}, false, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requested, err := f.cluster.Try(t.Context(), tc.action)
			if requested != tc.requested || (err != nil) != (tc.fails != nil) || err != nil && !tc.fails(err) {
				t.Errorf("asked %t, want %t (%v)", requested, tc.requested, err)
			}
		})
	}
	if err := f.cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("the pod is there (%v)", err)
	}
	if now := f.resource(); now.ResourceVersion != before || now.ProcessGroup(group).IsMarkedForRemoval() {
		t.Error("the record was written")
	}
	if f.observe(plan.ClusterResource).Cluster.ProcessGroup(group).IsMarkedForRemoval() {
		t.Error("the mark is remembered")
	}
}
