package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// confirmMatches verifies that --confirm names the cluster of the plan.
func (o applyOptions) confirmMatches(p recovery.Plan) error {
	if o.confirm == "" || o.confirm == p.Cluster {
		return nil
	}
	return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("--confirm %s does not match the name of the cluster, which is %s (nothing was changed)", o.confirm, p.Cluster)}
}

// lossApproved requires the name of the cluster for a plan that declares data for lost: typed at a
// prompt, or in --confirm beside --yes and --reason.
func (o applyOptions) lossApproved(ctx context.Context, env *session.Env, current reading, p recovery.Plan) error {
	if o.yes && o.confirm == p.Cluster && o.reason != "" {
		return nil
	}
	if !env.Prompt().Interactive() {
		return &exit.Error{
			Code:  exit.ExitUnconfirmed,
			Err:   errors.New("stdin is not a terminal and data may be permanently lost: --yes is not sufficient (nothing was changed)"),
			Hints: []string{"apply: " + env.Command("recover", "apply", p.Cluster, "--plan", o.plan, "--yes", "--confirm", p.Cluster, "--reason", "TEXT")},
		}
	}
	v := recovery.NewPlanView(env.Metadata(env.About), current.seen.Now, p, current.warnings)
	if err := ui.WriteRecoveryPlan(env.ErrOut, v); err != nil {
		return err
	}
	return env.Prompt().ConfirmName(ctx, "cluster", p.Cluster)
}
