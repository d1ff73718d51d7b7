package session

import (
	"context"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
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
