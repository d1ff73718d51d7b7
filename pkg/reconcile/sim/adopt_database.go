package sim

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// adoptDatabase gives the simulated database the observed configuration, data, exclusions and
// maintenance.
func (w *Cluster) adoptDatabase(ctx context.Context, s plan.Snapshot) error {
	status := s.Database.Status
	w.FDB.Advance(joining)
	tokens, err := status.Cluster.Configuration.Tokens()
	if err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: err.Error()}
	}
	if err := w.configureTo(ctx, append([]string{"new"}, tokens...)); err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("configuration: %v", err)}
	}
	w.FDB.Advance(settling)
	for _, db := range w.FDB.Databases() {
		db.LoadBytes(dataOf(status) / w.scale)
	}
	drained, moving := exclusionsOf(s)
	if err := w.adoptExclusions(ctx, drained); err != nil {
		return err
	}
	w.adoptRecovery(s)
	w.FDB.Advance(s.Now.Sub(w.Now()) - joining)
	if err := w.adoptExclusions(ctx, moving); err != nil {
		return err
	}
	if zone, left := status.Cluster.MaintenanceZone, status.Cluster.MaintenanceSecondsRemaining; zone != "" && left != nil {
		err := w.change(ctx, func(c *client.Client) error { return c.StartMaintenance(zone, math.Trunc(*left)) })
		if err != nil {
			return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("maintenance of zone %s: %v", zone, err)}
		}
	}
	return nil
}

// adoptRecovery makes the simulated database recover at the time of the last observed recovery, if that was
// after the simulated one had settled.
func (w *Cluster) adoptRecovery(s plan.Snapshot) {
	age, known := s.Database.Status.RecoveryAge()
	until := s.Now.Add(-max(age, joining)).Sub(w.Now())
	if !known || until <= settling {
		return
	}
	w.FDB.Advance(until)
	for _, db := range w.FDB.Databases() {
		db.Recover()
	}
}

func (w *Cluster) adoptExclusions(ctx context.Context, targets []string) error {
	if len(targets) == 0 {
		return nil
	}
	if err := w.exclude(ctx, targets, client.Exclusion{Force: true}); err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("exclusions of %s: %v", strings.Join(targets, ", "), err)}
	}
	return nil
}

// exclusionsOf are the exclusions in force: those whose processes have moved everything away, and
// the others.
func exclusionsOf(s plan.Snapshot) (drained, moving []string) {
	all := s.Database.Status.ExcludedTargets()
	if s.Coordination.ExclusionsRead {
		all = s.Coordination.Exclusions
	}
	busy := map[string]bool{}
	for _, p := range s.Database.Status.Cluster.Processes {
		if p.HasRole(fdb.RoleStorage) || p.HasRole(fdb.RoleLog) {
			for _, name := range exclusionNames(p) {
				busy[name] = true
			}
		}
	}
	for _, target := range all {
		if busy[target] {
			moving = append(moving, target)
		} else {
			drained = append(drained, target)
		}
	}
	return drained, moving
}

// exclusionNames are the targets by which an exclusion can mean a process.
func exclusionNames(p fdb.Process) []string {
	names := []string{p.Address.Host, p.Address.HostPort()}
	for key, value := range p.Locality {
		names = append(names, fdb.LocalityExclusion(key, value))
	}
	return names
}

func (w *Cluster) adoptObjects(s plan.Snapshot) {
	maps.Copy(w.Volumes, copies(s.Volumes))
	maps.Copy(w.Services, copies(s.Services))
	maps.Copy(w.DisruptionBudgets, copies(s.DisruptionBudgets))
	maps.Copy(w.Agents, copies(s.Agents.Pods))
	w.ConfigMap, w.Detector, w.AgentsHidden = s.ConfigMap.DeepCopy(), s.Detector.Job.DeepCopy(), s.Agents.Hidden
	w.Unschedulable, w.otherNames, w.failing = map[string]bool{}, map[string]string{}, map[string]bool{}
	w.refused = s.Successors.Refused
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

const (
	// gracePeriod is that of deleted pods.
	gracePeriod = 30 * time.Second
	// endsLate is after its grace period when a pod that still exists does not end by itself.
	endsLate = 30 * time.Second
)

// deletePod deletes a pod as the API server does. Where no kubelet confirms its end, or a finalizer
// keeps it, it stays and is terminating.
func (w *Cluster) deletePod(name string) {
	pod := w.Pods[name]
	if pod == nil || !w.Unending[name] && (!w.observed || !w.down[pod.Spec.NodeName]) {
		w.stopPod(name)
		return
	}
	if pod.DeletionTimestamp == nil {
		w.edited(name).DeletionTimestamp = new(metav1.NewTime(w.Now().Add(gracePeriod)))
	}
	w.Broken[name] = true
	if w.running[name] != nil {
		w.KillServers(name)
	}
}

// endsByItself reports whether a pod is being deleted and soon gone: its node works, and it is not
// overdue.
func (w *Cluster) endsByItself(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && !w.down[pod.Spec.NodeName] && now.Before(pod.DeletionTimestamp.Add(endsLate))
}

// cannotStart reports whether a pod has not started and a container of it waits for something that
// time does not bring: its image, its configuration, a program that ends at once.
func cannotStart(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodRunning {
		return false // what does not report is seen by its processes
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && slices.Contains(notStarting, c.State.Waiting.Reason)
	})
}

// notStarting are the reasons of the kubelet for which a container does not start.
var notStarting = []string{
	"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ErrImagePull", "ImageInspectError",
	"ImagePullBackOff", "InvalidImageName", "RunContainerError",
}

// notPulled are the reasons that concern the image of a container.
var notPulled = []string{"ErrImageNeverPull", "ErrImagePull", "ImageInspectError", "ImagePullBackOff", "InvalidImageName"}

// adoptImages learns which images cannot be pulled: those that a container waits for, and that none
// runs. A new pod with one of them does not start either.
func (w *Cluster) adoptImages() {
	w.badImages = map[string]bool{}
	runs := map[string]bool{}
	for _, pod := range w.Pods {
		for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			runs[c.Image] = runs[c.Image] || c.State.Running != nil
			if c.State.Waiting != nil && slices.Contains(notPulled, c.State.Waiting.Reason) {
				w.badImages[c.Image] = true
			}
		}
	}
	maps.DeleteFunc(w.badImages, func(image string, _ bool) bool { return image == "" || runs[image] })
}

// cannotPull reports whether a pod has a container whose image cannot be pulled.
func (w *Cluster) cannotPull(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool { return w.badImages[c.Image] })
}
