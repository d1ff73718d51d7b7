// Package priorities writes the priorities of regions into resources.
package priorities

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// patchOperation is an operation of a JSON patch.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Set sets the priorities in one resource of the namespace after the other, that of the pass last, so that
// an interrupted action is decided on again. It calls remember with the changed resource of the pass.
func Set(ctx context.Context, c client.Client, namespace string, a plan.SetPriorities, remember func(*v1beta2.FoundationDBCluster)) error {
	for _, r := range a.Resources {
		changed, err := setOf(ctx, c, namespace, r)
		if err != nil {
			return err
		}
		if r.Name == a.Cluster {
			remember(changed)
		}
	}
	return nil
}

// setOf patches single fields of a resource, if it did not change since it was decided on, and reads them
// back.
func setOf(ctx context.Context, c client.Client, namespace string, r plan.RegionsResource) (*v1beta2.FoundationDBCluster, error) {
	stored := &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: r.Name}, stored); err != nil {
		return nil, fmt.Errorf("read FoundationDBCluster %s: %w", r.Name, err)
	}
	moved := apierrors.NewConflict(v1beta2.GroupVersion.WithResource("foundationdbclusters").GroupResource(), r.Name, fmt.Errorf("its spec changed since the decision"))
	if stored.UID != r.UID || stored.Generation != r.Generation {
		return nil, fmt.Errorf("set priorities of regions: %w", moved)
	}
	patch, err := json.Marshal(patchOf(stored, r))
	if err != nil {
		return nil, err
	}
	changed := stored.DeepCopy()
	if err := c.Patch(ctx, changed, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		if apierrors.IsInvalid(err) { // a test of the patch failed
			err = moved
		}
		return nil, fmt.Errorf("set priorities of regions of FoundationDBCluster %s: %w", r.Name, err)
	}
	if left, differs := plan.NewRegionsResource(changed, r.Regions); differs {
		return nil, fmt.Errorf("set priorities of regions of FoundationDBCluster %s: the API server accepted the patch, but %s is %d", r.Name, left.Changes[0].Path, left.Changes[0].From)
	}
	return changed, nil
}

// patchOf returns the patch of the priorities, for this version of the resource alone.
func patchOf(stored *v1beta2.FoundationDBCluster, r plan.RegionsResource) []patchOperation {
	patch := []patchOperation{{Op: "test", Path: "/metadata/resourceVersion", Value: stored.ResourceVersion}}
	for i, region := range stored.Spec.DatabaseConfiguration.Regions {
		for j, dc := range region.Datacenters {
			if want := r.Regions[i].Datacenters[j].Priority; want != dc.Priority {
				patch = append(patch, patchOperation{Op: "add", Path: fmt.Sprintf("/spec/databaseConfiguration/regions/%d/datacenters/%d/priority", i, j), Value: want})
			}
		}
	}
	return patch
}
