package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Permission is a verb on a resource that a command uses in its namespace.
type Permission struct{ Verb, Group, Resource, Subresource string }

// String returns the permission in the notation of RBAC: "create pods/exec".
func (p Permission) String() string { return p.Verb + " " + p.Path() }

// Path returns the resource as kubectl writes it:
// "foundationdbclusters.apps.foundationdb.org/status".
func (p Permission) Path() string {
	resource := p.Resource
	if p.Group != "" {
		resource += "." + p.Group
	}
	if p.Subresource != "" {
		resource += "/" + p.Subresource
	}
	return resource
}

// Within returns the resource as rules of its group write it: "pods/exec".
func (p Permission) Within() string {
	if p.Subresource == "" {
		return p.Resource
	}
	return p.Resource + "/" + p.Subresource
}

// ViewPermissions are required to read all of a cluster, its database included.
func ViewPermissions() []Permission {
	return []Permission{
		{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
		{"list", "", "persistentvolumeclaims", ""},
		{"list", "", "services", ""},
		{"get", "", "configmaps", ""},
	}
}

// ToolPermissions are required to run programs in a cluster's pods.
func ToolPermissions() []Permission {
	return []Permission{
		{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
	}
}

// ReconcilePermissions are required by every pass.
func ReconcilePermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return []Permission{
		{"get", crd, "foundationdbclusters", ""},
		{"update", crd, "foundationdbclusters", "status"},
		{"list", "", "pods", ""},
		{"create", "", "pods", ""},
		{"patch", "", "pods", ""},
		{"delete", "", "pods", ""},
		{"create", "", "pods", "exec"},
		{"list", "", "persistentvolumeclaims", ""},
		{"create", "", "persistentvolumeclaims", ""},
		{"patch", "", "persistentvolumeclaims", ""},
		{"delete", "", "persistentvolumeclaims", ""},
		{"list", "", "services", ""},
		{"create", "", "services", ""},
		{"update", "", "services", ""},
		{"delete", "", "services", ""},
		{"get", "", "configmaps", ""},
		{"create", "", "configmaps", ""},
		{"update", "", "configmaps", ""},
		{"get", "coordination.k8s.io", "leases", ""},
		{"create", "coordination.k8s.io", "leases", ""},
		{"update", "coordination.k8s.io", "leases", ""},
	}
}

// FailoverPermissions are required to set the priorities of regions in the resources of a database, and
// to configure it.
func FailoverPermissions() []Permission {
	return append(ReconcilePermissions(), Permission{"list", v1beta2.GroupVersion.Group, "foundationdbclusters", ""}, Permission{"patch", v1beta2.GroupVersion.Group, "foundationdbclusters", ""})
}

// NamespacePermission is used to see that the namespace of a cluster is being deleted. A Role in that
// namespace can grant it.
func NamespacePermission() Permission { return Permission{"get", "", "namespaces", ""} }

// VolumePermissions are required to bind PVCs to released volumes again. Volumes are cluster-scoped.
func VolumePermissions() []Permission {
	return []Permission{{"get", "", "persistentvolumes", ""}, {"patch", "", "persistentvolumes", ""}}
}

// GarbagePermissions are required to delete objects without an owner.
func GarbagePermissions() []Permission {
	return []Permission{
		{"delete", "", "pods", ""}, {"delete", "", "services", ""}, {"delete", "", "configmaps", ""}, {"delete", "", "persistentvolumeclaims", ""}, {"delete", "coordination.k8s.io", "leases", ""},
	}
}

// DetectorPermissions are required to keep the CronJob of a failure detector; the first is
// required to read it.
func DetectorPermissions() []Permission {
	return []Permission{
		{"get", "batch", "cronjobs", ""}, {"create", "batch", "cronjobs", ""}, {"update", "batch", "cronjobs", ""}, {"delete", "batch", "cronjobs", ""},
	}
}

// BudgetPermissions are required to keep the PodDisruptionBudget of a cluster that requests one; the
// first is required to read it.
func BudgetPermissions() []Permission {
	return []Permission{
		{"list", "policy", "poddisruptionbudgets", ""}, {"create", "policy", "poddisruptionbudgets", ""}, {"update", "policy", "poddisruptionbudgets", ""}, {"delete", "policy", "poddisruptionbudgets", ""},
	}
}

// NamespacePermissions are required to find out which rule of a namespace refuses an object.
func NamespacePermissions() []Permission {
	return []Permission{{"list", "", "resourcequotas", ""}, {"list", "", "limitranges", ""}, {"get", "", "namespaces", ""}}
}

// EvictPermissions are required to delete pods by the eviction API.
func EvictPermissions() []Permission { return []Permission{{"create", "", "pods", "eviction"}} }

// DetectPermissions are required to detect failures: to update the status and to annotate the
// cluster.
func DetectPermissions() []Permission {
	return append(DatabasePermissions(), Permission{"patch", v1beta2.GroupVersion.Group, "foundationdbclusters", ""})
}

// DatabasePermissions are required to change the database and to update the status, and nothing
// else.
func DatabasePermissions() []Permission {
	return append(ViewPermissions(),
		Permission{"update", v1beta2.GroupVersion.Group, "foundationdbclusters", "status"},
		Permission{"get", "coordination.k8s.io", "leases", ""},
		Permission{"create", "coordination.k8s.io", "leases", ""},
		Permission{"update", "coordination.k8s.io", "leases", ""},
	)
}

// RunStatePermissions are required to keep the state of a runbook in a ConfigMap.
func RunStatePermissions() []Permission {
	return []Permission{{"get", "", "configmaps", ""}, {"create", "", "configmaps", ""}, {"update", "", "configmaps", ""}}
}

// WebhookPermissions are required by the eviction webhook, besides those to read a cluster.
func WebhookPermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return []Permission{
		{"get", "", "pods", ""},
		{"get", crd, "foundationdbclusters", ""},
		{"list", crd, "foundationdbclusters", ""},
		{"get", "coordination.k8s.io", "leases", ""},
		{"create", "coordination.k8s.io", "leases", ""},
		{"update", "coordination.k8s.io", "leases", ""},
	}
}

