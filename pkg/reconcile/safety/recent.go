package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// oldestProof is how old the status document may be that a deletion rests on: stages
// before the one that deletes can take long.
const oldestProof = time.Minute

// RecentProof asks whether the status document is young enough to take processes down
// on its word. One that seems to come from the future shows that the clock was set back,
// and then nobody knows how old it is.
func RecentProof(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckStatusRecent, Question: "is the status document recent?", Gate: plan.GateReplicas, Need: fmt.Sprintf("at most %s old", oldestProof)}
	if s.Database.Status == nil {
		c.Evidence = s.Database.Why()
		return c
	}
	age := s.Now.Sub(s.Database.AsOf)
	c.OK, c.Have = age >= 0 && age <= oldestProof, age.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("it is of %s ago", age.Round(time.Second))
	if !c.OK {
		c.Evidence += "; the next pass reads a new one"
	}
	return c
}
