package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ParallelReviews bounds how many permissions are checked concurrently.
const ParallelReviews = 10

// MissingPermissions returns the permissions that the API server would refuse. One request reads
// the user's rules in the namespace; where the API server cannot list all of them, for instance
// since a webhook authorizes, each permission is reviewed.
func MissingPermissions(ctx context.Context, c client.Client, namespace string, needs []Permission) ([]string, error) {
	if namespace == "" { // the API server lists the rules of one namespace
		return reviewEach(ctx, c, namespace, needs)
	}
	r := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if err := c.Create(ctx, r); err != nil {
		return nil, err
	}
	if r.Status.Incomplete {
		return reviewEach(ctx, c, namespace, needs)
	}
	var missing []string
	for _, p := range needs {
		if !givenBy(r.Status.ResourceRules, p) {
			missing = append(missing, p.String())
		}
	}
	return missing, nil
}

// givenBy reports whether rules give a permission on all objects, whatever their names.
func givenBy(all []authorizationv1.ResourceRule, p Permission) bool {
	var rules []rbacv1.PolicyRule
	for _, r := range all {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	needed := rbacv1.PolicyRule{Verbs: []string{p.Verb}, APIGroups: []string{p.Group}, Resources: []string{p.Within()}}
	covered, _ := validation.Covers(rules, []rbacv1.PolicyRule{needed})
	return covered
}

// reviewEach returns those of several permissions that are not given.
func reviewEach(ctx context.Context, c client.Client, namespace string, needs []Permission) ([]string, error) {
	allowed := make([]bool, len(needs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ParallelReviews)
	for i, p := range needs {
		group.Go(func() error {
			return reconcile.Guarded(func() (err error) {
				allowed[i], err = Review(ctx, c, namespace, p)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var missing []string
	for i, p := range needs {
		if !allowed[i] {
			missing = append(missing, p.String())
		}
	}
	return missing, nil
}

// Review asks the API server whether a permission is given.
func Review(ctx context.Context, c client.Client, namespace string, p Permission) (bool, error) {
	r := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: p.Verb, Group: p.Group, Resource: p.Resource, Subresource: p.Subresource,
		},
	}}
	if err := c.Create(ctx, r); err != nil {
		return false, err
	}
	return r.Status.Allowed, nil
}

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
