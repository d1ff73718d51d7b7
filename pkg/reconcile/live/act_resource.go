package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// statusWriter changes the custom resource.
type statusWriter struct {
	*Options
	known *known
}

// writeStatus writes the status of the cluster version that was read. If it has changed since,
// the API server refuses, and the next pass decides on the new one.
func (w *statusWriter) writeStatus(ctx context.Context, a plan.WriteStatus) error {
	return w.editStatus(ctx, func(s plan.Snapshot) plan.Snapshot { return a.Apply(s) })
}

// editStatus applies an edit to the cluster as the API server has it. The spec is not changed:
// the normalized one is never written.
func (w *statusWriter) editStatus(ctx context.Context, edit func(plan.Snapshot) plan.Snapshot) error {
	cluster := w.known.cluster()
	if cluster == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	edited := edit(plan.Snapshot{Cluster: cluster.DeepCopy()}).Cluster
	if err := w.Client.Status().Update(ctx, edited); err != nil {
		return fmt.Errorf("write the status of FoundationDBCluster %s: %w", cluster.Name, err)
	}
	w.known.remember(edited)
	return nil
}

func (k *known) remember(cluster *v1beta2.FoundationDBCluster) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.resource = cluster
}

// setSkip patches spec.skip and the annotations of the pause. The patch has no other field, so
// that the spec stays as its owner wrote it, without defaults.
func (w *statusWriter) setSkip(ctx context.Context, a plan.SetSkip) error {
	cluster := w.known.cluster()
	if cluster == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": a.Annotations()},
		"spec":     map[string]any{"skip": a.Skip},
	})
	if err != nil {
		return err
	}
	changed := cluster.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("set spec.skip of FoundationDBCluster %s: %w", cluster.Name, err)
	}
	if changed.Spec.Skip != a.Skip {
		return fmt.Errorf("set spec.skip of FoundationDBCluster %s: the API server accepted the patch, but returned %t", cluster.Name, changed.Spec.Skip)
	}
	w.known.remember(changed)
	return nil
}
