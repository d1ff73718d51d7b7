package recovery

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// leftoverReader reads what is left of a cluster whose resource may not exist.
type leftoverReader struct {
	env    *session.Env
	client client.Client
	facts  rebuild.Facts
}

// read reads all facts. What cannot be read is a fact; only the end of the context is an error.
func (r *leftoverReader) read(ctx context.Context) error {
	resource := &v1beta2.FoundationDBCluster{}
	switch err := r.client.Get(ctx, types.NamespacedName{Namespace: r.facts.Namespace, Name: r.facts.Name}, resource); {
	case err == nil:
		r.facts.Exists = true
	case !apierrors.IsNotFound(err):
		r.facts.Unread["whether the FoundationDBCluster exists"] = err.Error()
	}
	pods, claims, services := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}
	for kind, list := range map[string]client.ObjectList{"pods": pods, "PVCs": claims, "services": services} {
		if err := r.list(ctx, list); err != nil {
			r.facts.Unread[kind] = err.Error()
		}
	}
	r.facts.Pods, r.facts.Claims, r.facts.Services = pods.Items, claims.Items, services.Items
	r.readConfigMap(ctx)
	r.readVolumes(ctx)
	r.readStatus(ctx)
	return ctx.Err()
}

// list lists the objects with the label of the cluster.
func (r *leftoverReader) list(ctx context.Context, into client.ObjectList) error {
	return r.client.List(ctx, into, client.InNamespace(r.facts.Namespace), client.MatchingLabels{v1beta2.LabelClusterName: r.facts.Name})
}

func (r *leftoverReader) readConfigMap(ctx context.Context) {
	own, found := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: r.facts.Name}}, &corev1.ConfigMap{}
	switch err := r.client.Get(ctx, types.NamespacedName{Namespace: r.facts.Namespace, Name: own.ConfigMapName()}, found); {
	case err == nil:
		r.facts.ConfigMap = found
	case !apierrors.IsNotFound(err):
		r.facts.Unread["the contents of the ConfigMap"] = err.Error()
	}
}

// readVolumes reads the volumes that are, or were, of PVCs with the name of the cluster.
func (r *leftoverReader) readVolumes(ctx context.Context) {
	for next := ""; ; {
		page := &corev1.PersistentVolumeList{}
		if err := r.client.List(ctx, page, client.Limit(session.PageSize), client.Continue(next)); err != nil {
			r.facts.Unread["volumes"] = err.Error()
			return
		}
		for _, v := range page.Items {
			if ref := v.Spec.ClaimRef; ref != nil && ref.Namespace == r.facts.Namespace && strings.HasPrefix(ref.Name, r.facts.Name+"-") {
				r.facts.Volumes = append(r.facts.Volumes, v)
			}
		}
		if next = page.Continue; next == "" {
			return
		}
	}
}

// readStatus reads the status document of the database by programs of the pods.
func (r *leftoverReader) readStatus(ctx context.Context) {
	pods := map[string]*corev1.Pod{}
	for i := range r.facts.Pods {
		pods[r.facts.Pods[i].Name] = &r.facts.Pods[i]
	}
	var transports []admin.Transport
	for _, pod := range live.ToolPods(&v1beta2.FoundationDBCluster{}, pods) {
		t, err := r.env.Tool(pod, v1beta2.ContainerMain)
		if err != nil {
			r.facts.StatusUnknown = err.Error()
			return
		}
		transports = append(transports, t)
	}
	if len(transports) == 0 {
		r.facts.StatusUnknown = "no pod is ready"
		return
	}
	status, err := admin.NewFDBCLI(admin.NewFailover(transports...), admin.FDBCLIOptions{Clock: r.env.Clock}).Status(ctx)
	if err != nil {
		r.facts.StatusUnknown = err.Error()
		return
	}
	r.facts.SetStatus(status)
}
