package follow

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// subject is one kind of objects that a Follower follows.
type subject struct {
	facet     plan.Facet
	kind      schema.GroupVersionKind
	namespace string            // empty for kinds without one
	name      string            // of the only object that counts; empty for all
	labels    map[string]string // that the objects carry; nil for all
	labeled   string            // a label that they carry, whatever its value; empty for all
	// whole is true where metadata alone does not show what counts.
	whole bool
	// mark is the part of an object whose change counts.
	mark func(client.Object) string
}

// subjectsOf are the objects of the given cluster. Nodes count only for specs with rules about
// their taints, as in a pass. Backups and restores are those of the whole namespace: their
// metadata does not show of which cluster they are, and an unneeded pass changes nothing.
func subjectsOf(key types.NamespacedName, c *v1beta2.FoundationDBCluster) []subject {
	belongs := c.MatchLabels()
	core, own := corev1.SchemeGroupVersion.WithKind, v1beta2.GroupVersion.WithKind
	subjects := []subject{
		{facet: plan.ClusterResource, kind: own("FoundationDBCluster"), namespace: key.Namespace, name: key.Name, mark: markOfResource},
		{facet: plan.Pods, kind: core("Pod"), namespace: key.Namespace, labels: belongs, mark: markOfAny},
		{facet: plan.Volumes, kind: core("PersistentVolumeClaim"), namespace: key.Namespace, labels: belongs, mark: markOfAny},
		{facet: plan.Services, kind: core("Service"), namespace: key.Namespace, labels: belongs, mark: markOfAny},
		{facet: plan.ConfigMap, kind: core("ConfigMap"), namespace: key.Namespace, name: c.ConfigMapName(), mark: markOfAny},
		{facet: plan.Backup, kind: own("FoundationDBBackup"), namespace: key.Namespace, mark: markOfResource},
		{facet: plan.Restore, kind: own("FoundationDBRestore"), namespace: key.Namespace, mark: markOfResource},
		{facet: plan.Agents, kind: appsv1.SchemeGroupVersion.WithKind("Deployment"), namespace: key.Namespace, labeled: v1beta2.LabelBackupFor, mark: markOfAny},
	}
	if len(c.Spec.AutomationOptions.Replacements.TaintReplacementOptions) > 0 {
		subjects = append(subjects, subject{facet: plan.Nodes, kind: core("Node"), whole: true, mark: markOfNode})
	}
	return subjects
}

func (s subject) same(other subject) bool {
	return s.facet == other.facet && s.namespace == other.namespace && s.name == other.name && s.labeled == other.labeled && maps.Equal(s.labels, other.labels)
}

// list is what the objects are read into: their metadata alone, where that is enough.
func (s subject) list() client.ObjectList {
	if s.whole {
		return &corev1.NodeList{}
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(s.kind.GroupVersion().WithKind(s.kind.Kind + "List"))
	return list
}

// options limit the list of a reflector to the objects of the cluster.
func (s subject) options(o metav1.ListOptions) *client.ListOptions {
	options := &client.ListOptions{Namespace: s.namespace, Raw: &o, Limit: o.Limit, Continue: o.Continue}
	if s.labels != nil {
		options.LabelSelector = labels.SelectorFromSet(s.labels)
	}
	if s.labeled != "" {
		if carries, err := labels.NewRequirement(s.labeled, selection.Exists, nil); err == nil {
			options.LabelSelector = labels.NewSelector().Add(*carries)
		}
	}
	if s.name != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", s.name)
	}
	return options
}

// markOfAny changes with every write.
func markOfAny(o client.Object) string { return string(o.GetUID()) + " " + o.GetResourceVersion() }

// markOfResource omits the status: passes write it, and must not cause the next pass by that.
func markOfResource(o client.Object) string {
	return text(o.GetUID(), o.GetGeneration(), o.GetLabels(), o.GetAnnotations(), ptr.Deref(o.GetDeletionTimestamp(), metav1.Time{}).Unix())
}

// markOfNode is what rules about taints read. All else of a node changes every few
// minutes, on every node.
func markOfNode(o client.Object) string {
	node, ok := o.(*corev1.Node)
	if !ok {
		return markOfAny(o)
	}
	return text(node.UID, node.Spec.Taints)
}
