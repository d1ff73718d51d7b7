package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// setSkip patches spec.skip and the annotations of the pause. The patch has no other field, so
// that the spec stays as its owner wrote it, without defaults.
func (w *World) setSkip(ctx context.Context, a plan.SetSkip) error {
	w.mu.Lock()
	record := w.record
	w.mu.Unlock()
	if record == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": a.Annotations()},
		"spec":     map[string]any{"skip": a.Skip},
	})
	if err != nil {
		return err
	}
	changed := record.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("set spec.skip of FoundationDBCluster %s: %w", record.Name, err)
	}
	if changed.Spec.Skip != a.Skip {
		return fmt.Errorf("set spec.skip of FoundationDBCluster %s: the API server accepted the patch, but returned %t", record.Name, changed.Spec.Skip)
	}
	w.remember(changed)
	return nil
}
