package commands

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// placesBeside returns the other nodes that pods could move to, with all that runs there. A
// failure to read them is in the result, and not an error.
func (e *Env) placesBeside(ctx context.Context, facts inspect.Facts, away []string) safety.Places {
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
		p.Hidden = "pods on nodes are unknown: " + explain(err)
	}
	return p
}

// runningPods lists the pods of all namespaces that have not ended.
func runningPods(ctx context.Context, c client.Client) ([]*corev1.Pod, error) {
	var all []*corev1.Pod
	var next string
	for {
		page := &corev1.PodList{}
		if err := c.List(ctx, page, client.Limit(pageSize), client.Continue(next)); err != nil {
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
