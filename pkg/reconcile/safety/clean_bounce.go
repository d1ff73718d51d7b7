package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
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
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	can, known := d.Status.CanCleanBounce()
	switch {
	case !known:
		c.Evidence = "the status document does not report bounce_impact.can_clean_bounce"
	case can:
		c.OK, c.Evidence = true, "bounce_impact.can_clean_bounce is true"
	case contradictsRecovery(d.Status):
		c.OK, c.Evidence = true, fmt.Sprintf("recovery_state is %s; bounce_impact of %s contradicts it (%q) and is ignored",
			fdb.RecoveryFullyRecovered, wrongVersion(d.Status), fdb.ReasonNotFullyRecovered)
	default:
		c.Evidence = "bounce_impact.can_clean_bounce is false: " + phrase.Or(d.Status.Cluster.BounceImpact.Reason, phrase.Unknown)
	}
	return c
}

// contradictsRecovery reports whether the reason of a refusal is a recovery that is over
// according to the same document.
func contradictsRecovery(status *fdb.Status) bool {
	return status.RecoveryName() == fdb.RecoveryFullyRecovered &&
		status.Cluster.BounceImpact.Reason == fdb.ReasonNotFullyRecovered
}

// wrongVersion names the version of the process that creates status documents, and whether it
// is known to report a wrong bounce impact. The document alone decides: the recovery state that
// bounce_impact is derived from proves any version wrong.
func wrongVersion(status *fdb.Status) string {
	version, _ := versionOf(status, fdb.RoleClusterController)
	if fact, known := versionfacts.About(versionfacts.BounceImpactNeverClean, version); known {
		return fmt.Sprintf("FoundationDB %s, a known defect (%s),", version, fact.Sources[0])
	}
	return fmt.Sprintf("FoundationDB %s, which has no known defect,", phrase.Or(version.String(), phrase.Unknown))
}
