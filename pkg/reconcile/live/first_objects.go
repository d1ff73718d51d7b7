package live

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readFirstObjects tries, by a dry run, one object of each kind and class that a cluster without process groups would
// get. Nothing is created.
func (r *reader) readFirstObjects(ctx context.Context, c *v1beta2.FoundationDBCluster) (plan.FirstObjectFacts, error) {
	facts := plan.FirstObjectFacts{Read: true}
	if len(c.Status.ProcessGroups) > 0 {
		return plan.FirstObjectFacts{}, nil
	}
	first, err := firstObjects(c)
	if err != nil { // the stage that makes the object reports it
		facts.Unknown = append(facts.Unknown, err.Error())
	}
	var claims []*corev1.PersistentVolumeClaim
	for _, o := range first {
		err := r.tryToCreate(ctx, o)
		if refused, is := errors.AsType[*reconcile.AdmissionError](err); is {
			facts.Refused = append(facts.Refused, refused.Refusal)
		} else if err != nil {
			facts.Unknown = append(facts.Unknown, err.Error())
		}
		if claim, is := o.(*corev1.PersistentVolumeClaim); is {
			claims = append(claims, claim)
		}
	}
	facts.NoClass, facts.ClassesHidden = r.missingClasses(ctx, claims)
	return facts, ctx.Err()
}

// firstObjects returns an object of each kind, and of each class where classes differ.
func firstObjects(c *v1beta2.FoundationDBCluster) ([]client.Object, error) {
	cm, err := objects.ConfigMap(c)
	if err != nil {
		return nil, err
	}
	all := []client.Object{cm}
	if headless := objects.HeadlessService(c); headless != nil {
		all = append(all, headless)
	}
	for _, class := range slices.Sorted(maps.Keys(c.DesiredProcessCounts())) {
		pod, claim, err := objects.Successor(c, class)
		if err != nil {
			return all, err
		}
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(class, v1beta2.MaxProcessGroupNumber), ProcessClass: class}
		if service := objects.GroupService(c, g); service != nil {
			all = append(all, service)
		}
		if claim != nil {
			all = append(all, claim)
		}
		all = append(all, pod)
	}
	return all, nil
}

// missingClasses returns the storage classes that PVCs name and that do not exist. A PersistentVolume may have the name
// of a class that does not exist: then PVCs bind to it.
func (r *reader) missingClasses(ctx context.Context, claims []*corev1.PersistentVolumeClaim) (missing []string, why string) {
	if len(claims) == 0 {
		return nil, ""
	}
	classes, volumes := &storagev1.StorageClassList{}, &corev1.PersistentVolumeList{}
	if err := r.Client.List(ctx, classes); err != nil {
		return nil, unreadBy("storage classes", "first-volumes", err)
	}
	for _, claim := range claims {
		if name, lacks := lacksClass(claim, classes.Items); lacks && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil, ""
	}
	if err := r.Client.List(ctx, volumes); err != nil {
		return nil, unreadBy("PersistentVolumes", "first-volumes", err)
	}
	return slices.DeleteFunc(missing, func(name string) bool {
		return slices.ContainsFunc(volumes.Items, func(v corev1.PersistentVolume) bool { return v.Spec.StorageClassName == name })
	}), ""
}

// lacksClass returns the storage class that a PVC names, and whether it does not exist.
func lacksClass(claim *corev1.PersistentVolumeClaim, classes []storagev1.StorageClass) (name string, lacks bool) {
	name = cmp.Or(claim.Annotations[corev1.BetaStorageClassAnnotation], ptr.Deref(claim.Spec.StorageClassName, ""))
	return name, name != "" && !slices.ContainsFunc(classes, func(c storagev1.StorageClass) bool { return c.Name == name })
}
