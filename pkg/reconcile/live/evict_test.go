package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// evictor answers requests of the eviction API, and notes their UIDs.
type evictor struct {
	client.Client

	answer  error
	evicted []types.UID
}

func (e *evictor) SubResource(string) client.SubResourceClient { //nolint:ireturn // the shape of the client
	return evictions{e.Client.SubResource("eviction"), e}
}

type evictions struct {
	client.SubResourceClient

	of *evictor
}

func (e evictions) Create(ctx context.Context, pod, eviction client.Object, _ ...client.SubResourceCreateOption) error {
	uid := *eviction.(*policyv1.Eviction).DeleteOptions.Preconditions.UID
	e.of.evicted = append(e.of.evicted, uid)
	if e.of.answer != nil {
		return e.of.answer
	}
	return e.of.Delete(ctx, pod)
}

// budgetRefuses is the answer of the API server where a disruption budget allows no eviction.
func budgetRefuses(budget string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + budget + " needs 3 healthy pods and has 3 currently",
	})
	return err
}

func TestEvictionsRespectDisruptionBudgets(t *testing.T) {
	const pod, claim = "pod storage-1", "claim storage-1-data"
	pods := plan.DeletePods{Pods: []plan.PodOfGroup{{Group: "storage-1", Name: "storage-1", UID: pod}}, Evict: true}
	group := plan.DeleteGroupObjects{Group: "storage-1", Pod: "storage-1", Claim: "storage-1-data", UIDs: map[string]types.UID{"storage-1": pod, "storage-1-data": claim}, Evict: true}
	agent := plan.EvictAgent{Name: "storage-1", UID: pod, Evict: true}
	tests := map[string]struct {
		action plan.Action
		answer error
		left   []string
		// waits is part of what the stage waits for, fails of the error if it is none.
		waits, fails string
	}{
		"a pod is evicted":                        {action: pods, left: []string{claim}},
		"a pod of agents is evicted":              {action: agent, left: []string{claim}},
		"a group's objects go with its pod":       {action: group},
		"a pod that was removed":                  {action: group, answer: apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "storage-1"), left: []string{pod}},
		"a budget refuses":                        {action: pods, answer: budgetRefuses("apps"), left: []string{pod, claim}, waits: "The disruption budget apps needs 3 healthy pods"},
		"a budget refuses, and nothing else goes": {action: group, answer: budgetRefuses("apps"), left: []string{pod, claim}, waits: "The disruption budget apps"},
		"a webhook refuses":                       {action: agent, answer: apierrors.NewTooManyRequests("admission webhook denied the request: not drained", 0), left: []string{pod, claim}, waits: "not drained"},
		"another pod of that name":                {action: pods, answer: apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "storage-1", errors.New("uid")), left: []string{pod, claim}, fails: "evict pod storage-1: Operation cannot be fulfilled"},
		"two budgets of one pod":                  {action: pods, answer: apierrors.NewInternalError(errors.New("more than one PodDisruptionBudget")), left: []string{pod, claim}, fails: "evict pod storage-1: Internal error"},
		"no permission":                           {action: pods, answer: apierrors.NewForbidden(schema.GroupResource{Resource: "pods/eviction"}, "storage-1", errors.New("rbac")), left: []string{pod, claim}, fails: "is forbidden"},
		"no answer":                               {action: pods, answer: errors.New("connection reset"), left: []string{pod, claim}, fails: "evict pod storage-1: the outcome is unknown: connection reset"},
		"an API server that gave up":              {action: pods, answer: apierrors.NewTimeoutError("etcd", 1), left: []string{pod, claim}, fails: "the outcome is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{
				&corev1.Pod{ObjectMeta: identified("storage-1", pod)}, &corev1.PersistentVolumeClaim{ObjectMeta: identified("storage-1-data", claim)},
			}
			f := newField(t, sample(), objects...)
			e := &evictor{Client: f.cluster.Client, answer: tc.answer}
			f.cluster.Client = e
			f.begin()
			err := f.cluster.Act(t.Context(), tc.action)
			var notYet *reconcile.NotYetError
			switch waits := errors.As(err, &notYet); {
			case waits != (tc.waits != ""), err != nil && !waits && !strings.Contains(err.Error(), tc.fails), (err != nil) != (tc.waits+tc.fails != ""):
				t.Errorf("got %v, want a wait for %q or the error %q", err, tc.waits, tc.fails)
			case waits && (notYet.Hold.Code != plan.HoldEvictionRefused || !strings.Contains(notYet.Hold.Detail, tc.waits) || notYet.Hold.RetryAfter == 0):
				t.Errorf("got %+v, want a hold for %q", notYet.Hold, tc.waits)
			}
			if diff := cmp.Diff([]types.UID{pod}, e.evicted); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.left, stillThere(t, f, objects)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// Without the flag nothing is evicted.
func TestPodDeletionsIgnoreDisruptionBudgetsByDefault(t *testing.T) {
	f := newField(t, sample(), &corev1.Pod{ObjectMeta: identified("storage-1", "pod storage-1")})
	e := &evictor{Client: f.cluster.Client, answer: budgetRefuses("apps")}
	f.cluster.Client = e
	f.begin()
	if err := f.cluster.Act(t.Context(), plan.DeletePods{Pods: []plan.PodOfGroup{{Group: "storage-1", Name: "storage-1", UID: "pod storage-1"}}}); err != nil || len(e.evicted) != 0 {
		t.Errorf("evicted %v, error %v", e.evicted, err)
	}
}
