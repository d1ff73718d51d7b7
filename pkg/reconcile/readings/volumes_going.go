package readings

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// VolumesGoing collects the process groups whose pods a stage would take down, and keeps because their
// volumes would end with them. The zero value has none.
type VolumesGoing struct {
	groups  []string
	reasons []string
}

// Keeps reports whether the pod of a group has to stay for its volume, and collects the group if so.
func (v *VolumesGoing) Keeps(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	c := safety.VolumeStays(s, g)
	if c.OK {
		return false
	}
	v.groups = append(v.groups, string(g.ProcessGroupID))
	v.reasons = append(v.reasons, fmt.Sprintf("%s: %s", g.ProcessGroupID, c.Evidence))
	return true
}

// Has reports whether a group was collected.
func (v *VolumesGoing) Has(g *v1beta2.ProcessGroupStatus) bool {
	return slices.Contains(v.groups, string(g.ProcessGroupID))
}

// Hold returns the hold for the collected groups; nil without any. No pass may end their pods, and none
// marks them for removal: a user replaces them, or keeps the volumes.
func (v *VolumesGoing) Hold() *plan.Hold {
	n := len(v.groups)
	if n == 0 {
		return nil
	}
	return &plan.Hold{Code: plan.HoldVolumeGoing, Manual: true, Subjects: v.groups, Reason: fmt.Sprintf(
		"%s %s not deleted, because the data on the %s would be lost with %s: %s; replace %s",
		phrase.Count(n, "pod"), phrase.Is(n), phrase.Either(n, "volume", "volumes"), phrase.Either(n, "it", "them"),
		SomeOf(v.reasons), phrase.Either(n, "this process group", "these process groups"))}
}

// HoldBefore returns the hold for the collected groups, and another one without any: what requires a
// user comes before what only takes time.
func (v *VolumesGoing) HoldBefore(other *plan.Hold) *plan.Hold {
	if h := v.Hold(); h != nil {
		return h
	}
	return other
}
