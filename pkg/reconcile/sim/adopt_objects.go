package sim

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func (w *Cluster) adoptObjects(s plan.Snapshot) {
	maps.Copy(w.Volumes, copies(s.Volumes))
	maps.Copy(w.Services, copies(s.Services))
	maps.Copy(w.DisruptionBudgets, copies(s.DisruptionBudgets))
	maps.Copy(w.Agents, copies(s.Agents.Pods))
	w.ConfigMap, w.Detector, w.AgentsHidden = s.ConfigMap.DeepCopy(), s.Detector.Job.DeepCopy(), s.Agents.Hidden
	w.Unschedulable, w.otherNames, w.failing = map[string]bool{}, map[string]string{}, map[string]bool{}
	w.adoptNodes(s)
	for name, pod := range s.Pods {
		if w.endsByItself(pod, s.Now) {
			continue
		}
		w.Unending[name] = pod.DeletionTimestamp != nil && !w.down[pod.Spec.NodeName]
		w.failing[name] = cannotStart(pod)
		pod = pod.DeepCopy()
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		w.sixFirst = w.sixFirst || startsWithIPv6(pod)
		w.Pods[name], w.Unschedulable[name] = pod, refusedByScheduler(pod)
	}
	w.adoptImages()
}

func refusedByScheduler(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
}

// assumedNodes is how many nodes are assumed at least where none could be read: enough for the
// coordinators of every redundancy mode of one data center.
const assumedNodes = 5

// adoptNodes takes the observed nodes. Where none were read they are the ones that pods run on,
// and some more if these are few.
func (w *Cluster) adoptNodes(s plan.Snapshot) {
	used := map[string]bool{}
	for _, pod := range s.Pods {
		if pod.Spec.NodeName != "" {
			used[pod.Spec.NodeName] = true
		}
	}
	w.down, w.observedNodes, w.NodesHidden = map[string]bool{}, s.Nodes, s.NodesHidden
	w.nodesUnread = s.Nodes == nil
	if s.Nodes == nil {
		for n := len(used); n < assumedNodes; n++ {
			used[fmt.Sprintf("assumed-node-%d", n+1)] = true
		}
		w.Nodes = slices.Sorted(maps.Keys(used))
		return
	}
	w.Nodes = slices.Sorted(maps.Keys(s.Nodes))
	w.NodeLabels, w.NodeAnnotations = map[string]map[string]string{}, map[string]map[string]string{}
	w.Taints, w.Cordoned = map[string][]corev1.Taint{}, map[string]bool{}
	for name, node := range s.Nodes {
		w.NodeLabels[name], w.NodeAnnotations[name] = node.Labels, node.Annotations
		w.Taints[name], w.Cordoned[name] = node.Spec.Taints, node.Spec.Unschedulable
		w.down[name] = !isReady(node)
	}
	for name := range used {
		if s.Nodes[name] == nil {
			w.down[name] = true
		}
	}
}

// isReady reports whether a node works. One that reports no conditions has no kubelet to report
// them.
func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}
