package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// pruner finds the resources that manifests do not have any more. It only reads.
type pruner struct {
	client.Client
	env *session.Env
	// kept are the resources of the manifests, as documents name them.
	kept map[types.NamespacedName]bool
}

// PlanPruned prints what the deletion of all resources of the namespace of the command would do: the manifests have none.
func PlanPruned(ctx context.Context, e *session.Env, o ReconcileOptions) error {
	namespace, err := e.Connection().Namespace()
	if err != nil {
		return err
	}
	list := planned.NewPlanList(e.Metadata(types.NamespacedName{Namespace: namespace}), nil)
	if list.Pruned, err = pruned(ctx, e, nil, namespace); err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := o.Printed().printAll(e, list); err != nil {
		return err
	}
	if len(list.Pruned) > 0 {
		return exit.AnswerError{Code: exit.ExitNo}
	}
	e.Logf("nothing to do: no FoundationDB resource is in the manifests, and none in namespace %s", namespace)
	return nil
}

// pruned returns the resources in the namespaces of changes, and in further ones, that none of the changes is for, and what
// their deletion would do.
func pruned(ctx context.Context, e *session.Env, all []Keyed, further ...string) (found []planned.Pruned, err error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	p, namespaces := pruner{c, e, map[types.NamespacedName]bool{}}, map[string]bool{}
	for _, namespace := range further {
		namespaces[namespace] = true
	}
	for _, k := range all {
		namespaces[k.Key.Namespace], p.kept[k.ResourceKind.Named(k.Key)] = true, true
	}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		in, err := p.in(ctx, namespace)
		if err != nil {
			return nil, err
		}
		found = append(found, in...)
	}
	return found, nil
}

// in returns those of a namespace: clusters, which take most with them, then backups and restores.
func (p pruner) in(ctx context.Context, namespace string) (all []planned.Pruned, err error) {
	clusters, err := session.ClustersIn(ctx, p, namespace)
	if err != nil {
		return nil, err
	}
	others := map[*session.ResourceKind][]client.Object{}
	for _, kind := range []*session.ResourceKind{session.BackupKind, session.RestoreKind} {
		if others[kind], err = kind.Resources(ctx, p, namespace); err != nil {
			return nil, err
		}
	}
	for i := range clusters {
		if p.kept[client.ObjectKeyFromObject(&clusters[i])] {
			continue
		}
		one, err := p.cluster(ctx, &clusters[i], others)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for _, kind := range []*session.ResourceKind{session.BackupKind, session.RestoreKind} {
		for _, o := range others[kind] {
			if p.kept[kind.Named(client.ObjectKeyFromObject(o))] {
				continue
			}
			one := p.of(kind, o)
			if b, is := o.(*v1beta2.FoundationDBBackup); is {
				one.DeletionPolicy = string(b.DeletionPolicy())
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// of returns what all kinds have.
func (p pruner) of(kind *session.ResourceKind, o client.Object) planned.Pruned {
	deleted := "foundationdbcluster"
	if kind != nil {
		deleted = strings.ToLower(kind.Kind)
	}
	return planned.Pruned{
		Delete:   p.env.KubectlIn(o.GetNamespace(), "delete", deleted, o.GetName()),
		Resource: kind.Named(client.ObjectKeyFromObject(o)).Name, Namespace: o.GetNamespace(), UID: string(o.GetUID()),
		AppliedBy: proposal.AppliedBy(o), Finalizers: o.GetFinalizers(),
	}
}

// cluster returns what goes with a cluster: its objects, by their owner, and the volumes of its PVCs.
func (p pruner) cluster(ctx context.Context, c *v1beta2.FoundationDBCluster, others map[*session.ResourceKind][]client.Object) (planned.Pruned, error) {
	one := p.of(nil, c)
	for _, kind := range []*session.ResourceKind{session.BackupKind, session.RestoreKind} {
		for _, o := range others[kind] {
			if kind.Cluster(o) == c.Name {
				one.Stops = append(one.Stops, kind.Named(client.ObjectKeyFromObject(o)).Name)
			}
		}
	}
	err := p.each(ctx, &corev1.PodList{}, c.Namespace, func(o client.Object) {
		if isOwnedBy(o, c) {
			one.Pods++
		}
	})
	if err != nil {
		return one, fmt.Errorf("list pods of %s: %w", c.Name, err)
	}
	claims := map[string]bool{}
	err = p.each(ctx, &corev1.PersistentVolumeClaimList{}, c.Namespace, func(o client.Object) {
		if claim, is := o.(*corev1.PersistentVolumeClaim); is && isOwnedBy(o, c) {
			if one.PVCs++; claim.Spec.VolumeName != "" {
				claims[claim.Spec.VolumeName] = true
			}
		}
	})
	if err != nil {
		return one, fmt.Errorf("list PVCs of %s: %w", c.Name, err)
	}
	p.volumes(ctx, &one, claims)
	return one, nil
}

// volumes sorts volumes by their reclaim policies. One that cannot be read is unknown.
func (p pruner) volumes(ctx context.Context, one *planned.Pruned, names map[string]bool) {
	if len(names) == 0 {
		return
	}
	err := p.each(ctx, &corev1.PersistentVolumeList{}, "", func(o client.Object) {
		v, is := o.(*corev1.PersistentVolume)
		switch {
		case !is || !names[v.Name]:
			return
		case v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain:
			one.RetainedVolumes = append(one.RetainedVolumes, v.Name)
		default: // Recycle deletes the data, too
			one.DeletedVolumes = append(one.DeletedVolumes, v.Name)
		}
		delete(names, v.Name)
	})
	if one.UnknownVolumes = slices.Sorted(maps.Keys(names)); len(names) > 0 {
		one.UnknownReason = "not found"
	}
	if err != nil {
		one.UnknownReason = exit.Explain(err)
	}
	slices.Sort(one.DeletedVolumes)
	slices.Sort(one.RetainedVolumes)
}

// each calls a function with each object of a list, page by page.
func (p pruner) each(ctx context.Context, page client.ObjectList, namespace string, found func(client.Object)) error {
	for next := ""; ; {
		if err := p.List(ctx, page, client.InNamespace(namespace), client.Limit(session.PageSize), client.Continue(next)); err != nil {
			return err
		}
		objects, err := meta.ExtractList(page)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if object, is := o.(client.Object); is {
				found(object)
			}
		}
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}

// isOwnedBy reports whether Kubernetes deletes an object with another one.
func isOwnedBy(o, owner client.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}
