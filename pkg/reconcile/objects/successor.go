package objects

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Successor returns the pod and the PVC of one more process group of a class, with an ID that no group has. The PVC
// is nil for a class without volumes. They are for dry runs: the group that is added later has another ID.
func Successor(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (*corev1.Pod, *corev1.PersistentVolumeClaim, error) {
	number := v1beta2.MaxProcessGroupNumber
	for c.ProcessGroup(c.ProcessGroupIDFor(class, number)) != nil {
		number--
	}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(class, number), ProcessClass: class}
	pod, err := Pod(c, g)
	if err != nil || !class.IsStateful() {
		return pod, nil, err
	}
	claim, err := PersistentVolumeClaim(c, g)
	return pod, claim, err
}
