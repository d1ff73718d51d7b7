package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ReadNamespace reads the rules of a namespace. What cannot be read is a fact.
func ReadNamespace(ctx context.Context, c client.Reader, namespace string) plan.NamespaceFacts {
	var facts plan.NamespaceFacts
	quotas, limits, it := &corev1.ResourceQuotaList{}, &corev1.LimitRangeList{}, &corev1.Namespace{}
	if err := c.List(ctx, quotas, client.InNamespace(namespace)); err != nil {
		facts.QuotasHidden = unread("ResourceQuotas", err)
	}
	if err := c.List(ctx, limits, client.InNamespace(namespace)); err != nil {
		facts.LimitsHidden = unread("LimitRanges", err)
	}
	if err := c.Get(ctx, client.ObjectKey{Name: namespace}, it); err != nil {
		facts.PodSecurityHidden = unread("the namespace", err)
	}
	facts.Quotas, facts.Limits, facts.PodSecurity = quotas.Items, limits.Items, it.Labels[admission.LabelPodSecurity]
	return facts
}

func unread(what string, err error) string { return unreadBy(what, "reconcile", err) }

// unreadBy returns why something could not be read, with the manifest that allows it.
func unreadBy(what, manifest string, err error) string {
	if hidden(err) {
		return "reading " + what + " is forbidden; manifests/rbac/" + manifest + ".yaml allows it"
	}
	return fmt.Sprintf("cannot read %s: %v", what, err)
}

// readSuccessors tries, by a dry run, whether one more process group of each class would get its objects, and reads
// what decides about more of them. Nothing is created.
func (r *reader) readSuccessors(ctx context.Context, c *v1beta2.FoundationDBCluster) (plan.SuccessorFacts, error) {
	facts := plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{}, Unknown: map[v1beta2.ProcessClass]string{}}
	tried := map[v1beta2.ProcessClass]bool{}
	for _, g := range c.Status.ProcessGroups {
		if tried[g.ProcessClass] || g.IsMarkedForRemoval() {
			continue
		}
		tried[g.ProcessClass] = true
		err := r.trySuccessor(ctx, c, g.ProcessClass)
		if refused, is := errors.AsType[*reconcile.AdmissionError](err); is {
			facts.Refused[g.ProcessClass] = refused.Refusal
		} else if err != nil {
			facts.Unknown[g.ProcessClass] = err.Error()
		}
	}
	if len(tried) > 0 {
		facts.Namespace = ReadNamespace(ctx, r.Client, c.Namespace)
	}
	return facts, ctx.Err()
}

func (r *reader) trySuccessor(ctx context.Context, c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) error {
	pod, claim, err := objects.Successor(c, class)
	if err != nil {
		return err
	}
	// The pod first: its refusal keeps running pods from being recreated as well.
	if err := r.tryToCreate(ctx, pod); err != nil || claim == nil {
		return err
	}
	return r.tryToCreate(ctx, claim)
}

// tryToCreate submits an object as a dry run. One that exists was accepted before. A bad request shows nothing about
// the object: a webhook that does not support dry runs refuses each of them so.
func (r *reader) tryToCreate(ctx context.Context, o client.Object) error {
	o = o.DeepCopyObject().(client.Object) // a deep copy has the type of its original
	err := r.Client.Create(ctx, o, client.DryRunAll)
	switch {
	case err == nil || apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsBadRequest(err):
		return err
	}
	return (&refusals{Options: r.Options}).explain(ctx, "create", o, err)
}

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
