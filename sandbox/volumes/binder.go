// Package volumes gives pods their directories: it binds claims to volumes
// made on demand, reclaims them, and projects config maps, secrets, tokens and
// pod fields into files. It never touches a directory outside the sandbox's own.
package volumes

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

// Provisioner is the name by which storage classes select the sandbox's volumes.
const Provisioner = "sandbox.kubectl-fdb/directory"

const (
	provisionedBy = "pv.kubernetes.io/provisioned-by"
	bindCompleted = "pv.kubernetes.io/bind-completed" // without it the scheduler considers a claim unbound
	selectedNode  = "volume.kubernetes.io/selected-node"
	isDefault     = "storageclass.kubernetes.io/is-default-class"
)

// Binder does the work of the volume controller and a provisioner.
type Binder struct {
	client  kubernetes.Interface
	dir     string
	log     *slog.Logger
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	nodes   corelisters.NodeLister
	classes storagelisters.StorageClassLister
	synced  []cache.InformerSynced
	wake    chan struct{}
}

// NewBinder returns a binder that keeps every volume in a directory of its own below dir.
func NewBinder(client kubernetes.Interface, f informers.SharedInformerFactory, dir string, log *slog.Logger) (*Binder, error) {
	core, storage := f.Core().V1(), f.Storage().V1()
	b := &Binder{
		client: client, dir: dir, log: log, wake: make(chan struct{}, 1),
		claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(),
		nodes: core.Nodes().Lister(), classes: storage.StorageClasses().Lister(),
	}
	for _, informer := range []cache.SharedIndexInformer{
		core.PersistentVolumeClaims().Informer(), core.PersistentVolumes().Informer(), storage.StorageClasses().Informer(), core.Nodes().Informer(),
	} {
		handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { b.trigger() }, UpdateFunc: func(any, any) { b.trigger() }, DeleteFunc: func(any) { b.trigger() },
		})
		if err != nil {
			return nil, fmt.Errorf("watch volumes: %w", err)
		}
		b.synced = append(b.synced, handle.HasSynced)
	}
	return b, nil
}

func (b *Binder) trigger() {
	select {
	case b.wake <- struct{}{}:
	default: // a pass is due already
	}
}

// EnsureClasses makes the sandbox's storage classes: "standard", the default,
// binds at once; "standard-wait" waits for the first pod.
func EnsureClasses(ctx context.Context, client kubernetes.Interface) error {
	for name, mode := range map[string]storagev1.VolumeBindingMode{
		"standard": storagev1.VolumeBindingImmediate, "standard-wait": storagev1.VolumeBindingWaitForFirstConsumer,
	} {
		expandable := true
		class := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: Provisioner,
			VolumeBindingMode: &mode, AllowVolumeExpansion: &expandable,
		}
		if mode == storagev1.VolumeBindingImmediate {
			class.Annotations = map[string]string{isDefault: "true"}
		}
		_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create storage class %s: %w", name, err)
		}
	}
	return nil
}

// retryInterval is how often the binder checks everything without a change.
const retryInterval = 2 * time.Second

// Run binds, grows and reclaims until ctx ends.
func (b *Binder) Run(ctx context.Context) {
	if !cache.WaitForCacheSync(ctx.Done(), b.synced...) {
		return
	}
	retry := time.NewTicker(retryInterval)
	defer retry.Stop()
	for {
		b.pass(ctx)
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		case <-b.wake:
		}
	}
}

func (b *Binder) pass(ctx context.Context) {
	claims, err := b.claims.List(labels.Everything())
	if err != nil {
		b.log.Error("cannot list PVCs", "error", err)
	}
	for _, c := range claims {
		if err := b.serve(ctx, c); err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
			b.log.Error("serving claim", "claim", c.Namespace+"/"+c.Name, "error", err)
		}
	}
	volumes, err := b.volumes.List(labels.Everything())
	if err != nil {
		b.log.Error("cannot list volumes", "error", err)
	}
	for _, v := range volumes {
		if err := b.reclaim(ctx, v); err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
			b.log.Error("reclaiming volume", "volume", v.Name, "error", err)
		}
	}
}

