package commands

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// withNodes adds the nodes of unhealthy pods, to show whether the node is the cause. If they
// cannot be read, a warning is added and nothing else is missing.
func (e *Env) withNodes(ctx context.Context, f *inspect.Facts) {
	names := nodesInTrouble(*f)
	if len(names) == 0 {
		return
	}
	all, err := e.nodes(ctx)
	if err != nil {
		f.Warnings = append(f.Warnings, "cannot determine whether nodes are ready: "+explain(err))
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
	f.Nodes = nodes
}

// nodes returns all nodes by name.
func (e *Env) nodes(ctx context.Context) (map[string]*corev1.Node, error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	all := map[string]*corev1.Node{}
	for next := ""; ; {
		page := &corev1.NodeList{}
		if err := c.List(ctx, page, client.Limit(pageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("listing nodes: %w", err)
		}
		for i := range page.Items {
			all[page.Items[i].Name] = &page.Items[i]
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// nodesInTrouble returns the unread nodes of pods that are not healthy.
func nodesInTrouble(f inspect.Facts) []string {
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
