package session

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// ConditionClock remembers since when conditions hold that no pass has recorded yet: each read
// updates the status again, and would show them as new each time.
type ConditionClock map[conditionOf]time.Time

type conditionOf struct {
	group v1beta2.ProcessGroupID
	kind  v1beta2.ProcessGroupConditionType
}

// Keep sets conditions back to when they were first seen, and drops those that ended. The
// returned resource is a copy if anything differs.
func (m *ConditionClock) Keep(judged *v1beta2.FoundationDBCluster) *v1beta2.FoundationDBCluster {
	before, now := *m, ConditionClock{}
	cluster := judged.DeepCopy()
	for _, g := range cluster.Status.ProcessGroups {
		for _, c := range g.ProcessGroupConditions {
			key := conditionOf{g.ProcessGroupID, c.Type}
			now[key] = time.Unix(c.Timestamp, 0)
			if first, seen := before[key]; seen && first.Before(now[key]) {
				now[key], c.Timestamp = first, first.Unix()
			}
		}
	}
	*m = now
	return cluster
}
