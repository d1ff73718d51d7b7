package live

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// objectWriter changes the Kubernetes objects of process groups, and nodes.
type objectWriter struct {
	*Options
	refusals *refusals
}

// create creates an object. An existing one of the same name is an error: it did not exist
// when the stage decided, so another client created it.
func (w *objectWriter) create(ctx context.Context, object client.Object) error {
	object = object.DeepCopyObject().(client.Object) // a deep copy has the type of its original
	if err := w.refusals.after(ctx, "create", object, w.Client.Create(ctx, object)); err != nil {
		return fmt.Errorf("create %s %s: %w", kindOf(object), object.GetName(), err)
	}
	return nil
}

func (w *objectWriter) applyConfigMap(ctx context.Context, a plan.ApplyConfigMap) error {
	if a.Create {
		return w.create(ctx, a.Object)
	}
	return w.update(ctx, a.Object.DeepCopy())
}

// update writes an object with the resource version that it was read with, so that a change
// by another client in between is a conflict and not lost.
func (w *objectWriter) update(ctx context.Context, object client.Object) error {
	if err := w.refusals.after(ctx, "update", object, w.Client.Update(ctx, object)); err != nil {
		return fmt.Errorf("update %s %s: %w", kindOf(object), object.GetName(), err)
	}
	return nil
}

func (w *objectWriter) applyService(ctx context.Context, a plan.ApplyService) error {
	switch a.Verb {
	case plan.CreateService:
		return w.create(ctx, a.Object)
	case plan.UpdateService:
		return w.update(ctx, a.Object.DeepCopy())
	case plan.ReplaceService:
		old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: a.Object.Namespace, Name: a.Object.Name}}
		if err := w.Client.Delete(ctx, old); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete service %s: %w", a.Name, err)
		}
		return w.create(ctx, a.Object)
	default:
		return fmt.Errorf("apply service %[2]s: unknown verb %[1]q", a.Verb, a.Name)
	}
}

// metadataPatch is a JSON merge patch. In one, null removes, so an empty map must be absent:
// "labels": null would remove every label.
type metadataPatch struct {
	Metadata struct {
		Labels      map[string]string  `json:"labels,omitempty"`
		Annotations map[string]*string `json:"annotations,omitempty"`
	} `json:"metadata"`
}

func patchOf(a plan.PatchMetadata) metadataPatch {
	var p metadataPatch
	p.Metadata.Labels = a.Labels
	p.Metadata.Annotations = map[string]*string{}
	for key, value := range a.Annotations {
		p.Metadata.Annotations[key] = &value
	}
	for _, key := range a.Remove {
		p.Metadata.Annotations[key] = nil
	}
	return p
}

// patchMetadata sends only what changes, so it never undoes changes by other clients.
func (w *objectWriter) patchMetadata(ctx context.Context, a plan.PatchMetadata) error {
	patch, err := json.Marshal(patchOf(a))
	if err != nil {
		return fmt.Errorf("encode the metadata of %s: %w", a.Subject(), err)
	}
	object := w.objectOf(a)
	if err := w.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("patch %s: %w", a.Subject(), err)
	}
	return nil
}

func (w *objectWriter) objectOf(a plan.PatchMetadata) client.Object {
	meta := metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: a.Name}
	if a.Kind == plan.KindPVC {
		return &corev1.PersistentVolumeClaim{ObjectMeta: meta}
	}
	return &corev1.Pod{ObjectMeta: meta}
}
