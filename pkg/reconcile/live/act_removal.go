package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// exclude starts exclusions; it reads back that they are in force.
func (w *databaseWriter) exclude(ctx context.Context, a plan.Exclude) error {
	cli, _, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("exclude %s: %w", a.Subject(), err)
	}
	return cli.Exclude(ctx, a.Targets)
}

// deleteGroupObjects deletes the objects with the checked UIDs. A new object of the same name
// is not deleted.
func (w *objectWriter) deleteGroupObjects(ctx context.Context, a plan.DeleteGroupObjects) error {
	if a.Evict {
		if err := w.evict(ctx, a.Pod, a.UIDs[a.Pod]); err != nil {
			return err
		}
		a.Pod = ""
	}
	for _, o := range []struct {
		object client.Object
		name   string
		uid    types.UID
	}{
		{&corev1.Pod{}, a.Pod, a.UIDs[a.Pod]},
		{&corev1.PersistentVolumeClaim{}, a.Claim, a.UIDs[a.Claim]},
		{&corev1.Service{}, a.Service, a.UIDs["service/"+a.Service]},
	} {
		if o.name == "" {
			continue
		}
		if err := w.deleteOne(ctx, o.object, o.name, o.uid); err != nil {
			return err
		}
	}
	return nil
}

// deleteOne deletes the object with this name and UID. An object that is already deleted is a
// success.
func (w *objectWriter) deleteOne(ctx context.Context, object client.Object, name string, uid types.UID) error {
	object.SetNamespace(w.Key.Namespace)
	object.SetName(name)
	if err := w.Client.Delete(ctx, object, client.Preconditions(metav1.Preconditions{UID: &uid})); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", kindOf(object), name, err)
	}
	return nil
}

// includeAndForget ends exclusions, reads back that they have ended, and only then removes the
// process groups from the status: nothing else stores which exclusions to end.
func (w *databaseWriter) includeAndForget(ctx context.Context, a plan.IncludeAndForget) error {
	if len(a.Targets) > 0 {
		cli, _, err := w.db.open(ctx)
		if err != nil {
			return fmt.Errorf("include %s: %w", a.Subject(), err)
		}
		if err := cli.Include(ctx, a.Targets); err != nil {
			return err
		}
	}
	return w.status.editStatus(ctx, a.DropRecords)
}

// include ends exclusions; it reads back that they have ended.
func (w *databaseWriter) include(ctx context.Context, a plan.Include) error {
	cli, _, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("include %s: %w", a.Subject(), err)
	}
	return cli.Include(ctx, a.Targets)
}
