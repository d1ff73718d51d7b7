package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// eventTimeout bounds how long a pass waits for the Events of one stage to be written.
const eventTimeout = 5 * time.Second

// Auditor records the actions of a run: a line per action in a file, and Events on the
// resource. A run whose file cannot be continued changes nothing; once a run has changed
// something, it warns once and never stops.
type Auditor struct {
	env    *session.Env
	run    audit.Run
	path   string // of the file; empty if there can be none
	events *audit.Events

	began map[actionKey]time.Time // of running actions, by stage and fingerprint
	done  []audit.Entry           // of the current stage, for its Events
	// mute is true for the rest of a pass in which Events could not be written, and permanently
	// once they are forbidden.
	mute, forbidden, warned bool
	// fileless is true once it was reported that the file is not written.
	fileless bool
}

// NewAuditor returns the auditor of a change of a resource.
func NewAuditor(e *session.Env, key types.NamespacedName, c Change) *Auditor {
	who, _, _ := strings.Cut(e.Holder, " (") // without the start of the process
	words := slices.Concat(c.Args, c.Shared())
	a := &Auditor{env: e, began: map[actionKey]time.Time{}, run: audit.Run{
		RunID: e.RunID, Who: who, Context: e.Connection().ContextName(), Namespace: key.Namespace, Cluster: c.ResourceKind.Named(key).Name,
		Command: e.Command(words...), Typed: session.Where{}.ShellLine(append([]string{"kubectl", "fdb"}, words...), nil), Reason: c.Reason, Plan: e.PlanDigest(),
	}}
	var err error
	if a.path, err = audit.Path(e.Getenv); err != nil {
		a.withoutFile(err)
	}
	return a
}

// Audited returns an error if the audit file cannot be continued, or is the first on a disk that is full or fails.
// Where there can be no file, nothing is refused: Events remain.
func Audited(e *session.Env) error {
	path, err := audit.Path(e.Getenv)
	if err == nil {
		err = audit.Room(path)
	}
	broken, is := errors.AsType[*audit.BrokenError](err)
	if !is {
		return nil // whoever writes lines reports that there is no file
	}
	return &reconcile.RefusedError{Check: plan.Check{
		ID: plan.CheckAudited, Gate: plan.GateAudit, Question: "can the audit file be continued?",
		Evidence: broken.Error() + "; free space, or set XDG_STATE_HOME to another directory",
	}}
}

// audited is an actor that begins no pass whose actions could not be recorded.
type audited struct {
	reconcile.Actor
	env *session.Env
}

// Begin implements reconcile.Actor.
func (a audited) Begin(ctx context.Context) error {
	if err := Audited(a.env); err != nil {
		return err
	}
	return a.Actor.Begin(ctx)
}

// report returns the observer of a pass. Events are written at the end of each stage, after
// Ctrl-C too.
func (a *Auditor) report(ctx context.Context) func(reconcile.Event) {
	ctx = context.WithoutCancel(ctx)
	return func(e reconcile.Event) {
		switch e := e.(type) {
		case reconcile.Observed:
			a.about(e.Snapshot)
		case reconcile.ActionStarted:
			a.began[keyOf(e.Stage, e.Action)] = a.env.Clock.Now()
		case reconcile.ActionDone:
			a.record(e.Stage, e.Action, e.Err)
		case reconcile.StageDone:
			a.writeEvents(ctx)
		case reconcile.PassStarted:
			a.mute = a.forbidden
		case reconcile.Observing, reconcile.GatesChecked, reconcile.StageDecided, reconcile.LeaseTaken,
			reconcile.LockTaken, reconcile.PassDone: // no action
		}
	}
}

