package backup

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// nothingIsOverwritten checks that the key ranges to restore hold no data. fdbrestore refuses
// them otherwise; the check shows that before anything is started. Unknown is refused.
func nothingIsOverwritten(target plan.TargetFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRestoreTargetEmpty, Question: "are the key ranges to restore empty?", Gate: plan.GateRestore}
	switch {
	case !target.Read:
		c.Evidence = "cannot be determined: " + target.Why()
	case len(target.Occupied) > 0:
		c.Evidence = "keys found in " + shortRanges(target.Occupied)
	default:
		c.OK, c.Evidence = true, "no key found"
	}
	return c
}

// shortRanges names the first ranges in full.
func shortRanges(ranges [][2]string) string {
	const most = 3
	var words []string
	for _, keys := range ranges[:min(len(ranges), most)] {
		words = append(words, keys[0]+" to "+keys[1])
	}
	if len(ranges) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// overData returns the hold of a restore whose target is not proven to be empty. Neither data
// nor a lock disappears without a user; a read that failed for another reason is repeated.
func overData(s plan.Snapshot, target plan.Check) *plan.Hold {
	cluster := s.Restore.Spec.DestinationClusterName
	switch {
	case s.RestoreTarget.Locked:
		return &plan.Hold{Code: plan.HoldRestoreTargetUnknown, Reason: "cannot determine whether the database of cluster " + cluster + " holds data: " + s.RestoreTarget.Why() +
			"; no restore is running, so another lock has to be released first", Manual: true}
	case !s.RestoreTarget.Read:
		return &plan.Hold{Code: plan.HoldRestoreTargetUnknown, Reason: "cannot determine whether the database of cluster " + cluster + " holds data: " + s.RestoreTarget.Why(), RetryAfter: restoreDelay}
	default:
		return &plan.Hold{Code: plan.HoldRestoreTargetOccupied, Reason: "the database of cluster " + cluster + " holds data (" + target.Evidence + "), and a restore never overwrites data: " +
			"restore into a cluster without data, or make sure that the data is not needed before you remove it", Manual: true}
	}
}
