package readings

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SuperfluousService returns the cluster's own headless service where the spec needs none.
func SuperfluousService(s plan.Snapshot) *corev1.Service {
	service := s.Services[s.Cluster.HeadlessServiceName()]
	if service == nil || objects.HeadlessService(s.Cluster) != nil || !isOwn(s.Cluster, service) {
		return nil
	}
	return service
}

// isOwn reports whether an object was created for this very cluster: it has its labels, and
// this resource controls it.
func isOwn(c *v1beta2.FoundationDBCluster, object metav1.Object) bool {
	for key, value := range c.MatchLabels() {
		if object.GetLabels()[key] != value {
			return false
		}
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == "FoundationDBCluster" && owner.UID == c.UID && c.UID != ""
	})
}