// WatchPermissions are required by --watch, besides those of every pass.
func WatchPermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return []Permission{
		{"list", crd, "foundationdbclusters", ""},
		{"watch", crd, "foundationdbclusters", ""},
		{"watch", "", "pods", ""},
		{"watch", "", "persistentvolumeclaims", ""},
		{"watch", "", "services", ""},
		{"list", "", "configmaps", ""},
		{"watch", "", "configmaps", ""},
	}
}

// WaitPermissions are used by a command that waits, to see changes at once. Without them it reads
// the cluster again after a while.
func WaitPermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return []Permission{
		{"list", crd, "foundationdbclusters", ""},
		{"watch", crd, "foundationdbclusters", ""},
		{"watch", "", "pods", ""},
		{"watch", "", "persistentvolumeclaims", ""},
	}
}

// MaySee verifies that a cluster may be read in Kubernetes. Without access to the database, its
// values are shown as unknown.
func MaySee(ctx context.Context, e *Env, namespace string) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	needs := slices.DeleteFunc(ViewPermissions(), func(p Permission) bool { return p.Subresource == "exec" })
	return refuseWithout(ctx, e, c, namespace, needs, "")
}

// MayDo verifies all required permissions of a command before anything is changed. All missing
// ones are in one error.
func MayDo(ctx context.Context, e *Env, namespace string, needs []Permission) error {
	if len(needs) == 0 {
		return nil
	}
	c, err := e.Client()
	if err != nil {
		return err
	}
	return refuseWithout(ctx, e, c, namespace, needs, " (nothing was changed)")
}

// refuseWithout returns an error with all missing permissions and what that means.
func refuseWithout(ctx context.Context, e *Env, c client.Client, namespace string, needs []Permission, meaning string) error {
	missing, err := MissingPermissions(ctx, c, namespace, needs)
	if err != nil {
		return fmt.Errorf("check permissions: %w", err)
	}
	if len(missing) == 0 {
		return nil
	}
	return &exit.Error{
		Code:  exit.ExitForbidden,
		Err:   fmt.Errorf("not permitted in namespace %s: %s%s", namespace, strings.Join(missing, ", "), meaning),
		Hints: []string{e.KubectlIn(namespace, "auth", "can-i", "--list")},
	}
}

// StorePermissions returns the permissions required to delete backup data that belongs to no
// other resource.
func StorePermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return append(resourcePermissions(),
		Permission{"get", crd, "foundationdbbackups", ""},
		Permission{"list", crd, "foundationdbbackups", ""},
		Permission{"get", "apps", "deployments", ""},
	)
}

// PausePermissions are required to set spec.skip.
func PausePermissions() []Permission {
	crd := v1beta2.GroupVersion.Group
	return []Permission{
		{"get", crd, "foundationdbclusters", ""},
		{"patch", crd, "foundationdbclusters", ""},
		{"get", "coordination.k8s.io", "leases", ""},
		{"create", "coordination.k8s.io", "leases", ""},
		{"update", "coordination.k8s.io", "leases", ""},
	}
}
