package live

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A dump of a release that did not read namespaces lacks them. An API server that cannot answer is not such a
// dump: whether the namespace is being deleted must be known to it.
func TestANamespaceThatIsNotRecordedIsUnknown(t *testing.T) {
	unavailable := func(causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable, Details: &metav1.StatusDetails{Causes: causes},
		}}
	}
	namespaces := schema.GroupResource{Resource: "namespaces"}
	for name, tc := range map[string]struct {
		met           error
		hidden, fails bool
	}{
		"a dump that lacks it":             {met: unavailable(metav1.StatusCause{Type: plan.CauseNotRecorded}), hidden: true},
		"an API server that cannot answer": {met: unavailable(), fails: true},
		"no permission":                    {met: apierrors.NewForbidden(namespaces, "fdb", nil), hidden: true},
		"an API server without namespaces": {met: apierrors.NewNotFound(namespaces, "fdb"), hidden: true},
		"a namespace":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			c := interceptor.NewClient(fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fdb"}}).Build(), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
					if tc.met != nil {
						return tc.met
					}
					return c.Get(ctx, key, o)
				},
			})
			facts, err := readNamespaceObject(t.Context(), c, "fdb")
			if (err != nil) != tc.fails || (facts.Hidden != "") != tc.hidden || (facts.Object != nil) != (tc.met == nil) {
				t.Errorf("%+v, error %v", facts, err)
			}
		})
	}
}
