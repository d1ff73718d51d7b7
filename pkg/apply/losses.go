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
func (j *job) LosesData(v planned.PlanView) bool { return j.Dangerous || v.LosesData() }

// Confirms returns what the user types to approve a plan; empty without a prompt.
func (j *job) Confirms(v planned.PlanView) string {
	switch {
	case j.LosesData(v):
		return j.Key.Name
	case j.Reversible:
		return ""
	default:
		return "y"
	}
}

// agreedByName reports whether a loss of data was approved with --confirm.
func (f ChangeFlags) agreedByName() bool {
	return f.Yes && f.Confirmed != "" && f.Plan != "" && f.Reason != ""
}

// wantsLoss reports whether a pass ended because of an action that loses data and was
// not approved by name.
func wantsLoss(last reconcile.PassDone) bool {
	var beyond *reconcile.BeyondPlanError
	return errors.As(last.Stopped, &beyond) && beyond.Action != nil && plan.LosesData(beyond.Action)
}

// unnamed returns the failure of a command that would lose data without a terminal, with the
// commands that approve it.
func (o *outcome) unnamed() *exit.Error {
	return &exit.Error{
		Code: exit.ExitUnconfirmed, Hints: o.lossHints(), Printed: o.count > 0,
		Err: errors.New("stdin is not a terminal and data would be permanently lost: --yes is not sufficient (" + o.Env.Prompt().DoneSoFar() + ")"),
	}
}

// lossHints returns the commands that approve a loss of data and apply it.
func (j *job) lossHints() []string {
	c := Change{ChangeFlags: ChangeFlags{Coexist: j.Coexist, OverrideFlags: j.OverrideFlags}, Args: []string{"reconcile", j.subject()}}
	again := func(flags ...string) string { return j.Env.Command(slices.Concat(c.Command(), flags)...) }
	return []string{
		"preview: " + again("--dry-run", "-o", "json") + " > plan.json",
		"apply: " + again("--plan", "plan.json", "--yes", "--confirm", j.Key.Name, "--reason") + " TEXT",
	}
}

// CheckConfirm verifies that --confirm is used where it applies, and matches.
func (o ReconcileOptions) CheckConfirm(kind *session.ResourceKind, name string) error {
	switch {
	case o.Confirmed == "":
		return nil
	case kind != session.BackupKind:
		return exit.Usagef("--confirm requires reconcile %s/NAME", session.BackupKind.Short)
	default:
		f := o.ChangeFlags
		f.Named = Noun(kind)
		return f.ConfirmedAs(name)
	}
}
