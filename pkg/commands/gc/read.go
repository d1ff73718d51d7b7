package gc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// findings are what was found of a cluster.
type findings struct {
	key  types.NamespacedName
	view orphans.View
	// resource is the cluster; nil if it does not exist.
	resource *session.Cluster
	// session is nil if the resource does not exist.
	session session.Session
}

// reader reads the facts about one cluster.
type reader struct {
	env    *session.Env
	client client.Client
	key    types.NamespacedName
	facts  orphans.Facts
}

// read reads the cluster, or what is left of one.
func (o options) read(ctx context.Context, env *session.Env, key types.NamespacedName) (findings, error) {
	c, err := env.Client()
	if err != nil {
		return findings{}, err
	}
	r := reader{env: env, client: c, key: key, facts: orphans.Facts{Name: key.Name, Now: env.Clock.Now(), Users: map[string][]string{}, Unread: map[orphans.Subject]string{}, Chosen: o.pvcs}}
	found := findings{key: key}
	resource := &v1beta2.FoundationDBCluster{}
	switch err := c.Get(ctx, key, resource); {
	case apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
		err = r.readLeftovers(ctx)
		if err == nil && len(r.facts.Objects) == 0 && len(r.facts.Unread) == 0 {
			_, err = env.Read(ctx, c, key) // it names the clusters that exist
		}
		if err != nil {
			return findings{}, exit.CauseOf(ctx, err)
		}
	case err != nil:
		return findings{}, exit.CauseOf(ctx, fmt.Errorf("read FoundationDBCluster %s in namespace %s: %w", key.Name, key.Namespace, err))
	default:
		found.resource = resource
		if found.session, err = r.readCluster(ctx); err != nil {
			return findings{}, exit.CauseOf(ctx, err)
		}
	}
	found.view = orphans.NewView(env.Metadata(key), r.facts)
	return found, ctx.Err()
}

// readCluster reads a cluster whose resource exists.
func (r *reader) readCluster(ctx context.Context) (session.Session, error) {
	seen, err := session.ClusterReader{Env: r.env, Key: r.key, Asks: plan.Database}.Read(ctx)
	if err != nil {
		return nil, err
	}
	r.facts.Stored, r.facts.Seen = seen.Seen.Cluster, seen.Snapshot
	for _, pod := range seen.Seen.Pods {
		r.add(orphans.Pod, pod, podFacts(pod))
	}
	for _, claim := range seen.Seen.Volumes {
		r.add(orphans.PVC, claim, orphans.Object{})
	}
	for _, service := range seen.Seen.Services {
		r.add(orphans.Service, service, serviceFacts(service))
	}
	r.list(ctx, orphans.Subject(orphans.ConfigMap), &corev1.ConfigMapList{}, seen.Seen.Cluster.MatchLabels(), func(o client.Object) { r.add(orphans.ConfigMap, o, orphans.Object{}) })
	r.readUsers(ctx)
	return seen.Session, nil
}

// readLeftovers reads what has the labels of a cluster whose resource does not exist, and is selected by no
// other cluster of the namespace.
func (r *reader) readLeftovers(ctx context.Context) error {
	others, err := session.ClustersIn(ctx, r.client, r.key.Namespace)
	if err != nil {
		return err
	}
	add := func(kind orphans.Kind, facts func(client.Object) orphans.Object) func(client.Object) {
		return func(o client.Object) {
			for i := range others {
				if labels.SelectorFromSet(others[i].MatchLabels()).Matches(labels.Set(o.GetLabels())) {
					return
				}
			}
			r.add(kind, o, facts(o))
		}
	}
	none := func(client.Object) orphans.Object { return orphans.Object{} }
	of := map[string]string{v1beta2.LabelClusterName: r.key.Name}
	r.list(ctx, orphans.Subject(orphans.Pod), &corev1.PodList{}, of, add(orphans.Pod, func(o client.Object) orphans.Object { return podFacts(o.(*corev1.Pod)) }))
	r.list(ctx, orphans.Subject(orphans.PVC), &corev1.PersistentVolumeClaimList{}, of, add(orphans.PVC, none))
	r.list(ctx, orphans.Subject(orphans.Service), &corev1.ServiceList{}, of, add(orphans.Service, none))
	r.list(ctx, orphans.Subject(orphans.ConfigMap), &corev1.ConfigMapList{}, of, add(orphans.ConfigMap, none))
	r.readVolumes(ctx)
	r.readLease(ctx)
	return ctx.Err()
}