// about sets the object that records refer to, each time another one was read.
func (a *Auditor) about(s plan.Snapshot) {
	kind, object := "FoundationDBCluster", client.Object(nil)
	switch {
	case s.Backup != nil:
		kind, object = "FoundationDBBackup", s.Backup
	case s.Restore != nil:
		kind, object = "FoundationDBRestore", s.Restore
	case s.Cluster != nil:
		object = s.Cluster
	}
	if object == nil || a.events != nil && a.events.About.UID == object.GetUID() {
		return
	}
	a.run.UID = object.GetUID()
	cl, err := a.env.Client()
	if err != nil {
		return // reported by the pass, which needs a client too
	}
	a.events = &audit.Events{Client: cl, About: corev1.ObjectReference{
		APIVersion: v1beta2.GroupVersion.String(), Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
	}}
}

// actionKey identifies an action between its start and its end.
type actionKey struct {
	stage       plan.StageName
	fingerprint string
}

func keyOf(stage plan.StageName, a plan.Action) actionKey {
	return actionKey{stage, plan.Fingerprint(a)}
}

// record writes the audit line of an action.
func (a *Auditor) record(stage plan.StageName, action plan.Action, err error) {
	key := keyOf(stage, action)
	a.add(audit.NewEntry(a.run, stage, action, err, a.began[key], a.env.Clock.Now()))
	delete(a.began, key)
}

// step writes the audit line and the Event of a step.
func (a *Auditor) step(ctx context.Context, stage plan.StageName, s reconcile.Step, began time.Time, err error) {
	a.add(audit.NewStepEntry(a.run, stage, s, err, began, a.env.Clock.Now()))
	a.writeEvents(context.WithoutCancel(ctx))
}

// add keeps an entry for the Events of its stage, and writes its line.
func (a *Auditor) add(entry audit.Entry) {
	a.done = append(a.done, entry)
	if a.path == "" {
		return
	}
	if err := audit.Append(a.path, entry); err != nil {
		a.withoutFile(err)
	}
}

func (a *Auditor) withoutFile(err error) {
	if !a.fileless {
		a.env.Logf("warning: no audit file is written: %s", err)
	}
	a.fileless = true
}

// writeEvents writes the Events of a stage. After the first failure no more are written in this
// pass, so that a slow API server does not slow it down.
func (a *Auditor) writeEvents(ctx context.Context) {
	entries := a.done
	a.done = nil
	if len(entries) == 0 || a.events == nil || a.mute {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, eventTimeout, errors.New("no answer within "+eventTimeout.String()))
	defer cancel()
	err := a.events.Write(ctx, entries)
	if err == nil {
		return
	}
	a.mute, a.forbidden = true, apierrors.IsForbidden(err)
	if a.warned {
		return
	}
	a.warned = true
	a.env.Logf("warning: no audit Events are written: %s%s", exit.Explain(exit.CauseOf(ctx, err)), a.missing(err))
}

// missing describes the permissions required to write Events.
func (a *Auditor) missing(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	return "; required permissions: \"create events\" and \"patch events\" in namespace " + a.run.Namespace
}

// stageStore is the stage of the audit in which the spec is stored; no pass has it.
const stageStore plan.StageName = "StoreSpec"

// storeProposals has the API server store the changes of specs that the passes carry out. It comes right before the first
// pass, and after another preview of each: where one would be refused, no spec is stored.
func (t *resourceSet) storeProposals(ctx context.Context) error {
	for _, p := range t.members {
		if err := p.checkProposal(ctx); err != nil {
			return err
		}
	}
	for i, p := range t.members {
		err := p.storeProposal(ctx)
		if t.spread(); err != nil {
			return t.partlyStored(i, err)
		}
	}
	return nil
}

// checkProposal refuses a change that cannot be stored, or that no pass could begin to carry out.
func (p *Passes) checkProposal(ctx context.Context) error {
	c := p.Proposal
	if c == nil {
		return nil
	}
	if err := Audited(p.Env); err != nil {
		return err
	}
	if err := c.Refresh(ctx); err != nil {
		return withDone(p.Env, err)
	}
	view, done, err := p.Preview(ctx)
	switch {
	case err != nil:
		return err
	case RefusalOf(view, done) != nil:
		return p.showView(view, done)
	case !c.IsChange():
		return nil
	case done.Outcome == reconcile.Blocked && onlyRecords(view):
		return withDone(p.Env, exitBlocked(p.subject(), c.Source, view))
	default: // a prompt can wait for hours
		return withDone(p.Env, c.MayStore())
	}
}

