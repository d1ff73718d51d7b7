package live

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readSuccessors tries, by a dry run, whether one more process group of each class would get its objects, and reads
// what decides about more of them. Nothing is created.
func (r *reader) readSuccessors(ctx context.Context, c *v1beta2.FoundationDBCluster) (plan.SuccessorFacts, error) {
	facts := plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{}, Unknown: map[v1beta2.ProcessClass]string{}}
	tried := map[v1beta2.ProcessClass]bool{}
	for _, g := range c.Status.ProcessGroups {
		if tried[g.ProcessClass] || g.IsMarkedForRemoval() {
			continue
		}
		tried[g.ProcessClass] = true
		err := r.trySuccessor(ctx, c, g.ProcessClass)
		if refused, is := errors.AsType[*reconcile.AdmissionError](err); is {
			facts.Refused[g.ProcessClass] = refused.Refusal
		} else if err != nil {
			facts.Unknown[g.ProcessClass] = err.Error()
		}
	}
	if len(tried) > 0 {
		facts.Namespace = ReadNamespace(ctx, r.Client, c.Namespace)
	}
	return facts, ctx.Err()
}

func (r *reader) trySuccessor(ctx context.Context, c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) error {
	pod, claim, err := objects.Successor(c, class)
	if err != nil {
		return err
	}
	// The pod first: its refusal keeps running pods from being recreated as well.
	if err := r.tryToCreate(ctx, pod); err != nil || claim == nil {
		return err
	}
	return r.tryToCreate(ctx, claim)
}

// tryToCreate submits an object as a dry run. One that exists was accepted before. A bad request shows nothing about
// the object: a webhook that does not support dry runs refuses each of them so.
func (r *reader) tryToCreate(ctx context.Context, o client.Object) error {
	o = o.DeepCopyObject().(client.Object) // a deep copy has the type of its original
	err := r.Client.Create(ctx, o, client.DryRunAll)
	switch {
	case err == nil || apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsBadRequest(err):
		return err
	}
	return (&refusals{Options: r.Options}).explain(ctx, "create", o, err)
}
