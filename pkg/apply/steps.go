package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Procedure is a change whose steps no stage decides: each is read back before the next one begins. Approval, gates,
// Lease, operation, audit and exit codes are those of passes.
type Procedure struct {
	// Session is the open cluster; nil where its resource does not exist, and so no other run acts on it.
	Session session.Session
	// Resource is the cluster as it was read; nil where it does not exist.
	Resource *session.Cluster
	// Stage names the change in the audit, where others have the stage of a pass.
	Stage plan.StageName
	// Work is how much there is to do. With nothing, nothing is approved.
	Work int
	// Print prints the document of what would be done, and Show shows that for a prompt.
	Print func() error
	Show  func(w io.Writer) error
	// Question is the prompt for what was shown.
	Question string
	// Continue is what the command does if it is repeated after a run that did not get to its end.
	Continue string
	// Try submits what would be written to the API server as a server dry run.
	Try func(ctx context.Context) (Tried, error)
	// Run reads everything again under the Lease, refuses what is not as it was shown, and carries out the steps.
	Run func(ctx context.Context, s Stepping) error
}

// Stepping is what steps are carried out with.
type Stepping struct {
	// Session is that of the procedure. Its Lease is taken only while all gates hold, and what is done can be recorded.
	Session session.Session
	// Gates evaluates what must hold before a change, for a step that is a pass.
	Gates func(ctx context.Context) ([]plan.Check, error)
	// Report records a step that has ended.
	Report func(step reconcile.Step, began time.Time, err error)
	// Created names the resource that a step has created, in what is recorded from then on.
	Created func(cluster *session.Cluster)
}

// stepping is a run of steps.
type stepping struct {
	*Passes
	// begun is true once the run may have changed something.
	begun bool
}

// carryOutSteps previews a change by steps, or confirms it and carries it out.
func carryOutSteps(ctx context.Context, e *session.Env, key types.NamespacedName, c Change) error {
	s := stepsOf(e, key, c)
	if c.dry() || c.Procedure.Work == 0 {
		return s.preview(ctx)
	}
	if err := c.mayBeApproved(e, key.Name); err != nil {
		return err
	}
	if err := Audited(e); err != nil {
		return err
	}
	if err := session.MayDo(ctx, e, key.Namespace, c.required()); err != nil {
		return err
	}
	if err := s.refuseBeside(ctx); err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := s.approve(ctx); err != nil {
		return exit.CauseOf(ctx, err)
	}
	s.audit = NewAuditor(e, key, c)
	s.audit.about(plan.Snapshot{Cluster: c.Procedure.Resource})
	ctx, stop := session.WithTimeout(ctx, e.Clock, s.Timeout)
	defer stop()
	ctx, end := s.beginOperation(ctx)
	defer end()
	return s.end(ctx, s.run(ctx))
}

func stepsOf(e *session.Env, key types.NamespacedName, c Change) *stepping {
	p := newPasses(runOf(e, c), c)
	p.Key, p.Session, e.Run.About = key, c.Procedure.Session, key
	return &stepping{Passes: p}
}

// preview is a dry run. What would refuse a run now is printed, and does not change the exit code.
func (s *stepping) preview(ctx context.Context) error {
	if err := s.Procedure.Print(); err != nil || !s.dry() || s.Procedure.Work == 0 {
		return err
	}
	if s.DryRun == DryRunServer {
		tried, err := s.Procedure.Try(ctx)
		if err = errors.Join(err, tried.End(s.Env)); err != nil {
			return exit.CauseOf(ctx, err)
		}
	}
	for _, err := range []error{s.refuseBeside(ctx), s.gatesHold(ctx)} {
		if err != nil {
			s.Env.Logf("it would be refused now: %s", exit.Explain(err))
		}
	}
	return exit.AnswerError{Code: exit.ExitNo}
}

// approve has the steps approved. What would refuse them later refuses them before the prompt.
func (s *stepping) approve(ctx context.Context) error {
	if !s.agreed() {
		if err := s.gatesHold(ctx); err != nil {
			return err
		}
	}
	return s.ApproveSteps(ctx, s.Env, s.Key.Name)
}

// ApproveSteps shows what would be done to a cluster and prompts for it, unless flags approve it.
func (c Change) ApproveSteps(ctx context.Context, e *session.Env, name string) error {
	if err := c.mayBeApproved(e, name); err != nil || c.agreed() {
		return err
	}
	if err := c.Procedure.Show(e.ErrOut); err != nil {
		return err
	}
	if c.Dangerous {
		return e.Prompt().ConfirmName(ctx, c.whose(), name)
	}
	return e.Prompt().Confirm(ctx, c.Procedure.Question)
}

// mayBeApproved returns an error if neither flags nor a prompt can approve the change of a cluster.
func (c Change) mayBeApproved(e *session.Env, name string) error {
	if err := c.ConfirmedAs(name); err != nil {
		return err
	}
	return c.canAsk(e)
}

