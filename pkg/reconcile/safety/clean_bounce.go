package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CleanBounce checks whether the database reports that all of its processes may restart at once.
//
// FoundationDB derives that from its recovery state alone. 7.4.7 reads the recovery state
// only after it has written the answer, which then is no in every state; there the recovery
// state of the same document counts. Any other reason is a refusal.
func CleanBounce(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckCleanBounce, Question: "does the database allow all processes to restart at once?", Gate: plan.GateRecovery}
	if d.Status == nil {
		c.Evidence = noStatus(d)
		return c
	}
	can, known := d.Status.CanCleanBounce()
	switch {
	case !known:
		c.Evidence = "the status document does not report bounce_impact.can_clean_bounce"
	case can:
		c.OK, c.Evidence = true, "bounce_impact.can_clean_bounce is true"
	case contradictsRecovery(d.Status):
		c.OK, c.Evidence = true, fmt.Sprintf("recovery_state is %s; bounce_impact of FoundationDB %s contradicts it (%q) and is ignored",
			fdb.RecoveryFullyRecovered, controllerVersion(d.Status), fdb.ReasonNotFullyRecovered)
	default:
		c.Evidence = "bounce_impact.can_clean_bounce is false: " + phrase.Or(d.Status.Cluster.BounceImpact.Reason, phrase.Unknown)
	}
	return c
}

// contradictsRecovery reports whether the reason of a refusal is a recovery that is over
// according to the same document.
func contradictsRecovery(status *fdb.Status) bool {
	return !status.Incomplete() && status.RecoveryName() == fdb.RecoveryFullyRecovered &&
		status.Cluster.BounceImpact.Reason == fdb.ReasonNotFullyRecovered
}

// controllerVersion is the version of the process that creates status documents.
func controllerVersion(status *fdb.Status) string {
	version, _ := versionOf(status, fdb.RoleClusterController)
	return phrase.Or(version.String(), phrase.Unknown)
}
