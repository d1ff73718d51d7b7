package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Beside are the other objects of the manifests of changes. Whoever applies the manifests stores them together, so a plan
// assumes those to be stored that pods and PVCs name: the API server refuses a pod whose ServiceAccount does not exist.
// Nothing here stores them.
type Beside struct {
	objects []Manifest

	mu sync.Mutex
	// assumed are those that a plan needed, and that the API server does not have.
	assumed []*unstructured.Unstructured
}

// NewBeside returns the other objects of manifests.
func NewBeside(objects []Manifest) *Beside { return &Beside{objects: objects} }

// Assumed returns the objects that plans so far have assumed to be stored.
func (b *Beside) Assumed() (all []planned.AssumedObject) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.assumed {
		all = append(all, planned.AssumedObject{Kind: o.GetKind(), Name: o.GetName()})
	}
	return all
}

// refresh forgets the objects that exist by now.
func (b *Beside) refresh(ctx context.Context, c client.Client) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var still []*unstructured.Unstructured
	for _, o := range b.assumed {
		switch there, err := exists(ctx, c, o); {
		case err != nil:
			return err
		case !there:
			still = append(still, o)
		}
	}
	b.assumed = still
	return nil
}

// mayStore refuses to store a resource whose plan needs objects that do not exist: only the plan may assume them.
func (b *Beside) mayStore(title string) error {
	assumed := b.Assumed()
	if len(assumed) == 0 {
		return nil
	}
	return &exit.Error{
		Code:  exit.ExitRefused,
		Err:   fmt.Errorf("%s needs %s, which the manifests have and the API server does not", title, phrase.List(planned.AssumedWords(assumed))),
		Hints: []string{"store the other objects of the manifests first, by kubectl apply, then run the command again"},
	}
}

// manifest returns an object as the manifests have it; nil if they do not. One without a namespace is for that of the command.
func (b *Beside) manifest(o *unstructured.Unstructured) *unstructured.Unstructured {
	if b == nil {
		return nil
	}
	for _, m := range b.objects {
		namespace := m.Object.GetNamespace()
		if m.Object.GroupVersionKind() == o.GroupVersionKind() && m.Object.GetName() == o.GetName() && (namespace == "" || namespace == o.GetNamespace()) {
			return m.Object
		}
	}
	return nil
}

// assumes reports whether only the manifests have an object, and remembers it then.
func (b *Beside) assumes(ctx context.Context, c client.Client, o *unstructured.Unstructured) (bool, error) {
	if b.manifest(o) == nil {
		return false, nil
	}
	there, err := exists(ctx, c, o)
	if there || err != nil {
		return false, err
	}
	b.remember(o)
	return true, nil
}

func (b *Beside) remember(o *unstructured.Unstructured) {
	b.mu.Lock()
	defer b.mu.Unlock()
	same := func(other *unstructured.Unstructured) bool {
		return other.GroupVersionKind() == o.GroupVersionKind() && client.ObjectKeyFromObject(other) == client.ObjectKeyFromObject(o)
	}
	if !slices.ContainsFunc(b.assumed, same) {
		b.assumed = append(b.assumed, o)
	}
}

// exists reports whether the API server has an object. One that may not be read, and that the API server refuses other objects
// for, counts as missing.
func exists(ctx context.Context, c client.Client, o *unstructured.Unstructured) (bool, error) {
	switch err := c.Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopy()); {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return true, nil
}

// The kinds of objects that admission looks up for a resource, its pods and its PVCs.
var (
	namespaceKind      = corev1.SchemeGroupVersion.WithKind("Namespace")
	serviceAccountKind = corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	priorityClassKind  = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
	runtimeClassKind   = schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}
	storageClassKind   = storagev1.SchemeGroupVersion.WithKind("StorageClass")
)

func named(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// need is an object that admission looks up for a pod, and what leaves it out of the pod.
type need struct {
	object *unstructured.Unstructured
	omit   func(*corev1.PodSpec)
}

// needsOf returns what admission looks up for a pod.
func needsOf(pod *corev1.Pod) (all []need) {
	if name := pod.Spec.ServiceAccountName; name != "" {
		all = append(all, need{named(serviceAccountKind, pod.Namespace, name), func(s *corev1.PodSpec) { s.ServiceAccountName, s.DeprecatedServiceAccount = "", "" }})
	}
	if name := pod.Spec.PriorityClassName; name != "" {
		all = append(all, need{named(priorityClassKind, "", name), func(s *corev1.PodSpec) { s.PriorityClassName = "" }})
	}
	if name := pod.Spec.RuntimeClassName; name != nil {
		all = append(all, need{named(runtimeClassKind, "", *name), func(s *corev1.PodSpec) { s.RuntimeClassName = nil }})
	}
	return all
}

// Create implements client.Client. A pod that the API server refuses in a dry run is tried again without those of the objects
// it names that only the manifests have.
func (o *over) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	var asked client.CreateOptions
	asked.ApplyOptions(options)
	pod, isPod := object.(*corev1.Pod)
	if len(asked.DryRun) == 0 || !isPod || o.beside == nil {
		return o.Client.Create(ctx, object, options...)
	}
	refused := o.Client.Create(ctx, pod.DeepCopy(), options...)
	if refused == nil || apierrors.IsAlreadyExists(refused) {
		return refused
	}
	rest := pod.DeepCopy()
	omitted := false
	for _, n := range needsOf(pod) {
		assumed, err := o.beside.assumes(ctx, o.Client, n.object)
		if err != nil {
			return errors.Join(refused, err)
		}
		if assumed {
			omitted = true
			n.omit(&rest.Spec)
		}
	}
	if !omitted {
		return refused
	}
	return o.Client.Create(ctx, rest, options...)
}

// withClasses adds the storage classes that only the manifests have.
func (o *over) withClasses(into *storagev1.StorageClassList) error {
	if o.beside == nil {
		return nil
	}
	for _, m := range o.beside.objects {
		if m.Object.GroupVersionKind() != storageClassKind || slices.ContainsFunc(into.Items, func(c storagev1.StorageClass) bool { return c.Name == m.Object.GetName() }) {
			continue
		}
		o.beside.remember(named(storageClassKind, "", m.Object.GetName()))
		class := storagev1.StorageClass{}
		if err := convert(m.Object, &class); err != nil {
			return err
		}
		into.Items = append(into.Items, class)
	}
	return nil
}
