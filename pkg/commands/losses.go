package commands

import (
	"errors"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// losesData reports whether --yes is not enough for a plan: the command may lose data, or part
// of the plan does.
func (p *passes) losesData(v planned.PlanView) bool { return p.dangerous || v.LosesData() }

// confirms returns what the user types to approve a plan; empty without a prompt.
func (p *passes) confirms(v planned.PlanView) string {
	switch {
	case p.losesData(v):
		return p.key.Name
	case p.reversible:
		return ""
	default:
		return "y"
	}
}

// agreedByName reports whether a loss of data was approved with --confirm.
func (f changeFlags) agreedByName() bool {
	return f.yes && f.confirmed != "" && f.plan != "" && f.reason != ""
}

// wantsLoss reports whether the last pass ended because of an action that loses data and was
// not approved by name.
func (p *passes) wantsLoss() bool {
	var beyond *reconcile.BeyondPlanError
	return errors.As(p.last.Stopped, &beyond) && beyond.Action != nil && plan.LosesData(beyond.Action)
}

// unnamed returns the failure of a command that would lose data without a terminal, with the
// commands that approve it.
func (p *passes) unnamed() *failure {
	return &failure{
		code: ExitUnconfirmed, hints: p.lossHints(), printed: p.count > 0,
		err: errors.New("stdin is not a terminal and data would be permanently lost: --yes is not sufficient (" + p.env.doneSoFar() + ")"),
	}
}

// lossHints returns the commands that approve a loss of data and apply it.
func (p *passes) lossHints() []string {
	c := change{changeFlags: changeFlags{coexist: p.coexist, overrideFlags: p.overrideFlags}, words: []string{"reconcile", p.subject()}}
	again := func(flags ...string) string { return p.env.command(slices.Concat(c.command(), flags)...) }
	return []string{
		"preview: " + again("--dry-run", "-o", "json") + " > plan.json",
		"apply: " + again("--plan", "plan.json", "--yes", "--confirm", p.key.Name, "--reason") + " TEXT",
	}
}

// checkConfirm verifies that --confirm is used where it applies, and matches.
func (o reconcileOptions) checkConfirm(kind *recordKind, name string) error {
	switch {
	case o.confirmed == "":
		return nil
	case kind != backupKind:
		return usagef("--confirm requires reconcile %s/NAME", backupKind.short)
	default:
		f := o.changeFlags
		f.named = kind.noun()
		return f.confirmedAs(name)
	}
}
