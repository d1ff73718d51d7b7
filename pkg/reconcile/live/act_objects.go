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

// deletePods deletes the pods with the checked UIDs. It stops at the first that cannot be
// deleted: all were to be deleted together, and the next pass decides again.
func (w *objectWriter) deletePods(ctx context.Context, a plan.DeletePods) error {
	remove := w.deletePod
	if a.Evict {
		remove = w.evict
	}
	for _, pod := range a.Pods {
		if err := remove(ctx, pod.Name, pod.UID); err != nil {
			return err
		}
	}
	return nil
}

func (w *objectWriter) deletePod(ctx context.Context, name string, uid types.UID) error {
	return w.deleteOne(ctx, &corev1.Pod{}, name, uid)
}

// imagePatch is a strategic merge patch: containers are found by name, and what it does
// not name is unchanged. The UID makes it fail on another pod of the same name.
type imagePatch struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Spec struct {
		Containers []containerImage `json:"containers"`
	} `json:"spec"`
}

type containerImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

func (w *objectWriter) setSidecarImage(ctx context.Context, a plan.SetSidecarImage) error {
	var p imagePatch
	p.Metadata.UID = a.UID
	p.Spec.Containers = []containerImage{{Name: a.Container, Image: a.Image}}
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the image of pod %s: %w", a.Name, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: a.Name}}
	if err := w.Client.Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, text)); err != nil {
		return fmt.Errorf("set the image of container %s of pod %s: %w", a.Container, a.Name, err)
	}
	return nil
}

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
