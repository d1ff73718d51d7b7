package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// operating is a session that stores operations.
type operating struct {
	session.Session
	mu       sync.Mutex
	calls    []string
	set      reconcile.Operation
	reported reconcile.OperationProgress
	other    *reconcile.Operation
	abort    *reconcile.OperationAbort
	err      error
	reads    int // of the operation of another run
}

func (o *operating) Operations() reconcile.OperationKeeper { return o }

func (o *operating) called(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, name)
}

func (o *operating) OtherOperation(context.Context) (*reconcile.Operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reads++
	return o.other, o.err
}

func (o *operating) KeepOperation(context.Context) error {
	o.called("keep")
	return o.err
}

func (o *operating) RefuseBesideOthers() { o.called("refuse") }

func (o *operating) SetOperation(op reconcile.Operation) {
	o.called("set")
	o.set = op
}

func (o *operating) RenewOperation(_ context.Context, p reconcile.OperationProgress) error {
	o.called("renew")
	o.reported = p
	return o.err
}

func (o *operating) AbortRequest(context.Context) (*reconcile.OperationAbort, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.abort, nil
}

func (o *operating) EndOperation(ctx context.Context) error {
	o.called("end")
	return errors.Join(ctx.Err(), o.err)
}

// passesOf are those of a replacement by ann, in a session that stores operations.
func passesOf(s *operating, errs *strings.Builder, c ChangeFlags) (*Passes, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Now())
	e := &session.Env{
		IOStreams: genericiooptions.IOStreams{Out: errs, ErrOut: errs}, Kube: genericclioptions.NewConfigFlags(false), Clock: clock,
		Holder: "ann@laptop process 17", RunID: "run1", IsTerminal: func(any) bool { return false },
	}
	r := Run{Env: e, Session: s, Key: types.NamespacedName{Namespace: "fdb", Name: "sample"}}
	return newPasses(r, Change{Args: []string{"replace", "sample", "storage-1"}, Undo: []string{"resume", "sample"}, ChangeFlags: c}), clock
}

func TestACommandThatWaitsIsAnOperation(t *testing.T) {
	for name, c := range map[string]struct {
		wait bool
		err  error
		want []string
		says string
	}{
		"it waits":               {wait: true, want: []string{"set", "renew", "end"}},
		"it does not wait":       {want: []string{"renew"}},
		"its end is not written": {wait: true, err: errors.New("no answer"), want: []string{"set", "renew", "end"}, says: "others see this operation for 1m0s more: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, errs := &operating{err: c.err}, &strings.Builder{}
			p, _ := passesOf(s, errs, ChangeFlags{Wait: c.wait, Reason: "CHG-42"})
			ctx, end := p.beginOperation(t.Context())
			p.count, p.acted, p.targets = 2, 5, []inspect.Target{{ID: "storage-1", Reached: true}, {ID: "storage-2"}}
			p.renewOperation(ctx, "storage-2 is draining")
			end()
			if !slices.Equal(s.calls, c.want) || !strings.Contains(errs.String(), c.says) {
				t.Errorf("calls %q, want %q; %q on stderr", s.calls, c.want, errs)
			}
			want := reconcile.Operation{ID: "run1", Command: "replace sample storage-1 --wait", Holder: "ann@laptop process 17", User: "ann@laptop", Reason: "CHG-42", Since: s.set.Since}
			if c.wait && (!cmp.Equal(s.set, want) || s.set.Since.IsZero()) {
				t.Errorf("operation %+v", s.set)
			}
			if now := (reconcile.OperationProgress{Passes: 2, Actions: 5, Reached: 1, Targets: 2, WaitingFor: "storage-2 is draining"}); !s.reported.Equal(now) {
				t.Errorf("progress %+v", s.reported)
			}
		})
	}
}

