package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readDetector reads the CronJob of the failure detector. Missing permission is a fact: most
// clusters have no failure detector, and their users need no permission for CronJobs.
func (r *reader) readDetector(ctx context.Context, c *v1beta2.FoundationDBCluster) (plan.DetectorFacts, error) {
	job, name := &batchv1.CronJob{}, objects.FailureDetectorName(c)
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return plan.DetectorFacts{}, nil
	case hidden(err):
		return plan.DetectorFacts{Hidden: "reading CronJobs is forbidden; manifests/rbac/reconcile.yaml allows it"}, nil
	case err != nil:
		return plan.DetectorFacts{}, fmt.Errorf("read CronJob %s: %w", name, err)
	default:
		return plan.DetectorFacts{Job: job}, nil
	}
}

// recordFailures patches one annotation of the cluster, and nothing of its spec.
func (w *statusWriter) recordFailures(ctx context.Context, a plan.RecordFailures) error {
	cluster := w.known.cluster()
	if cluster == nil {
		return errors.New("the FoundationDBCluster was not read yet")
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta2.AnnotationFailuresSeen: a.Value()}}})
	if err != nil {
		return err
	}
	changed := cluster.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("record failures on FoundationDBCluster %s: %w", cluster.Name, err)
	}
	if got := changed.Annotations[v1beta2.AnnotationFailuresSeen]; got != a.Value() {
		return fmt.Errorf("record failures on FoundationDBCluster %s: the API server accepted the annotation, but returned %q", cluster.Name, got)
	}
	w.known.remember(changed)
	return nil
}
