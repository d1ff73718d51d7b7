package evictionhook

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

const clusterKind = "FoundationDBCluster"

// clusterOf returns the cluster that a pod belongs to, by its owner and by the labels of clusters
// in the namespace; nil where it belongs to none. An owner that does not exist, and two clusters
// whose labels match, are errors: nothing is known about such a pod but that it has a database.
func (h *Hook) clusterOf(ctx context.Context, pod *corev1.Pod) (*v1beta2.FoundationDBCluster, error) {
	owner := ownerOf(pod)
	clusters := &v1beta2.FoundationDBClusterList{}
	if err := h.Client.List(ctx, clusters, client.InNamespace(pod.Namespace)); err != nil {
		return nil, fmt.Errorf("list FoundationDBClusters: %w", err)
	}
	var found *v1beta2.FoundationDBCluster
	for i := range clusters.Items {
		c := &clusters.Items[i]
		if owner != nil && owner.UID != c.UID || owner == nil && !selects(c, pod) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("FoundationDBClusters %s and %s select it", found.Name, c.Name)
		}
		found = c
	}
	if found == nil && owner != nil {
		return nil, fmt.Errorf("its FoundationDBCluster %s does not exist any more", owner.Name)
	}
	return found, nil
}

// ownerOf returns the FoundationDBCluster that controls a pod; nil for none.
func ownerOf(pod *corev1.Pod) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != clusterKind {
		return nil
	}
	if group, _, _ := strings.Cut(owner.APIVersion, "/"); group != v1beta2.GroupVersion.Group {
		return nil
	}
	return owner
}

// selects reports whether a pod has the labels of a cluster and of one of its process groups.
func selects(c *v1beta2.FoundationDBCluster, pod *corev1.Pod) bool {
	if !labels.SelectorFromSet(c.MatchLabels()).Matches(labels.Set(pod.Labels)) {
		return false
	}
	_, isGroup := pod.Labels[c.ProcessGroupIDLabels()[0]]
	return isGroup
}
