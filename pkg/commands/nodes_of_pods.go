package commands

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// mostNodes bounds how many nodes are read one by one for what is wrong with their pods.
const mostNodes = 20

// withNodes adds the nodes of pods that are in trouble, so that it can be said whether
// the node is. Where they may not be read the reader is told, and nothing else is missing.
func (e *Env) withNodes(ctx context.Context, f *ui.Facts) {
	names := nodesInTrouble(*f)
	if len(names) == 0 {
		return
	}
	c, err := e.Client()
	if err != nil {
		return
	}
	nodes := maps.Clone(f.Nodes)
	if nodes == nil {
		nodes = map[string]*corev1.Node{}
	}
	for _, name := range names[:min(mostNodes, len(names))] {
		node := &corev1.Node{}
		err := c.Get(ctx, client.ObjectKey{Name: name}, node)
		switch {
		case err == nil:
			nodes[name] = node
		case apierrors.IsNotFound(err):
			f.Warnings = append(f.Warnings, fmt.Sprintf("node %s, which pods are on, does not exist any more", name))
		default:
			f.Warnings = append(f.Warnings, fmt.Sprintf("whether the nodes are ready is not known: reading node %s: %s", name, explain(err)))
			f.Nodes = nodes
			return
		}
	}
	f.Nodes = nodes
}

// nodesInTrouble are the nodes, not read yet, of pods that are not as they should be.
func nodesInTrouble(f ui.Facts) []string {
	var names []string
	for _, g := range f.Groups() {
		pod := f.Pod(g)
		if pod == nil || pod.Spec.NodeName == "" || slices.Contains(names, pod.Spec.NodeName) || f.Nodes[pod.Spec.NodeName] != nil {
			continue
		}
		if pod.DeletionTimestamp != nil || len(g.ProcessGroupConditions) > 0 {
			names = append(names, pod.Spec.NodeName)
		}
	}
	return names
}
