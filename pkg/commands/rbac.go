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

// power is one thing that a command has to be allowed to do in its namespace.
type power struct{ verb, group, resource, subresource string }

// String reads as RBAC rules are written: "create pods/exec".
func (p power) String() string { return p.verb + " " + p.path() }

// path is the resource as kubectl writes it: "foundationdbclusters.apps.foundationdb.org/status".
func (p power) path() string {
	resource := p.resource
	if p.group != "" {
		resource += "." + p.group
	}
	if p.subresource != "" {
		resource += "/" + p.subresource
	}
	return resource
}

// within is the resource as rules of its group write it: "pods/exec".
func (p power) within() string {
	if p.subresource == "" {
		return p.resource
	}
	return p.resource + "/" + p.subresource
}

// lookPowers are what it takes to see all of a cluster, its database included.
func lookPowers() []power {
	return []power{
		{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
		{"list", "", "persistentvolumeclaims", ""},
		{"list", "", "services", ""},
		{"get", "", "configmaps", ""},
	}
}

// toolPowers are what it takes to run programs in a cluster's pods.
func toolPowers() []power {
	return []power{
		{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		{"list", "", "pods", ""},
		{"create", "", "pods", "exec"},
	}
}

// reconcilePowers are what a pass cannot do without.
func reconcilePowers() []power {
	crd := v1beta2.GroupVersion.Group
	return []power{
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

// databasePowers are what it takes to change something in the database and to record what
// was seen, and nothing else.
func databasePowers() []power {
	return append(lookPowers(),
		power{"update", v1beta2.GroupVersion.Group, "foundationdbclusters", "status"},
		power{"get", "coordination.k8s.io", "leases", ""},
		power{"create", "coordination.k8s.io", "leases", ""},
		power{"update", "coordination.k8s.io", "leases", ""},
	)
}

// watchPowers are what --watch cannot do without, besides what every pass needs.
func watchPowers() []power {
	crd := v1beta2.GroupVersion.Group
	return []power{
		{"list", crd, "foundationdbclusters", ""},
		{"watch", crd, "foundationdbclusters", ""},
		{"watch", "", "pods", ""},
		{"watch", "", "persistentvolumeclaims", ""},
		{"watch", "", "services", ""},
		{"list", "", "configmaps", ""},
		{"watch", "", "configmaps", ""},
	}
}

// maySee makes sure that what Kubernetes knows of a cluster may be read. What only the
// database knows is shown as unknown to those who may not ask it.
func (e *Env) maySee(ctx context.Context, namespace string) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	needs := slices.DeleteFunc(lookPowers(), func(p power) bool { return p.subresource == "exec" })
	return refuseWithout(ctx, c, namespace, needs, "")
}

// parallelReviews bounds how many questions are asked at once.
const parallelReviews = 10

// mayDo makes sure, before anything is changed, that everything which a command
// needs is allowed. What is missing is in one message.
func (e *Env) mayDo(ctx context.Context, namespace string, needs []power) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	return refuseWithout(ctx, c, namespace, needs, "; nothing was changed")
}

// refuseWithout names in one message which of the powers are missing, and what that means.
func refuseWithout(ctx context.Context, c client.Client, namespace string, needs []power, meaning string) error {
	missing, err := missingPowers(ctx, c, namespace, needs)
	if err != nil {
		return fmt.Errorf("asking what is allowed: %w", err)
	}
	if len(missing) == 0 {
		return nil
	}
	return &failure{
		code:  ExitForbidden,
		err:   fmt.Errorf("not allowed in namespace %s: %s%s", namespace, strings.Join(missing, ", "), meaning),
		hints: []string{"kubectl auth can-i --list -n " + namespace},
	}
}

// missingPowers asks which of the powers the API server would refuse.
func missingPowers(ctx context.Context, c client.Client, namespace string, needs []power) ([]string, error) {
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

func review(ctx context.Context, c client.Client, namespace string, p power) (bool, error) {
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
