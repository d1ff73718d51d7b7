package operations

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// PauseOperators returns a stage that pauses operators for a cluster, and records the user, the
// time and the reason. Zero is without a limit. A recorded pause stays, unless the new one has a
// limit or a reason.
func PauseOperators(by string, long time.Duration, reason string) plan.Stage {
	return plan.Stage{
		Name:  plan.StagePauseOperators,
		Reads: plan.ClusterResource,
		Decide: func(s plan.Snapshot) plan.Decision {
			_, paused := plan.PauseOf(s.Cluster)
			if paused && long == 0 && reason == "" {
				return plan.Decision{}
			}
			p := plan.Pause{By: by, At: s.Now, Reason: reason}
			if long > 0 {
				p.Until = s.Now.Add(long)
			}
			return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.SetSkip{Cluster: s.Cluster.Name, Skip: true, Pause: p}}}
		},
	}
}

// ResumeOperators ends the pause of operators.
var ResumeOperators = plan.Stage{
	Name:  plan.StageResumeOperators,
	Reads: plan.ClusterResource,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.Spec.Skip {
			return plan.Decision{}
		}
		return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.SetSkip{Cluster: s.Cluster.Name}}}
	},
}
