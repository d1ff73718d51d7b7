package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReadNodes makes Observe read nodes even if no rule of the spec needs them.
func (w *Cluster) ReadNodes() { w.known.requestNodes() }

func (k *known) requestNodes() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodesRequested = true
}

func (k *known) nodesNeeded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.nodesRequested
}

// nodeEdit is an action on a node.
type nodeEdit interface {
	Describe() string
	Done(n *corev1.Node) bool
	Edit(n *corev1.Node)
}

// nodeTries is how often an edit of a node is tried after a conflict: the kubelet of a node
// writes it all the time.
const nodeTries = 5

// editNode changes the current version of a node, without undoing any other change.
func (w *objectWriter) editNode(ctx context.Context, name string, a nodeEdit) error {
	var err error
	for range nodeTries {
		node := &corev1.Node{}
		if err := w.Client.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
			return fmt.Errorf("read node %s: %w", name, err)
		}
		if a.Done(node) {
			return nil
		}
		before := node.DeepCopy()
		a.Edit(node)
		// The list of taints is replaced as a whole, so it must not have changed.
		err = w.Client.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		switch {
		case err == nil && !a.Done(node):
			return fmt.Errorf("%s: the API server accepted the patch, but returned an unchanged node", a.Describe())
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
	return fmt.Errorf("change node %s: %w", name, err)
}
