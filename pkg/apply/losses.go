package apply

import (
	"errors"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// LosesData reports whether --yes is not enough for a plan: the command may lose data, or part
// of the plan does.
func (p *Passes) LosesData(v planned.PlanView) bool { return p.Dangerous || v.LosesData() }

// Confirms returns what the user types to approve a plan; empty without a prompt.
func (p *Passes) Confirms(v planned.PlanView) string {
	switch {
	case p.LosesData(v):
		return p.Key.Name
	case p.Reversible:
		return ""
	default:
		return "y"
	}
}

// agreedByName reports whether a loss of data was approved with --confirm.
func (f ChangeFlags) agreedByName() bool {
	return f.Yes && f.Confirmed != "" && f.Plan != "" && f.Reason != ""
}

// wantsLoss reports whether the last pass ended because of an action that loses data and was
// not approved by name.
func (p *Passes) wantsLoss() bool {
	var beyond *reconcile.BeyondPlanError
	return errors.As(p.Last.Stopped, &beyond) && beyond.Action != nil && plan.LosesData(beyond.Action)
}

// unnamed returns the failure of a command that would lose data without a terminal, with the
// commands that approve it.
func (p *Passes) unnamed() *exit.Error {
	return &exit.Error{
		Code: exit.ExitUnconfirmed, Hints: p.lossHints(), Printed: p.count > 0,
		Err: errors.New("stdin is not a terminal and data would be permanently lost: --yes is not sufficient (" + p.Env.Prompt().DoneSoFar() + ")"),
	}
}

// lossHints returns the commands that approve a loss of data and apply it.
func (p *Passes) lossHints() []string {
	c := Change{ChangeFlags: ChangeFlags{Coexist: p.Coexist, OverrideFlags: p.OverrideFlags}, Words: []string{"reconcile", p.subject()}}
	again := func(flags ...string) string { return p.Env.Command(slices.Concat(c.Command(), flags)...) }
	return []string{
		"preview: " + again("--dry-run", "-o", "json") + " > plan.json",
		"apply: " + again("--plan", "plan.json", "--yes", "--confirm", p.Key.Name, "--reason") + " TEXT",
	}
}

// CheckConfirm verifies that --confirm is used where it applies, and matches.
func (o ReconcileOptions) CheckConfirm(kind *session.RecordKind, name string) error {
	switch {
	case o.Confirmed == "":
		return nil
	case kind != session.BackupKind:
		return exit.Usagef("--confirm requires reconcile %s/NAME", session.BackupKind.Short)
	default:
		f := o.ChangeFlags
		f.named = noun(kind)
		return f.ConfirmedAs(name)
	}
}
