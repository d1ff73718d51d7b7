package live

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Errors are read by users of Kubernetes, who know no types of Go.
func TestErrorsNameObjectsByTheirKind(t *testing.T) {
	for want, object := range map[string]client.Object{
		"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{}, "FoundationDBBackup": &v1beta2.FoundationDBBackup{},
	} {
		if got := kindOf(object); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
