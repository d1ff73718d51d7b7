package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// readNamespaceObject reads a namespace. A Role in the namespace can allow that, and many do not: missing
// permission is a fact.
func readNamespaceObject(ctx context.Context, c client.Reader, name string) (facts plan.NamespaceObject, err error) {
	namespace := &corev1.Namespace{}
	err = c.Get(ctx, types.NamespacedName{Name: name}, namespace)
	switch {
	case hidden(err):
		facts.Hidden = "reading the namespace is forbidden"
	case apierrors.HasStatusCause(err, plan.CauseNotRecorded): // by a release that did not read namespaces
		facts.Hidden = "the dump does not have the namespace"
	case apierrors.IsNotFound(err): // in an API server that is not Kubernetes'
		facts.Hidden = "the namespace was not found"
	case err != nil:
		return facts, fmt.Errorf("read namespace %s: %w", name, err)
	default:
		facts.Object = namespace
	}
	return facts, nil
}

// readBoundVolumes reads the volumes of the PVCs that are being deleted, and no other: mostly none. They
// belong to no namespace, and many users may not read them.
func (r *reader) readBoundVolumes(ctx context.Context, claims map[string]*corev1.PersistentVolumeClaim) (volumes map[string]*corev1.PersistentVolume, why string, err error) {
	for _, claim := range claims {
		name := claim.Spec.VolumeName
		if claim.DeletionTimestamp == nil || name == "" {
			continue
		}
		volume := &corev1.PersistentVolume{}
		err := r.Client.Get(ctx, types.NamespacedName{Name: name}, volume)
		switch {
		case hidden(err):
			return nil, "reading PersistentVolumes is forbidden; manifests/rbac/read-volumes.yaml allows it", nil
		case apierrors.IsNotFound(err):
			continue // its policy is unknown
		case err != nil:
			return nil, "", fmt.Errorf("read PersistentVolume %s: %w", name, err)
		}
		if volumes == nil {
			volumes = map[string]*corev1.PersistentVolume{}
		}
		volumes[name] = volume
	}
	return volumes, "", nil
}

// notDeleted returns the check that refuses where the cluster is being deleted, with its namespace or
// alone; none otherwise. A backup or a restore of it goes on: it may be what keeps the data.
func (o *operators) notDeleted(ctx context.Context) ([]plan.Check, error) {
	if o.subject != "" {
		return nil, nil
	}
	namespace, err := readNamespaceObject(ctx, o.Client, o.Key.Namespace)
	if err != nil {
		return nil, err
	}
	s := plan.Snapshot{Cluster: o.known.cluster(), Namespace: namespace, Overrides: o.Overrides}
	if len(safety.Deletions(s)) == 0 {
		return nil, nil
	}
	return []plan.Check{safety.NotDeleted(s)}, nil
}
