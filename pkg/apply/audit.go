package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
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