// Others see why it waits by a code, and since when it waits for its user.
func TestOthersSeeWhatAnOperationWaitsFor(t *testing.T) {
	s := &operating{}
	p, clock := passesOf(s, &strings.Builder{}, ChangeFlags{Wait: true})
	ctx, end := p.beginOperation(t.Context())
	defer end()
	p.why.Report(reconcile.StageDecided{Stage: "AddPods", Decision: plan.Decision{Hold: &plan.Hold{Code: plan.HoldPodsPending, Subjects: []string{"storage-2"}}}})
	p.why.Report(reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Waiting, Reason: "pods start"})
	p.published.observed = reconcile.OperationProgress{ReplacementsTotal: 1}
	p.renewOperation(ctx, "AddPods: pods start")
	if want := (reconcile.OperationProgress{WaitingFor: "AddPods: pods start", Hold: plan.HoldPodsPending, HoldSubjects: []string{"storage-2"}, ReplacementsTotal: 1}); !s.reported.Equal(want) {
		t.Errorf("others see %+v", s.reported)
	}
	asked := clock.Now()
	p.published.askedAt = &asked
	p.renewOperation(ctx, "")
	if s.reported.AskedAt == nil || s.reported.Hold != "" {
		t.Errorf("while it waits for an answer others see %+v", s.reported)
	}
}

func TestACommandIsRefusedBeforeApprovalWhileAnOperationIsActive(t *testing.T) {
	ann := &reconcile.Operation{ID: "run0", Command: "restart sample --wait", User: "bob@desk", Since: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	s, errs := &operating{other: ann}, &strings.Builder{}
	p, _ := passesOf(s, errs, ChangeFlags{Yes: true, Output: "text"})
	err := p.All(t.Context()) // it would panic if it began a pass: the session can nothing else
	active, known := new(reconcile.ActiveOperationError), new(exit.Error)
	if !errors.As(err, &active) || active.Operation.ID != "run0" || !errors.As(err, &known) || exit.Code(err) != exit.ExitConflict {
		t.Fatalf("exit code %d: %v", exit.Code(err), err)
	}
	if len(known.Hints) != 4 || !strings.Contains(known.Hints[0], "--wait") || !strings.Contains(known.Hints[3], "--join") {
		t.Errorf("hints %q", known.Hints)
	}
	if !slices.Equal(s.calls, []string{"refuse"}) {
		t.Errorf("calls %q", s.calls)
	}
}

func TestACommandThatWaitsWaitsForTheEndOfAnotherOperation(t *testing.T) {
	s, errs := &operating{}, &strings.Builder{}
	p, clock := passesOf(s, errs, ChangeFlags{Wait: true})
	s.other = &reconcile.Operation{ID: "run0", Command: "restart sample --wait", User: "bob@desk", Since: clock.Now(), Seen: clock.Now().Add(-20 * time.Second)}
	ended := make(chan error)
	go func() { ended <- p.refuseBeside(t.Context()) }()
	for s.countReads() < 3 {
		clock.Step(abortInterval)
		time.Sleep(time.Millisecond)
	}
	s.mu.Lock()
	s.other = nil
	s.mu.Unlock()
	for {
		select {
		case err := <-ended:
			if err != nil || !strings.Contains(errs.String(), "waiting: another operation is active: run0: restart sample --wait, by bob@desk, since") ||
				!strings.Contains(errs.String(), "it counts as ended in") {
				t.Errorf("%v, printed %q", err, errs.String())
			}
			return
		default:
			clock.Step(abortInterval)
			time.Sleep(time.Millisecond)
		}
	}
}

func TestWaitingForAnotherOperationEndsWithTheTimeout(t *testing.T) {
	s := &operating{other: &reconcile.Operation{ID: "run0"}}
	p, clock := passesOf(s, &strings.Builder{}, ChangeFlags{Wait: true})
	p.Timeout = time.Minute
	ended := make(chan error)
	go func() { ended <- p.refuseBeside(t.Context()) }()
	for {
		select {
		case err := <-ended:
			if exit.Code(err) != exit.ExitWaiting {
				t.Errorf("exit code %d: %v", exit.Code(err), err)
			}
			return
		default:
			clock.Step(abortInterval)
			time.Sleep(time.Millisecond)
		}
	}
}

func TestAPassThatChangedNothingDoesNotClaimAChange(t *testing.T) {
	for name, tc := range map[string]struct {
		last reconcile.PassDone
		want string
	}{
		"changes":                   {reconcile.PassDone{Acted: 1}, "the next pass reads what this one has changed"},
		"changes, then the end":     {reconcile.PassDone{Acted: 1, Interrupted: true}, "the next pass reads what this one has changed"},
		"the end before any change": {reconcile.PassDone{Interrupted: true}, "the pass was interrupted before it changed anything"},
		"no change":                 {reconcile.PassDone{}, "the pass changed nothing; the next one reads again"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, reason := (&outcome{Last: tc.last}).waitsFor(); reason != tc.want {
				t.Errorf("waits for %q, want %q", reason, tc.want)
			}
		})
	}
}

