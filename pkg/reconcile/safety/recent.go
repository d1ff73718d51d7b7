package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// oldestProof is the highest allowed age of the status document for a deletion: stages before
// the one that deletes can take long.
const oldestProof = time.Minute

// RecentProof checks whether the status document is recent enough to take processes down. If
// it is from the future, the clock was set back, and its age is unknown.
func RecentProof(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckStatusRecent, Question: "is the status document recent?", Gate: plan.GateReplicas, Need: fmt.Sprintf("at most %s old", oldestProof)}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	age := s.Now.Sub(s.Database.AsOf)
	c.OK, c.Have = age >= 0 && age <= oldestProof, age.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("the status document is %s old, at most %s allowed", age.Round(time.Second), oldestProof)
	if !c.OK {
		c.Evidence += "; the next pass reads a new one"
	}
	return c
}
