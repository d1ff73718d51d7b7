package controlplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// podGC removes the pods that no kubelet can end, as the pod garbage collector of
// kube-controller-manager does. That one is not used here: it imports the kubelet's eviction
// manager and with it cAdvisor, 90 packages in all.
type podGC struct {
	client kubernetes.Interface
	// gone are the nodes that did not exist at the last check: a pod is removed at the second.
	gone map[string]bool
}

// podGCInterval is how often pods are checked; 20 s in kube-controller-manager, which then waits for
// another 40 s before it considers a node deleted.
const podGCInterval = 5 * time.Second

func (g *podGC) run(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := g.collect(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "collect the pods of lost nodes")
		}
	}, podGCInterval)
}

// collect deletes the pods of nodes that were missing at the last check too, and those that
// cannot end.
func (g *podGC) collect(ctx context.Context) error {
	nodes, err := g.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := g.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	known, gone := map[string]*corev1.Node{}, map[string]bool{}
	for i := range nodes.Items {
		known[nodes.Items[i].Name] = &nodes.Items[i]
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		missing := pod.Spec.NodeName != "" && known[pod.Spec.NodeName] == nil
		gone[pod.Spec.NodeName] = gone[pod.Spec.NodeName] || missing
		if missing && g.gone[pod.Spec.NodeName] || cannotEnd(pod, known[pod.Spec.NodeName]) {
			if err := g.remove(ctx, pod); err != nil {
				return err
			}
		}
	}
	g.gone = gone
	return nil
}

// cannotEnd reports whether a pod is being deleted and no kubelet will confirm it: it was never
// scheduled, or its node is not ready and marked as out of service.
func cannotEnd(pod *corev1.Pod, node *corev1.Node) bool {
	switch {
	case pod.DeletionTimestamp == nil:
		return false
	case pod.Spec.NodeName == "":
		return true
	default:
		return node != nil && outOfService(node) && !isReady(node)
	}
}

func outOfService(node *corev1.Node) bool {
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeOutOfService {
			return true
		}
	}
	return false
}

func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (g *podGC) remove(ctx context.Context, pod *corev1.Pod) error {
	err := g.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