// gatesHold returns an error if a gate refuses.
func (s *stepping) gatesHold(ctx context.Context) error {
	if s.Session == nil {
		return nil
	}
	checks, err := s.gates(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	for _, check := range checks {
		if !check.OK {
			return &reconcile.RefusedError{Check: check}
		}
	}
	return nil
}

func (s *stepping) gates(ctx context.Context) ([]plan.Check, error) {
	return s.Session.Gates(ctx, live.GateOptions{Coexist: s.Coexist})
}

func (s *stepping) run(ctx context.Context) error {
	if err := Audited(s.Env); err != nil {
		return err
	}
	with := Stepping{
		Gates:   s.gates,
		Created: func(cluster *session.Cluster) { s.audit.about(plan.Snapshot{Cluster: cluster}) },
		Report: func(step reconcile.Step, began time.Time, err error) {
			if err == nil {
				s.acted, s.Env.Run.Acted = s.acted+1, s.Env.Run.Acted+1
			}
			s.audit.step(ctx, s.Procedure.Stage, step, began, err)
			s.renewOperation(ctx, "")
		},
	}
	s.renewOperation(ctx, "") // it is stored with the Lease
	if s.Session == nil {
		s.begun = true
	} else {
		with.Session = gated{s.Session, s}
	}
	return s.Procedure.Run(ctx, with)
}

// gated is a session whose Lease is taken only while all gates hold: a prompt may have waited for hours.
type gated struct {
	session.Session
	run *stepping
}

// Begin implements reconcile.Actor.
func (g gated) Begin(ctx context.Context) error {
	if err := g.run.gatesHold(ctx); err != nil {
		return err
	}
	err := g.Session.Begin(ctx)
	g.run.begun = err == nil
	return err
}

// end returns how the command ends with the end of its steps.
func (s *stepping) end(ctx context.Context, err error) error {
	if _, known := errors.AsType[*exit.Error](err); err == nil || known {
		return err
	}
	end := &exit.Error{Code: exit.Code(exit.CauseOf(ctx, err)), Err: err}
	if s.begun {
		end.Hints = []string{s.again(s.Procedure.Continue)}
	}
	return end
}

// ConfirmedAs fails if --confirm does not match the name.
func (f ChangeFlags) ConfirmedAs(name string) error {
	if f.Confirmed == "" || f.Confirmed == name {
		return nil
	}
	return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("--confirm %s does not match the name of the %s, which is %s (nothing was changed)", f.Confirmed, f.whose(), name)}
}

// whose is the noun of what --confirm must name.
func (f ChangeFlags) whose() string { return cmp.Or(f.Named, "cluster") }

// placeholder is the placeholder of that name in a hint.
func (f ChangeFlags) placeholder() string {
	if f.Named == "" {
		return "CLUSTER"
	}
	return "NAME"
}

// stages returns the stages of one pass, with the deletions that the flags choose.
func (c Change) stages() []plan.Stage {
	if !c.RespectPDB {
		return c.Stages
	}
	evicting := make([]plan.Stage, len(c.Stages))
	for i, s := range c.Stages {
		evicting[i] = plan.Evicting(s)
	}
	return evicting
}

// required returns the permissions that the command needs, with those of its flags.
func (c Change) required() []session.Permission {
	if !c.RespectPDB {
		return c.Permissions
	}
	return append(slices.Clone(c.Permissions), session.EvictPermissions()...)
}

// ServerDryRunner asks the API server whether it would accept what an action writes; requested is
// false if it cannot determine that.
type ServerDryRunner interface {
	Try(ctx context.Context, a plan.Action) (requested bool, err error)
}

// Tried is what the API server answered to a server dry run.
type Tried struct {
	// All is how many actions there are, and Requested how many of them it was queried about.
	All, Requested int
	// Rejected are its refusals.
	Rejected []error
	// Beyond is what it cannot be asked.
	Beyond string
}

// tryOut submits the actions of a plan as a server dry run, and fails with those that are
// rejected.
func (r *Run) tryOut(ctx context.Context, v planned.PlanView) error {
	server, can := r.Session.(ServerDryRunner)
	if !can {
		return exit.Usagef("--dry-run=server requires a change of a cluster: use --dry-run")
	}
	t := Tried{All: len(v.Items), Beyond: "deletions, labels, the database, and actions that depend on these"}
	for _, item := range v.Items {
		if requested, err := server.Try(ctx, item.Details); requested {
			t.Add(string(item.Stage), err)
		}
	}
	return t.End(r.Env)
}

// Add counts an answer; what names the action in its error.
func (t *Tried) Add(what string, err error) {
	t.Requested++
	if err != nil {
		t.Rejected = append(t.Rejected, fmt.Errorf("%s: %w", what, err))
	}
}

// End prints what the API server accepts, and fails with what it rejects.
func (t Tried) End(env *session.Env) error {
	switch {
	case len(t.Rejected) == 0 && t.Requested == t.All:
		env.Logf("the API server accepts %s", phrase.Either(t.All, "the only action", "all "+phrase.Count(t.All, "action")))
		return nil
	case len(t.Rejected) == 0:
		env.Logf("the API server accepts %s; not checked: %s", phrase.CountOf(t.Requested, t.All, "action"), t.Beyond)
		return nil
	}
	err := fmt.Errorf("the API server rejects %s: %w", phrase.CountOf(len(t.Rejected), t.All, "action"), errors.Join(t.Rejected...))
	if code := exit.Worst(t.Rejected); code != exit.ExitInternal {
		return &exit.Error{Code: code, Err: err}
	}
	return &exit.Error{Code: exit.ExitRefused, Err: err}
}
