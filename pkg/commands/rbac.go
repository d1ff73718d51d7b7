package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// permission is a verb on a resource that a command uses in its namespace.
type permission struct{ verb, group, resource, subresource string }

// String returns the permission in the notation of RBAC: "create pods/exec".
func (p permission) String() string { return p.verb + " " + p.path() }

// path returns the resource as kubectl writes it:
// "foundationdbclusters.apps.foundationdb.org/status".
func (p permission) path() string {
	resource := p.resource
	if p.group != "" {
		resource += "." + p.group
	}
	if p.subresource != "" {
		resource += "/" + p.subresource
	}
	return resource
}

// within returns the resource as rules of its group write it: "pods/exec".
func (p permission) within() string {
	if p.subresource == "" {
		return p.resource
	}
	return p.resource + "/" + p.subresource
}

// viewPermissions are required to read all of a cluster, its database included.
func viewPermissions() []permission {
	return []permission{
		{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
		{"list", "", "persistentvolumeclaims", ""},
		{"list", "", "services", ""},
		{"get", "", "configmaps", ""},
	}
}

// toolPermissions are required to run programs in a cluster's pods.
func toolPermissions() []permission {
	return []permission{
		{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
	}
}

// reconcilePermissions are required by every pass.
func reconcilePermissions() []permission {
	crd := v1beta2.GroupVersion.Group
	return []permission{
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

// detectorPermissions are required to keep the CronJob of a failure detector; the first is
// required to read it.
func detectorPermissions() []permission {
	return []permission{
		{"get", "batch", "cronjobs", ""}, {"create", "batch", "cronjobs", ""}, {"update", "batch", "cronjobs", ""}, {"delete", "batch", "cronjobs", ""},
	}
}

// databasePermissions are required to change the database and to update the status, and nothing
// else.
func databasePermissions() []permission {
	return append(viewPermissions(),
		permission{"update", v1beta2.GroupVersion.Group, "foundationdbclusters", "status"},
		permission{"get", "coordination.k8s.io", "leases", ""},
		permission{"create", "coordination.k8s.io", "leases", ""},
		permission{"update", "coordination.k8s.io", "leases", ""},
	)
}

// watchPermissions are required by --watch, besides those of every pass.
func watchPermissions() []permission {
	crd := v1beta2.GroupVersion.Group
	return []permission{
		{"list", crd, "foundationdbclusters", ""},
		{"watch", crd, "foundationdbclusters", ""},
		{"watch", "", "pods", ""},
		{"watch", "", "persistentvolumeclaims", ""},
		{"watch", "", "services", ""},
		{"list", "", "configmaps", ""},
		{"watch", "", "configmaps", ""},
	}
}

// maySee verifies that a cluster may be read in Kubernetes. Without access to the database, its
// values are shown as unknown.
func (e *Env) maySee(ctx context.Context, namespace string) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	needs := slices.DeleteFunc(viewPermissions(), func(p permission) bool { return p.subresource == "exec" })
	return refuseWithout(ctx, c, namespace, needs, "")
}

// parallelReviews bounds how many permissions are checked concurrently.
const parallelReviews = 10

// mayDo verifies all required permissions of a command before anything is changed. All missing
// ones are in one error.
func (e *Env) mayDo(ctx context.Context, namespace string, needs []permission) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	return refuseWithout(ctx, c, namespace, needs, " (nothing was changed)")
}

// refuseWithout returns an error with all missing permissions and what that means.
func refuseWithout(ctx context.Context, c client.Client, namespace string, needs []permission, meaning string) error {
	missing, err := missingPermissions(ctx, c, namespace, needs)
	if err != nil {
		return fmt.Errorf("checking permissions: %w", err)
	}
	if len(missing) == 0 {
		return nil
	}
	return &failure{
		code:  ExitForbidden,
		err:   fmt.Errorf("not permitted in namespace %s: %s%s", namespace, strings.Join(missing, ", "), meaning),
		hints: []string{"kubectl auth can-i --list -n " + namespace},
	}
}

// missingPermissions returns the permissions that the API server would refuse.
func missingPermissions(ctx context.Context, c client.Client, namespace string, needs []permission) ([]string, error) {
	allowed := make([]bool, len(needs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReviews)
	for i, p := range needs {
		group.Go(func() (err error) {
			allowed[i], err = review(ctx, c, namespace, p)
			return err
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

func review(ctx context.Context, c client.Client, namespace string, p permission) (bool, error) {
	r := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: p.verb, Group: p.group, Resource: p.resource, Subresource: p.subresource,
		},
	}}
	if err := c.Create(ctx, r); err != nil {
		return false, err
	}
	return r.Status.Allowed, nil
}
