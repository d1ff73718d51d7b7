package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CleanBounce asks whether the database says that all of its processes may restart at once.
//
// FoundationDB derives that from its recovery state alone. 7.4.7 reads the recovery state
// only after it has written the answer, which then is no in every state; there the recovery
// state of the same document counts. Any other reason is a refusal.
func CleanBounce(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckCleanBounce, Question: "may all processes restart at once, by the database's own word?", Gate: plan.GateRecovery}
	if d.Status == nil {
		c.Evidence = d.Why()
		return c
	}
	can, known := d.Status.CanCleanBounce()
	switch {
	case !known:
		c.Evidence = "the status document does not tell"
	case can:
		c.OK, c.Evidence = true, "it says yes"
	case contradictsRecovery(d.Status):
		c.OK, c.Evidence = true, fmt.Sprintf("recovery_state is %s; bounce_impact of FoundationDB %s contradicts it (%q) and is ignored",
			fdb.RecoveryFullyRecovered, controllerVersion(d.Status), fdb.ReasonNotFullyRecovered)
	default:
		c.Evidence = "it says no: " + phrase.Or(d.Status.Cluster.BounceImpact.Reason, phrase.Unknown)
	}
	return c
}

// contradictsRecovery reports whether a refusal rests on a recovery that the same document
// says is over.
func contradictsRecovery(status *fdb.Status) bool {
	return !status.Incomplete() && status.RecoveryName() == fdb.RecoveryFullyRecovered &&
		status.Cluster.BounceImpact.Reason == fdb.ReasonNotFullyRecovered
}

// controllerVersion is the version of the process that makes status documents.
func controllerVersion(status *fdb.Status) string {
	version, _ := versionOf(status, fdb.RoleClusterController)
	return phrase.Or(version.String(), phrase.Unknown)
}