// list calls a function with each object of a kind with these labels; nil for all.
func (r *reader) list(ctx context.Context, subject orphans.Subject, empty client.ObjectList, of map[string]string, each func(client.Object)) {
	for next := ""; ; {
		page := empty.DeepCopyObject().(client.ObjectList) // a deep copy has the type of its original
		options := []client.ListOption{client.MatchingLabels(of), client.Limit(session.PageSize), client.Continue(next)}
		if subject != orphans.SubjectVolumes { // these are in no namespace
			options = append(options, client.InNamespace(r.key.Namespace))
		}
		if err := r.client.List(ctx, page, options...); err != nil {
			r.facts.Unread[subject] = err.Error()
			return
		}
		items, err := meta.ExtractList(page)
		if err != nil {
			r.facts.Unread[subject] = err.Error()
			return
		}
		for _, item := range items {
			if o, is := item.(client.Object); is {
				each(o)
			}
		}
		if next = page.GetContinue(); next == "" {
			return
		}
	}
}

// add adds an object, with what is known of its kind.
func (r *reader) add(kind orphans.Kind, o client.Object, facts orphans.Object) {
	owner := metav1.GetControllerOf(o)
	if c := r.facts.Stored; c != nil && c.FilterOnOwnerReference() && owner == nil {
		return // not an object of the cluster
	}
	facts.Kind, facts.Name, facts.UID, facts.ResourceVersion = kind, o.GetName(), string(o.GetUID()), o.GetResourceVersion()
	facts.Created, facts.Terminating = o.GetCreationTimestamp().Time, o.GetDeletionTimestamp() != nil
	label := v1beta2.LabelProcessGroupID
	if c := r.facts.Stored; c != nil {
		label = c.ProcessGroupIDLabels()[0]
	}
	facts.Group = v1beta2.ProcessGroupID(o.GetLabels()[label])
	if owner != nil {
		facts.Controller = &orphans.Controller{Kind: owner.Kind, Name: owner.Name, UID: string(owner.UID)}
	}
	r.facts.Objects = append(r.facts.Objects, facts)
}

func podFacts(pod *corev1.Pod) orphans.Object {
	o := orphans.Object{Ended: isEnded(pod)}
	for _, ip := range pod.Status.PodIPs {
		o.Addresses = append(o.Addresses, ip.IP)
	}
	if pod.Status.PodIP != "" {
		o.Addresses = append(o.Addresses, pod.Status.PodIP)
	}
	return o
}

func isEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == ""
}

func serviceFacts(service *corev1.Service) orphans.Object {
	var o orphans.Object
	for _, ip := range append([]string{service.Spec.ClusterIP}, service.Spec.ClusterIPs...) {
		if ip != "" && ip != corev1.ClusterIPNone {
			o.Addresses = append(o.Addresses, ip)
		}
	}
	return o
}

// readUsers reads which pods of the namespace mount PVCs. A pod that waits for a node is one of them.
func (r *reader) readUsers(ctx context.Context) {
	r.list(ctx, orphans.SubjectUsers, &corev1.PodList{}, nil, func(o client.Object) {
		if pod, is := o.(*corev1.Pod); is {
			r.addUser(pod)
		}
	})
	for _, pod := range r.facts.Seen.Pods {
		r.addUser(pod)
	}
}

func (r *reader) addUser(pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	for _, v := range pod.Spec.Volumes {
		if claim := v.PersistentVolumeClaim; claim != nil && !slices.Contains(r.facts.Users[claim.ClaimName], pod.Name) {
			r.facts.Users[claim.ClaimName] = append(r.facts.Users[claim.ClaimName], pod.Name)
		}
	}
}

// readVolumes reads which volumes belong, or belonged, to PVCs with the name of the cluster.
func (r *reader) readVolumes(ctx context.Context) {
	r.list(ctx, orphans.SubjectVolumes, &corev1.PersistentVolumeList{}, nil, func(o client.Object) {
		v, is := o.(*corev1.PersistentVolume)
		if is && v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Namespace == r.key.Namespace && strings.HasPrefix(v.Spec.ClaimRef.Name, r.key.Name+"-") {
			r.facts.Volumes = append(r.facts.Volumes, "volume/"+v.Name)
		}
	})
}

// readLease reads the Lease of runs on the cluster. Those of backups and restores have similar names.
func (r *reader) readLease(ctx context.Context) {
	if strings.HasPrefix(r.key.Name, "backup-") || strings.HasPrefix(r.key.Name, "restore-") {
		return
	}
	lease := &coordinationv1.Lease{}
	err := r.client.Get(ctx, types.NamespacedName{Namespace: r.key.Namespace, Name: live.LeaseName(r.key.Name)}, lease)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		r.facts.Unread[orphans.Subject(orphans.Lease)] = err.Error()
	default:
		o := orphans.Object{Holder: ptr.Deref(lease.Spec.HolderIdentity, "")}
		if lease.Spec.RenewTime != nil {
			o.Until = lease.Spec.RenewTime.Add(time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second)
		}
		r.add(orphans.Lease, lease, o)
	}
}
