package stages

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// PauseOperators has operators leave a cluster alone, and notes who wants that, for how
// long and why. Zero is without a limit. What is noted already stays, unless something
// else is wanted now.
func PauseOperators(by string, long time.Duration, reason string) plan.Stage {
	return plan.Stage{
		Name:  plan.StagePauseOperators,
		Reads: plan.Record,
		Decide: func(s plan.Snapshot) plan.Decision {
			_, paused := plan.PauseOf(s.Cluster)
			if paused && long == 0 && reason == "" {
				return plan.Decision{}
			}
			p := plan.Pause{By: by, At: s.Now, Reason: reason}
			if long > 0 {
				p.Until = s.Now.Add(long)
			}
			return plan.Decision{Why: "a person asks for it", Actions: []plan.Action{plan.SetSkip{Cluster: s.Cluster.Name, Skip: true, Pause: p}}}
		},
	}
}

// ResumeOperators lets operators act again.
var ResumeOperators = plan.Stage{
	Name:  plan.StageResumeOperators,
	Reads: plan.Record,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !s.Cluster.Spec.Skip {
			return plan.Decision{}
		}
		return plan.Decision{Why: "a person asks for it", Actions: []plan.Action{plan.SetSkip{Cluster: s.Cluster.Name}}}
	},
}
