package diagnose

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// namespaceRules are the ResourceQuotas and LimitRanges of manifests.
type namespaceRules struct {
	quotas []corev1.ResourceQuota
	limits []corev1.LimitRange
}

// rulesAmong returns the rules of namespaces among other objects, and the titles of the rest.
func rulesAmong(objects []proposal.Manifest) (rules namespaceRules, others []string, err error) {
	for _, m := range objects {
		switch m.Object.GroupVersionKind() {
		case corev1.SchemeGroupVersion.WithKind("ResourceQuota"):
			var q corev1.ResourceQuota
			err = decoded(m, &q)
			q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard} // it counts nothing yet
			rules.quotas = append(rules.quotas, q)
		case corev1.SchemeGroupVersion.WithKind("LimitRange"):
			var l corev1.LimitRange
			err = decoded(m, &l)
			rules.limits = append(rules.limits, l)
		default:
			others = append(others, m.Title())
		}
		if err != nil {
			return namespaceRules{}, nil, err
		}
	}
	return rules, others, nil
}

func decoded(m proposal.Manifest, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object.Object, into); err != nil {
		return exit.Usagef("%s: decode %s: %v", m.At("spec"), m.Title(), err)
	}
	return nil
}

// rulesAround returns the rules that hold in a namespace once the manifests are applied; nil where neither they nor the API
// server have any to compare with.
func (o checkOptions) rulesAround(ctx context.Context, env *session.Env, namespace string, of namespaceRules) (*plan.NamespaceFacts, error) {
	var facts plan.NamespaceFacts
	if !o.local {
		c, err := env.Client()
		if err != nil {
			return nil, err
		}
		facts = live.ReadNamespace(ctx, c, namespace)
	}
	isHere := func(in string) bool { return in == "" || in == namespace }
	for _, q := range of.quotas {
		if !isHere(q.Namespace) {
			continue
		}
		facts.Quotas = slices.DeleteFunc(facts.Quotas, func(stored corev1.ResourceQuota) bool {
			if stored.Name == q.Name {
				q.Status.Used = stored.Status.Used
			}
			return stored.Name == q.Name
		})
		facts.Quotas = append(facts.Quotas, q)
	}
	for _, l := range of.limits {
		if isHere(l.Namespace) {
			facts.Limits = slices.DeleteFunc(facts.Limits, func(stored corev1.LimitRange) bool { return stored.Name == l.Name })
			facts.Limits = append(facts.Limits, l)
		}
	}
	if o.local && len(facts.Quotas)+len(facts.Limits) == 0 {
		return nil, nil // there are none
	}
	return &facts, nil
}
