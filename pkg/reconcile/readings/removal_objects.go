package readings

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// LeftoverObjects are the objects that a group still has.
type LeftoverObjects struct {
	Pod     *corev1.Pod
	Claim   *corev1.PersistentVolumeClaim
	Service *corev1.Service
}

// Foreign returns the name of an object that has the group's name and another group's labels:
// names of objects omit the prefix of an ID. It is empty for none.
func (o LeftoverObjects) Foreign(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) string {
	for _, object := range o.all() {
		if id := object.GetLabels()[c.ProcessGroupIDLabels()[0]]; id != string(g.ProcessGroupID) {
			return object.GetName()
		}
	}
	return ""
}

// Ending reports whether all of the objects are being deleted.
func (o LeftoverObjects) Ending() bool {
	return !slices.ContainsFunc(o.all(), func(object metav1.Object) bool { return object.GetDeletionTimestamp() == nil })
}

func (o LeftoverObjects) all() []metav1.Object {
	var all []metav1.Object
	if o.Pod != nil {
		all = append(all, o.Pod)
	}
	if o.Claim != nil {
		all = append(all, o.Claim)
	}
	if o.Service != nil {
		all = append(all, o.Service)
	}
	return all
}
