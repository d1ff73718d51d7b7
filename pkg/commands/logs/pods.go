package logs

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// target is a pod whose logs are read.
type target struct {
	pod   *corev1.Pod
	place logs.Place
}

// pods reads the selected pods of the cluster. The database is not queried: logs matter most while it
// does not answer.
func (r *reader) pods(ctx context.Context) ([]target, error) {
	c, err := r.env.Client()
	if err != nil {
		return nil, err
	}
	cluster, err := r.env.Read(ctx, c, r.key)
	if err != nil {
		return nil, err
	}
	list := &corev1.PodList{}
	if err := c.List(ctx, list, client.InNamespace(r.key.Namespace), client.MatchingLabels(cluster.MatchLabels())); err != nil {
		return nil, fmt.Errorf("list pods of FoundationDBCluster %s: %w", r.key.Name, err)
	}
	named, err := namedGroups(cluster, list.Items, r.o.IDs)
	if err != nil {
		return nil, err
	}
	var all []target
	for i := range list.Items {
		t := targetOf(cluster, &list.Items[i])
		if r.o.selects(t) && (len(r.o.IDs) == 0 || slices.Contains(named, t.place.ProcessGroup)) {
			all = append(all, t)
		}
	}
	return all, nil
}

// namedGroups returns the IDs of the process groups that words name. One that has left the status and
// still has a pod is found by its ID.
func namedGroups(cluster *session.Cluster, pods []corev1.Pod, words []string) ([]string, error) {
	var ids, rest []string
	for _, word := range words {
		if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return groupOf(cluster, &p) == word }) {
			ids = append(ids, word)
			continue
		}
		rest = append(rest, word)
	}
	s := plan.Snapshot{Cluster: cluster, Pods: map[string]*corev1.Pod{}}
	groups, err := session.GroupsNamed(s, rest)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		ids = append(ids, string(g.ProcessGroupID))
	}
	return ids, nil
}

func groupOf(cluster *session.Cluster, pod *corev1.Pod) string {
	return pod.Labels[cluster.ProcessGroupIDLabels()[0]]
}

func targetOf(cluster *session.Cluster, pod *corev1.Pod) target {
	t := target{pod: pod, place: logs.Place{
		ProcessGroup: groupOf(cluster, pod), Class: pod.Labels[cluster.ProcessClassLabels()[0]], Node: pod.Spec.NodeName, Pod: pod.Name,
	}}
	if g := cluster.ProcessGroup(v1beta2.ProcessGroupID(t.place.ProcessGroup)); g != nil {
		t.place.Zone = string(g.FaultDomain)
	}
	return t
}

func (o *options) selects(t target) bool {
	return cmdutil.AnyOf(o.Classes, t.place.Class) && cmdutil.AnyOf(o.Zones, t.place.Zone) && cmdutil.AnyOf(o.Nodes, t.place.Node)
}

// reads reports whether logs of an origin are read.
func (o *options) reads(origin logs.Origin) bool { return slices.Contains(o.origins, string(origin)) }

// containersOf returns the names of the containers of a pod whose logs are read.
func (o *options) containersOf(pod *corev1.Pod) []string {
	var names []string
	for _, c := range pod.Spec.Containers {
		if cmdutil.AnyOf(o.containers, c.Name) {
			names = append(names, c.Name)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		if slices.Contains(o.containers, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// hasTraces reports whether a pod is expected to have trace files that are read.
func (o *options) hasTraces(t target) bool {
	return o.reads(logs.FromTrace) && !o.previous && cmdutil.AnyOf(o.containers, v1beta2.ContainerMain) && started(t.pod, v1beta2.ContainerMain)
}

// started reports whether a container has run, or may have: one without a status may.
func started(pod *corev1.Pod, container string) bool {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.Name == container {
			return s.State.Waiting == nil || s.RestartCount > 0 || s.LastTerminationState.Terminated != nil
		}
	}
	return pod.Status.Phase != corev1.PodPending
}

// restarted reports whether a container ran before.
func restarted(pod *corev1.Pod, container string) bool {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.Name == container {
			return s.RestartCount > 0 || s.LastTerminationState.Terminated != nil
		}
	}
	return false
}
