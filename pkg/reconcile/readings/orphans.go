package readings

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Orphans returns the process groups of which only objects exist.
func Orphans(s plan.Snapshot) []plan.NewGroup {
	known := map[v1beta2.ProcessGroupID]bool{}
	for _, g := range s.Groups() {
		known[g.ProcessGroupID] = true
	}
	var groups []plan.NewGroup
	for _, object := range groupObjects(s) {
		id := v1beta2.ProcessGroupID(object.Labels[s.Cluster.ProcessGroupIDLabels()[0]])
		class := v1beta2.ProcessClass(object.Labels[s.Cluster.ProcessClassLabels()[0]])
		if id == "" || known[id] || object.DeletionTimestamp != nil || !belongs(s.Cluster, object) {
			continue
		}
		known[id] = true
		groups = append(groups, plan.NewGroup{ID: id, Class: class})
	}
	return groups
}

func groupObjects(s plan.Snapshot) []*metav1.ObjectMeta {
	objects := make([]*metav1.ObjectMeta, 0, len(s.Pods)+len(s.Volumes)+len(s.Services))
	for _, pod := range s.Pods {
		objects = append(objects, &pod.ObjectMeta)
	}
	for _, claim := range s.Volumes {
		objects = append(objects, &claim.ObjectMeta)
	}
	for _, service := range s.Services {
		objects = append(objects, &service.ObjectMeta)
	}
	return objects
}

// belongs reports whether an object is the cluster's own, for specs that require more than matching
// labels.
func belongs(c *v1beta2.FoundationDBCluster, object *metav1.ObjectMeta) bool {
	return !c.FilterOnOwnerReference() || metav1.IsControlledBy(object, c)
}
