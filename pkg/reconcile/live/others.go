package live

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// others reads the resources of a kind in the namespace, except the given one. Missing
// permission is a fact; only the end of the context is an error.
func others[T any, P interface {
	*T
	client.Object
}](ctx context.Context, c client.Client, own types.NamespacedName, empty client.ObjectList,
) (plan.OtherFacts[T], error) {
	facts := plan.OtherFacts[T]{}
	all, err := listed[T, P](ctx, namespaced{c, own.Namespace}, nil, empty)
	if ctx.Err() != nil {
		return facts, ctx.Err()
	}
	if err != nil {
		facts.NotRead = err.Error()
		return facts, nil // what cannot be read is a fact that stages decide on
	}
	facts.Read = true
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].GetName() != own.Name {
			facts.All = append(facts.All, *all[name])
		}
	}
	return facts, nil
}