func (b *Binder) serve(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	if c.DeletionTimestamp != nil {
		return nil
	}
	if c.Status.Phase == corev1.ClaimBound {
		return b.grow(ctx, c)
	}
	class, ours := b.classOf(c)
	if !ours {
		return nil
	}
	if c.Spec.VolumeName != "" {
		return b.bindNamed(ctx, c)
	}
	if waitsForPod(class, c) {
		return nil
	}
	volume, err := b.ensureVolume(ctx, c, class)
	if err != nil {
		return err
	}
	return b.bind(ctx, c, volume)
}

// classOf is the claim's storage class, when that is one of the sandbox's.
func (b *Binder) classOf(c *corev1.PersistentVolumeClaim) (*storagev1.StorageClass, bool) {
	if c.Spec.StorageClassName == nil {
		return nil, false
	}
	class, err := b.classes.Get(*c.Spec.StorageClassName)
	return class, err == nil && class.Provisioner == Provisioner
}

// bindNamed binds a claim to the volume that it names, if that is free, or reserved for this claim:
// a volume whose reference has the UID of another claim is of that one, even after it was deleted.
func (b *Binder) bindNamed(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	v, err := b.client.CoreV1().PersistentVolumes().Get(ctx, c.Spec.VolumeName, metav1.GetOptions{}) // the cache may lag behind
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	ref := v.Spec.ClaimRef
	if ref != nil && (ref.Namespace != c.Namespace || ref.Name != c.Name || ref.UID != "" && ref.UID != c.UID) {
		return nil
	}
	if v.Spec.StorageClassName != *c.Spec.StorageClassName {
		return nil
	}
	if ref == nil || ref.UID == "" {
		v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
		if v, err = b.client.CoreV1().PersistentVolumes().Update(ctx, v, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return b.bind(ctx, c, v)
}

func waitsForPod(class *storagev1.StorageClass, c *corev1.PersistentVolumeClaim) bool {
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	return waits && c.Annotations[selectedNode] == ""
}

func (b *Binder) ensureVolume(ctx context.Context, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (*corev1.PersistentVolume, error) {
	name := "pvc-" + string(c.UID)
	if v, err := b.volumes.Get(name); err == nil {
		return v, nil
	}
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("create volume directory: %w", err)
	}
	v, err := b.client.CoreV1().PersistentVolumes().Create(ctx, b.volumeFor(c, class, path), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return b.client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
	}
	return v, err
}

func (b *Binder) volumeFor(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, path string) *corev1.PersistentVolume {
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	kind := corev1.HostPathDirectory
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: filepath.Base(path), Annotations: map[string]string{provisionedBy: Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]}, AccessModes: c.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: policy, StorageClassName: class.Name, VolumeMode: c.Spec.VolumeMode,
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind},
			},
			NodeAffinity: b.zoneOf(c.Annotations[selectedNode]),
		},
	}
}

// zoneOf ties a volume to the zone of the node its first pod was put on, as cloud disks are.
func (b *Binder) zoneOf(node string) *corev1.VolumeNodeAffinity {
	n, err := b.nodes.Get(node)
	if node == "" || err != nil || n.Labels[corev1.LabelTopologyZone] == "" {
		return nil
	}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{n.Labels[corev1.LabelTopologyZone]},
		}},
	}}}}
}