func (o *operating) countReads() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reads
}

func TestJoinAllowsACommandWhileAnOperationIsActive(t *testing.T) {
	for join, want := range map[bool][]string{true: nil, false: {"refuse"}} {
		s := &operating{other: &reconcile.Operation{ID: "run0"}}
		p, _ := passesOf(s, &strings.Builder{}, ChangeFlags{Join: join})
		if err := p.refuseBeside(t.Context()); (err == nil) != join || !slices.Equal(s.calls, want) {
			t.Errorf("join %t: %v, calls %q, want %q", join, err, s.calls, want)
		}
	}
}

// A Lease that cannot be read is the pass' error, with its cause: changes are refused there.
func TestAnUnreadableOperationLeaseIsLeftToThePass(t *testing.T) {
	s := &operating{err: errors.New("no answer")}
	p, _ := passesOf(s, &strings.Builder{}, ChangeFlags{})
	if err := p.refuseBeside(t.Context()); err != nil || !slices.Equal(s.calls, []string{"refuse"}) {
		t.Errorf("%v, calls %q", err, s.calls)
	}
}

func TestAnOperationEndsOnAnAbortRequest(t *testing.T) {
	s, errs := &operating{}, &strings.Builder{}
	p, clock := passesOf(s, errs, ChangeFlags{Wait: true})
	p.acted, p.targets = 3, []inspect.Target{{ID: "storage-1", Phase: "draining"}, {ID: "storage-2", Phase: "removed", Reached: true}}
	ctx, end := p.beginOperation(t.Context())
	defer end()
	for !clock.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	clock.Step(abortInterval)
	s.mu.Lock()
	s.abort = &reconcile.OperationAbort{ID: "run1", By: "bob@desk", Reason: "wrong group"}
	s.mu.Unlock()
	for ctx.Err() == nil {
		clock.Step(abortInterval)
		time.Sleep(time.Millisecond)
	}
	err := p.end(ctx, ctx.Err())
	known := new(exit.Error)
	if !errors.As(err, &known) || known.Code != exit.ExitRefused || len(known.Hints) != 2 {
		t.Fatalf("exit code %d: %+v", exit.Code(err), err)
	}
	for _, part := range []string{"aborted by bob@desk (wrong group)", "not done: storage-1 is draining"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "storage-2") {
		t.Errorf("%q names what is done", err)
	}
}

// The last pass may have had nothing left to do while what the command is for takes its time.
func TestATimedOutWaitIsReportedAsWaiting(t *testing.T) {
	p := &Passes{}
	p.Last.Outcome = reconcile.Done
	if word := p.endWord(&exit.Error{Code: exit.ExitWaiting, Err: exit.ErrTimeout}); word != "waiting" {
		t.Errorf("it is %q", word)
	}
}