// storeProposal stores a change that was checked.
func (p *Passes) storeProposal(ctx context.Context) error {
	c := p.Proposal
	if c == nil {
		return nil
	}
	if !c.IsChange() {
		return c.Store(ctx)
	}
	began := p.Env.Clock.Now()
	err := c.Store(ctx)
	of := p.observed.snapshot
	planned.ResourceOf(of).SetUID(c.Stored.GetUID())
	p.audit.about(of)
	p.audit.step(ctx, stageStore, reconcile.Step{
		Kind: "StoreSpec", Subject: p.subject(), Words: "store the spec of " + c.Source,
	}, began, err)
	if c.IsStored() {
		p.Env.Run.Acted++
	}
	if err != nil {
		return err
	}
	p.Approved.created(string(c.Stored.GetUID()))
	p.Env.Logf("%s", p.amongOthers(fmt.Sprintf("stored the spec of %s: generation %d", c.Source, c.Stored.GetGeneration())))
	return nil
}

// partlyStored is the failure of a command whose changes are not all stored: none of the passes has run.
func (t *resourceSet) partlyStored(at int, err error) error {
	if t.env.Run.Acted == 0 || t.alone {
		return withDone(t.env, err)
	}
	stored, left := []string{}, []string{}
	for _, p := range t.members {
		switch {
		case !p.Proposal.IsChange():
		case p.Proposal.IsStored():
			stored = append(stored, p.title())
		default:
			left = append(left, p.title())
		}
	}
	words := fmt.Errorf("%w; %s %s stored, %s %s not, and no pass was run", err,
		phrase.List(stored), phrase.Is(len(stored)), phrase.List(left), phrase.Is(len(left)))
	partly := &exit.Error{Code: exit.Code(err), Err: words}
	if known, is := errors.AsType[*exit.Error](err); is {
		partly.Hints = slices.Clone(known.Hints)
	}
	partly.Hints = append(partly.Hints, t.members[at].again("store the rest, and carry out all"))
	return partly
}

// withDone adds to the failure of storing a change what the command has done before.
func withDone(e *session.Env, err error) error {
	if err == nil {
		return nil
	}
	with := &exit.Error{Code: exit.Code(err), Err: fmt.Errorf("%w (%s)", err, e.Prompt().DoneSoFar())}
	if known, is := errors.AsType[*exit.Error](err); is {
		with.Hints = known.Hints
	}
	return with
}

// mayStore refuses changes that one command cannot store and carry out, before anything is approved.
func mayStore(e *session.Env, all []Keyed) error {
	for _, c := range all {
		if first := all[0].Key; c.Key.Namespace != first.Namespace {
			return exit.Usagef("the manifests have resources in several namespaces (%s in %s, %s in %s): carry out those of one namespace at a time (nothing was changed)",
				all[0].subject(), first.Namespace, c.subject(), c.Key.Namespace)
		}
		if err := c.Proposal.MayStore(); err != nil {
			return withDone(e, err)
		}
	}
	return nil
}

// onlyRecords reports whether a pass would do nothing but record what it observes.
func onlyRecords(view planned.PlanView) bool {
	return !slices.ContainsFunc(view.Items, func(item planned.PlanItem) bool { return item.Fingerprint != "" })
}

// exitBlocked is the failure of a command whose change no pass could begin to carry out.
func exitBlocked(subject, source string, view planned.PlanView) error {
	why := "manual intervention is required"
	if hold := view.MainHold(); hold != nil {
		why = hold.Reason
	}
	return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("%s: no pass could do anything with the spec of %s: %s", subject, source, why)}
}

// created gives the approval for a resource that did not exist its UID: before, it was that of a dry run.
func (a *Approval) created(uid string) {
	for _, of := range []*Identity{a.of, a.Named} {
		if of != nil {
			of.UID = uid
		}
	}
}