func (b *Binder) bind(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	if v.Status.Phase != corev1.VolumeBound {
		v = v.DeepCopy()
		v.Status.Phase = corev1.VolumeBound
		if _, err := b.client.CoreV1().PersistentVolumes().UpdateStatus(ctx, v, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	claims := b.client.CoreV1().PersistentVolumeClaims(c.Namespace)
	c = c.DeepCopy()
	if c.Annotations[bindCompleted] == "" {
		c.Spec.VolumeName = v.Name
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, bindCompleted, "yes")
		updated, err := claims.Update(ctx, c, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		c = updated
	}
	c.Status.Phase, c.Status.AccessModes, c.Status.Capacity = corev1.ClaimBound, v.Spec.AccessModes, v.Spec.Capacity
	_, err := claims.UpdateStatus(ctx, c, metav1.UpdateOptions{})
	return err
}

// grow resizes the volume of a claim whose request was raised.
func (b *Binder) grow(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	want, have := c.Spec.Resources.Requests[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
	if want.Cmp(have) <= 0 {
		return nil
	}
	v, err := b.volumes.Get(c.Spec.VolumeName)
	if err != nil || v.Annotations[provisionedBy] != Provisioner {
		return nil //nolint:nilerr // a volume of another provisioner is not changed
	}
	v = v.DeepCopy()
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: want}
	if _, err := b.client.CoreV1().PersistentVolumes().Update(ctx, v, metav1.UpdateOptions{}); err != nil {
		return err
	}
	c = c.DeepCopy()
	c.Status.Capacity = v.Spec.Capacity
	_, err = b.client.CoreV1().PersistentVolumeClaims(c.Namespace).UpdateStatus(ctx, c, metav1.UpdateOptions{})
	return err
}

// reclaim deletes a volume, or releases one that is to be kept, once its claim is
// deleted.
func (b *Binder) reclaim(ctx context.Context, v *corev1.PersistentVolume) error {
	if v.Annotations[provisionedBy] != Provisioner || v.Spec.ClaimRef == nil {
		return nil
	}
	if v.Spec.ClaimRef.UID == "" {
		return b.reserve(ctx, v)
	}
	deleted, err := b.claimDeleted(ctx, v.Spec.ClaimRef)
	if err != nil || !deleted {
		return err
	}
	if v.Status.Phase != corev1.VolumeReleased {
		v = v.DeepCopy()
		v.Status.Phase = corev1.VolumeReleased
		if v, err = b.client.CoreV1().PersistentVolumes().UpdateStatus(ctx, v, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain {
		return nil
	}
	return b.destroy(ctx, v)
}

// reserve makes a volume available that names a claim without its UID: to a claim of that name only.
func (b *Binder) reserve(ctx context.Context, v *corev1.PersistentVolume) error {
	if v.Status.Phase == corev1.VolumeAvailable {
		return nil
	}
	v, err := b.client.CoreV1().PersistentVolumes().Get(ctx, v.Name, metav1.GetOptions{}) // the cache may lag behind
	if err != nil || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != "" {
		return err
	}
	v.Status.Phase = corev1.VolumeAvailable
	_, err = b.client.CoreV1().PersistentVolumes().UpdateStatus(ctx, v, metav1.UpdateOptions{})
	return err
}

func (b *Binder) claimDeleted(ctx context.Context, ref *corev1.ObjectReference) (bool, error) {
	if c, err := b.claims.PersistentVolumeClaims(ref.Namespace).Get(ref.Name); err == nil && c.UID == ref.UID {
		return false, nil
	}
	c, err := b.client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}) // the cache may lag behind
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && c.UID != ref.UID, err
}

func (b *Binder) destroy(ctx context.Context, v *corev1.PersistentVolume) error {
	if path := v.Spec.HostPath.Path; filepath.Dir(path) == b.dir {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove volume directory: %w", err)
		}
	}
	err := b.client.CoreV1().PersistentVolumes().Delete(ctx, v.Name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Directory is where one of the sandbox's volumes keeps its files.
func Directory(v *corev1.PersistentVolume) (string, error) {
	if v.Annotations[provisionedBy] != Provisioner || v.Spec.HostPath == nil {
		return "", fmt.Errorf("persistentvolume %q is not one of the sandbox's", v.Name)
	}
	return v.Spec.HostPath.Path, nil
}
