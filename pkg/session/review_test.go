package session

import (
	"context"
	"errors"
	"slices"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// reviewer answers reviews, and counts them.
type reviewer struct {
	rules      []authorizationv1.ResourceRule
	incomplete bool
	allowed    []string // by a review of its own
	failure    error

	listed, reviewed int
}

func (r *reviewer) client() client.Client {
	return fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			switch o := o.(type) {
			case *authorizationv1.SelfSubjectRulesReview:
				r.listed++
				o.Status.ResourceRules, o.Status.Incomplete = r.rules, r.incomplete
			case *authorizationv1.SelfSubjectAccessReview:
				r.reviewed++
				a := o.Spec.ResourceAttributes
				requested := Permission{Verb: a.Verb, Group: a.Group, Resource: a.Resource, Subresource: a.Subresource}
				o.Status.Allowed = slices.Contains(r.allowed, requested.String())
			}
			return r.failure
		},
	}).Build()
}

func TestAReviewThatPanicsIsAnError(t *testing.T) {
	faulty := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			panic("no review")
		},
	}).Build()
	if _, err := reviewEach(t.Context(), faulty, "fdb", []Permission{{"list", "", "pods", ""}}); !isFault(err, "no review") {
		t.Errorf("%v", err)
	}
}

func TestAnObservationThatPanicsIsAnError(t *testing.T) {
	if err := <-beside(func() error { panic("no status") }); !isFault(err, "no status") {
		t.Errorf("%v", err)
	}
}

// isFault reports whether an error is a panic with a value.
func isFault(err error, value string) bool {
	fault, is := errors.AsType[*reconcile.FaultError](err)
	return is && fault.Value == value
}

func TestMissingPermissions(t *testing.T) {
	needs := []Permission{{"list", "", "pods", ""}, {"create", "", "pods", "exec"}, {"update", "coordination.k8s.io", "leases", ""}}
	one := func(verb, group, resource string, names ...string) authorizationv1.ResourceRule {
		return authorizationv1.ResourceRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
	}
	leases := one("update", "coordination.k8s.io", "leases")
	for name, tc := range map[string]struct {
		given            reviewer
		namespace        string
		missing          []string
		listed, reviewed int
	}{
		"all are given by rules":       {given: reviewer{rules: []authorizationv1.ResourceRule{one("*", "*", "*")}}, listed: 1},
		"each by a rule":               {given: reviewer{rules: []authorizationv1.ResourceRule{one("list", "", "pods"), one("create", "", "pods/exec"), leases}}, listed: 1},
		"a subresource is not covered": {given: reviewer{rules: []authorizationv1.ResourceRule{one("*", "", "pods"), leases}}, missing: []string{"create pods/exec"}, listed: 1},
		"a group is not":               {given: reviewer{rules: []authorizationv1.ResourceRule{one("*", "", "*")}}, missing: []string{"update leases.coordination.k8s.io"}, listed: 1},
		"one name is not all":          {given: reviewer{rules: []authorizationv1.ResourceRule{one("*", "", "*"), one("update", "coordination.k8s.io", "leases", "mine")}}, missing: []string{"update leases.coordination.k8s.io"}, listed: 1},
		"none":                         {missing: []string{"list pods", "create pods/exec", "update leases.coordination.k8s.io"}, listed: 1},
		"rules that are not all of them decide nothing": {
			given:   reviewer{incomplete: true, rules: []authorizationv1.ResourceRule{one("*", "*", "*")}, allowed: []string{"list pods"}},
			missing: []string{"create pods/exec", "update leases.coordination.k8s.io"}, listed: 1, reviewed: 3,
		},
		"rules are those of a namespace": {
			given: reviewer{allowed: []string{"list pods", "create pods/exec", "update leases.coordination.k8s.io"}}, namespace: "none", reviewed: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := "fdb"
			if tc.namespace == "none" {
				namespace = ""
			}
			missing, err := MissingPermissions(t.Context(), tc.given.client(), namespace, needs)
			if err != nil || !slices.Equal(missing, tc.missing) {
				t.Errorf("%v, %v; want %v", missing, err, tc.missing)
			}
			if tc.given.listed != tc.listed || tc.given.reviewed != tc.reviewed {
				t.Errorf("%d lists and %d reviews, want %d and %d", tc.given.listed, tc.given.reviewed, tc.listed, tc.reviewed)
			}
		})
	}
}

func TestAFailedPermissionReviewIsAnError(t *testing.T) {
	failure := errors.New("no answer")
	r := reviewer{failure: failure}
	if _, err := MissingPermissions(t.Context(), r.client(), "fdb", ViewPermissions()); !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
}
