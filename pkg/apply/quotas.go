package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// peak begins to count what pods and PVCs add to the quotas of the namespace, with those that the preview observed.
func (r *Run) peak(ctx context.Context) *admission.Peak {
	facts := (session.ClusterReader{Env: r.Env, Key: r.Key}).NamespaceRules(ctx)
	return admission.NewPeak(facts, admission.Objects(r.observed.snapshot.Pods, r.observed.snapshot.Volumes))
}

// weigh compares what the next pass creates with the quotas and ranges of the namespace.
func (r *Run) weigh(ctx context.Context, view *planned.PlanView) {
	var created []metav1.Object
	for _, item := range view.Items {
		if o := admission.Created(item.Details); o != nil {
			created = append(created, o)
		}
	}
	if len(created) == 0 {
		return
	}
	p := r.peak(ctx)
	for _, item := range view.Items {
		p.Acted(item.Details)
	}
	p.Count(append(admission.Objects(r.observed.snapshot.Pods, r.observed.snapshot.Volumes), created...))
	view.NamespaceRules = p.Rules()
}
