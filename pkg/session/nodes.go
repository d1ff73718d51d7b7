package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// NodesWith returns the names of the nodes that a label selector matches; no such node is an error.
func NodesWith(ctx context.Context, c client.Client, selector labels.Selector) ([]string, error) {
	list := &corev1.NodeList{}
	if err := c.List(ctx, list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, exit.Usagef("no node matches the labels %s", selector)
	}
	var names []string
	for _, node := range list.Items {
		names = append(names, node.Name)
	}
	slices.Sort(names)
	return names, nil
}

// NodePermissions are required to cordon nodes.
func NodePermissions() []Permission {
	return []Permission{{"get", "", "nodes", ""}, {"list", "", "nodes", ""}, {"patch", "", "nodes", ""}}
}

// PlacesBeside returns the other nodes that pods could move to, with all that runs there. A
// failure to read them is in the result, and not an error.
func (e Lookup) PlacesBeside(ctx context.Context, facts inspect.Facts, away []string) safety.Places {
	p := safety.Places{Nodes: facts.Nodes, Away: away, Hidden: facts.NodesHidden}
	if p.Hidden != "" {
		return p
	}
	c, err := e.Client()
	if err == nil {
		p.Pods, err = runningPods(ctx, c)
	}
	switch {
	case apierrors.IsForbidden(err):
		p.Hidden = "not permitted to list the pods of all namespaces"
	case err != nil:
		p.Hidden = "pods on nodes are unknown: " + exit.Explain(err)
	}
	return p
}

// runningPods lists the pods of all namespaces that have not ended.
func runningPods(ctx context.Context, c client.Client) ([]*corev1.Pod, error) {
	var all []*corev1.Pod
	var next string
	for {
		page := &corev1.PodList{}
		if err := c.List(ctx, page, client.Limit(PageSize), client.Continue(next)); err != nil {
			return nil, err
		}
		for i := range page.Items {
			ended := page.Items[i].Status.Phase == corev1.PodSucceeded || page.Items[i].Status.Phase == corev1.PodFailed
			if !ended && page.Items[i].Spec.NodeName != "" {
				all = append(all, &page.Items[i])
			}
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// WithNodes adds the nodes of unhealthy pods, to show whether the node is the cause. If they
// cannot be read, a warning is added and nothing else is missing.
func (e Lookup) WithNodes(ctx context.Context, f *inspect.Facts) {
	e.withNodes(ctx, f, NodesWithProblems(*f))
}

// WithNodesOfPods adds the nodes of all pods, as WithNodes does.
func (e Lookup) WithNodesOfPods(ctx context.Context, f *inspect.Facts) {
	var names []string
	for name := range f.GroupsByNode() {
		if f.Nodes[name] == nil {
			names = append(names, name)
		}
	}
	e.withNodes(ctx, f, slices.Sorted(slices.Values(names)))
}

func (e Lookup) withNodes(ctx context.Context, f *inspect.Facts, names []string) {
	missing := slices.ContainsFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return f.Pod(g) == nil && !g.IsMarkedForRemoval() })
	if len(names) == 0 && !missing {
		return
	}
	all, err := e.Nodes(ctx)
	if err != nil {
		f.Warnings = append(f.Warnings, "cannot determine whether nodes are ready: "+exit.Explain(err))
		return
	}
	nodes := maps.Clone(f.Nodes)
	if nodes == nil {
		nodes = map[string]*corev1.Node{}
	}
	for _, name := range names {
		if nodes[name] = all[name]; nodes[name] == nil {
			f.Warnings = append(f.Warnings, fmt.Sprintf("node %s of some pods no longer exists", name))
		}
	}
	for _, name := range formerNodes(*f, all) {
		nodes[name] = all[name]
	}
	f.Nodes = nodes
}

// formerNodes returns the nodes that missing pods may have run on.
func formerNodes(f inspect.Facts, all map[string]*corev1.Node) []string {
	f.Nodes = all
	var names []string
	for _, g := range f.Groups() {
		names = append(names, f.FormerNodes(g)...)
	}
	return names
}

// Nodes returns all nodes by name.
func (e Lookup) Nodes(ctx context.Context) (map[string]*corev1.Node, error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	all := map[string]*corev1.Node{}
	for next := ""; ; {
		page := &corev1.NodeList{}
		if err := c.List(ctx, page, client.Limit(PageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		for i := range page.Items {
			all[page.Items[i].Name] = &page.Items[i]
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// NodesWithProblems returns the unread nodes of pods that are not healthy.
func NodesWithProblems(f inspect.Facts) []string {
	var names []string
	for _, g := range f.Groups() {
		pod := f.Pod(g)
		if pod == nil || pod.Spec.NodeName == "" || slices.Contains(names, pod.Spec.NodeName) || f.Nodes[pod.Spec.NodeName] != nil {
			continue
		}
		if pod.DeletionTimestamp != nil || len(g.ProcessGroupConditions) > 0 || objects.IsUnready(pod) {
			names = append(names, pod.Spec.NodeName)
		}
	}
	return names
}

// EventsIn lists all events of a namespace: they cannot be selected by the labels of their
// objects.
func EventsIn(ctx context.Context, c client.Client, namespace string) ([]corev1.Event, error) {
	var all []corev1.Event
	var next string
	for {
		page := &corev1.EventList{}
		if err := c.List(ctx, page, client.InNamespace(namespace), client.Limit(PageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list events %s: %w", InNamespace(namespace), err)
		}
		all = append(all, page.Items...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// InvolvedName is the field of an event with the name of its object.
const InvolvedName = "involvedObject.name"

// EventsOf reads the events of objects by name. If that is forbidden, hidden has the reason,
// and nothing else is missing.
func (e Lookup) EventsOf(ctx context.Context, key types.NamespacedName, names ...string) (events []corev1.Event, hidden string) {
	c, err := e.Client()
	if err != nil {
		return nil, exit.Explain(err)
	}
	for _, name := range names {
		list := &corev1.EventList{}
		selector := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(InvolvedName, name)}
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), selector, client.Limit(PageSize)); err != nil {
			return nil, exit.Explain(fmt.Errorf("list the events of %s: %w", name, err))
		}
		events = append(events, list.Items...)
	}
	return events, ""
}
