package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReadNodes has nodes observed whatever the rules of the spec are about.
func (w *World) ReadNodes() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodesWanted = true
}

func (w *World) wantsNodes() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodesWanted
}

// nodeEdit is an action on a node.
type nodeEdit interface {
	Describe() string
	Done(n *corev1.Node) bool
	Edit(n *corev1.Node)
}

// nodeTries is how often an edit of a node is tried that others changed meanwhile: the
// kubelet of a node writes it all the time.
const nodeTries = 5

// editNode changes a node as it is now, and nothing about it that somebody else changed
// in between.
func (w *World) editNode(ctx context.Context, name string, a nodeEdit) error {
	var err error
	for range nodeTries {
		node := &corev1.Node{}
		if err := w.Client.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
			return fmt.Errorf("reading node %s: %w", name, err)
		}
		if a.Done(node) {
			return nil
		}
		before := node.DeepCopy()
		a.Edit(node)
		// The list of taints is replaced as a whole, so nobody may have changed it.
		err = w.Client.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		switch {
		case err == nil && !a.Done(node):
			return fmt.Errorf("%s: the node is not so afterwards", a.Describe())
		case err == nil || !apierrors.IsConflict(err):
			return wrapNode(err, name)
		}
	}
	return wrapNode(err, name)
}

func wrapNode(err error, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("changing node %s: %w", name, err)
}
