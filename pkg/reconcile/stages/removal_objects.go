package stages

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// leftoverObjects are the objects that a group still has.
type leftoverObjects struct {
	pod     *corev1.Pod
	claim   *corev1.PersistentVolumeClaim
	service *corev1.Service
}

// foreign returns the name of an object that has the group's name and another group's labels:
// names of objects omit the prefix of an ID. It is empty for none.
func (o leftoverObjects) foreign(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) string {
	for _, object := range o.all() {
		if id := object.GetLabels()[c.ProcessGroupIDLabels()[0]]; id != string(g.ProcessGroupID) {
			return object.GetName()
		}
	}
	return ""
}

// ending reports whether all of the objects are being deleted.
func (o leftoverObjects) ending() bool {
	return !slices.ContainsFunc(o.all(), func(object metav1.Object) bool { return object.GetDeletionTimestamp() == nil })
}

func (o leftoverObjects) all() []metav1.Object {
	var all []metav1.Object
	if o.pod != nil {
		all = append(all, o.pod)
	}
	if o.claim != nil {
		all = append(all, o.claim)
	}
	if o.service != nil {
		all = append(all, o.service)
	}
	return all
}

func (r *removal) objects(g *v1beta2.ProcessGroupStatus) leftoverObjects {
	return leftoverObjects{
		pod:     r.s.Pod(g),
		claim:   r.s.Volumes[g.PVCName(r.s.Cluster)],
		service: r.s.Services[g.ServiceName(r.s.Cluster)],
	}
}
