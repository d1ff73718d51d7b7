package proposal

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Over returns a client that reads the resources of changes as they would be stored, and everything else as it is, but for what
// the manifests have beside them. What it writes is written: a change that is carried out is stored first.
func Over(c client.Client, changes []*Change) client.Client {
	o := &over{Client: c, changes: changes}
	for _, change := range changes {
		o.beside = change.proposer.Beside
	}
	return o
}

// Nothing returns a client of an API server that has no objects and stores none.
func Nothing(scheme *runtime.Scheme) client.Client { return nothing{scheme: scheme} }

type nothing struct {
	client.Client
	scheme *runtime.Scheme
}

// Scheme implements client.Client.
func (n nothing) Scheme() *runtime.Scheme { return n.scheme }

// Get implements client.Client.
func (n nothing) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, n.scheme)
	if err != nil {
		return err
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
}

// List implements client.Client.
func (n nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// over is a client over changes that are not stored.
type over struct {
	client.Client
	changes []*Change
	beside  *Beside
}

// Get implements client.Client.
func (o *over) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	kind, err := kindOf(into, o.Scheme())
	if err != nil {
		return err
	}
	for _, c := range o.changes {
		if !c.isStored && c.Kind() == kind && c.Key() == key {
			return convert(c.Stored, into)
		}
	}
	err = o.Client.Get(ctx, key, into, options...)
	if namespace, is := into.(*corev1.Namespace); is && apierrors.IsNotFound(err) {
		if m := o.beside.manifest(named(namespaceKind, "", key.Name)); m != nil { // with its labels, which have rules for pods
			return convert(m, namespace)
		}
	}
	return err
}

// List implements client.Client. A resource that would be created is on the last page.
func (o *over) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if err := o.Client.List(ctx, into, options...); err != nil {
		return err
	}
	if classes, is := into.(*storagev1.StorageClassList); is {
		return o.withClasses(classes)
	}
	kind, err := kindOf(into, o.Scheme())
	if err != nil {
		return err
	}
	var asked client.ListOptions
	asked.ApplyOptions(options)
	var concerned []*Change
	for _, c := range o.changes {
		isIn := asked.Namespace == "" || asked.Namespace == c.Key().Namespace
		if !c.isStored && c.Kind()+"List" == kind && isIn {
			concerned = append(concerned, c)
		}
	}
	if len(concerned) == 0 {
		return nil
	}
	items, err := meta.ExtractList(into)
	if err != nil {
		return fmt.Errorf("read a list of %s: %w", kind, err)
	}
	_, untyped := into.(*unstructured.UnstructuredList)
	for _, c := range concerned {
		stored := client.Object(&unstructured.Unstructured{})
		if !untyped {
			stored = newOf(c.Kind())
		}
		if err := convert(c.Stored, stored); err != nil {
			return err
		}
		items = c.among(items, stored, into.GetContinue())
	}
	return meta.SetList(into, items)
}

// among returns the items of a list, or of one of its pages, with the resource as it would be stored.
func (c *Change) among(items []runtime.Object, stored client.Object, next string) []runtime.Object {
	i := slices.IndexFunc(items, func(item runtime.Object) bool {
		o, is := item.(client.Object)
		return is && client.ObjectKeyFromObject(o) == c.Key()
	})
	switch {
	case i >= 0:
		items[i] = stored
	case next == "" && c.Live == nil:
		items = append(items, stored)
	}
	return items
}

// IsStored reports whether the API server has the change.
func (c *Change) IsStored() bool { return c.isStored }

// kindOf returns the kind of an object or a list of this API group; empty for all others.
func kindOf(o runtime.Object, scheme *runtime.Scheme) (string, error) {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil || gvk.Group != v1beta2.GroupVersion.Group {
		return "", err
	}
	return gvk.Kind, nil
}

func convert(from *unstructured.Unstructured, into client.Object) error {
	if u, is := into.(*unstructured.Unstructured); is {
		u.Object = from.DeepCopy().Object
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.DeepCopy().Object, into); err != nil {
		return fmt.Errorf("decode %s %s: %w", from.GetKind(), from.GetName(), err)
	}
	return nil
}
