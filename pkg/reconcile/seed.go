package reconcile

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// NextSeed returns the seed of the next pass after an event: another one once process groups were added.
// The same seed draws the same IDs, also those of groups that were removed in between, and a command that
// names a removed group must not find another one. Until then passes and previews share a seed, so that
// the groups that were shown are those that are added.
func NextSeed(seed uint64, e Event) uint64 {
	if done, is := e.(ActionDone); !is || done.Err != nil || !isAddition(done.Action) {
		return seed
	}
	return rand.NewPCG(seed, 0).Uint64() // an ID is a name, not a secret
}

func isAddition(a plan.Action) bool {
	_, is := a.(plan.AddGroups)
	return is
}
