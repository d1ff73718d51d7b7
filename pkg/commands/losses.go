package commands

import (
	"errors"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// losesData reports whether a yes is not enough for a plan: the command may lose data, or
// part of the plan does.
func (p *passes) losesData(v ui.PlanView) bool { return p.dangerous || v.LosesData() }

// confirms is what a person types to agree to a plan; empty where nobody is asked.
func (p *passes) confirms(v ui.PlanView) string {
	switch {
	case p.losesData(v):
		return p.key.Name
	case p.reversible:
		return ""
	default:
		return "y"
	}
}

// agreedByName reports whether somebody has agreed beforehand to what may lose data.
func (f changeFlags) agreedByName() bool {
	return f.yes && f.confirmed != "" && f.plan != "" && f.reason != ""
}

// wantsLoss reports whether the last pass ended because it wanted what loses data, and
// nobody had agreed to that by name.
func (p *passes) wantsLoss() bool {
	var beyond *reconcile.BeyondPlanError
	return errors.As(p.last.Stopped, &beyond) && beyond.Action != nil && plan.LosesData(beyond.Action)
}

// unnamed is how a command ends that would lose data, where nobody can be asked for the
// name: with what it takes, word for word.
func (p *passes) unnamed() *failure {
	return &failure{
		code: ExitUnconfirmed, hints: p.lossHints(), told: p.count > 0,
		err: errors.New("data would be lost for good, so that --yes is not enough without a terminal; " + p.env.doneSoFar()),
	}
}

// lossHints are the commands that have a loss of data approved, and carry it out.
func (p *passes) lossHints() []string {
	c := change{changeFlags: changeFlags{coexist: p.coexist, overrideFlags: p.overrideFlags}, words: []string{"reconcile", p.subject()}}
	again := func(flags ...string) string { return p.env.command(slices.Concat(c.command(), flags)...) }
	return []string{
		"look: " + again("--dry-run", "-o", "json") + " > plan.json",
		"then: " + again("--plan", "plan.json", "--yes", "--confirm", p.key.Name, "--reason") + " TEXT",
	}
}

// checkConfirm makes sure that --confirm is said where it means something, and is right.
func (o reconcileOptions) checkConfirm(kind *recordKind, name string) error {
	switch {
	case o.confirmed == "":
		return nil
	case kind != backupKind:
		return usagef("--confirm is for what deletes the data of a backup: reconcile %s/NAME", backupKind.short)
	default:
		f := o.changeFlags
		f.named = kind.noun()
		return f.confirmedAs(name)
	}
}
