package apply

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// stepped is a cluster on which a command carries out one step, in memory.
type stepped struct {
	operating
	t     *testing.T
	clock *clocktesting.FakeClock
	out   strings.Builder
	state string
	// typed is what a user types; empty without a terminal. meanwhile is called before.
	typed     string
	meanwhile func()
	// refused is the gate that refuses; nil for none.
	refused *plan.Check
	// rejects is what the API server answers to a dry run, and fails what the step ends with.
	rejects error
	fails   func(ctx context.Context) error
	done    []string
}

func newStepped(t *testing.T) *stepped {
	t.Helper()
	return &stepped{t: t, clock: clocktesting.NewFakeClock(time.Now()), state: t.TempDir()}
}

func (s *stepped) did(what string) { s.done = append(s.done, what) }

func (s *stepped) Operations() reconcile.OperationKeeper { return &s.operating }

func (s *stepped) Gates(_ context.Context, o live.GateOptions) ([]plan.Check, error) {
	if s.refused == nil {
		return nil, nil
	}
	check := *s.refused
	check.OK = o.Coexist
	return []plan.Check{check}, nil
}

func (s *stepped) Begin(context.Context) error { s.did("begin"); return nil }

func (s *stepped) End(context.Context) error { s.did("end"); return nil }

func (s *stepped) Held(context.Context) error { return nil }

// Read implements io.Reader: the answer of a user who took some time.
func (s *stepped) Read(into []byte) (int, error) {
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return copy(into, s.typed), io.EOF
}

func (s *stepped) env() *session.Env {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, authorizationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			s.t.Fatal(err)
		}
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, is := o.(*authorizationv1.SelfSubjectRulesReview); is {
				return nil
			}
			return c.Create(ctx, o, opts...)
		},
	}).Build()
	return &session.Env{
		IOStreams: genericiooptions.IOStreams{In: s, Out: &s.out, ErrOut: &s.out}, Kube: genericclioptions.NewConfigFlags(false), Clock: s.clock,
		Holder: "ann@laptop process 17", RunID: "run1", Getenv: func(name string) string { return map[string]string{"XDG_STATE_HOME": s.state}[name] },
		IsTerminal: func(any) bool { return s.typed != "" }, Random: func() uint64 { return 1 },
		Client: func() (client.Client, error) { return api, nil },
	}
}

// run carries out the step.
func (s *stepped) run(ctx context.Context, f ChangeFlags) error {
	if f.DryRun == "" {
		f.DryRun = DryRunNone
	}
	c := Change{ChangeFlags: f, Args: []string{"gc", "sample"}, Procedure: &Procedure{
		Session: s, Stage: "GC", Work: 1, Question: "Remove 1 item?", Continue: "remove the rest",
		Print: func() error { s.did("print"); return nil },
		Show:  func(io.Writer) error { s.did("show"); return nil },
		Try: func(context.Context) (Tried, error) {
			t := Tried{All: 2, Beyond: "the database"}
			t.Add("Pod/a", s.rejects)
			return t, nil
		},
		Run: func(ctx context.Context, with Stepping) error {
			return reconcile.Steps{Actor: with.Session, Held: with.Session.Held, Report: with.Report, Now: s.clock.Now, Prepare: s.steps}.Run(ctx)
		},
	}}
	return CarryOut(ctx, s.env(), types.NamespacedName{Namespace: "fdb", Name: "sample"}, c)
}

func (s *stepped) steps(context.Context) ([]reconcile.Step, error) {
	return []reconcile.Step{{Kind: "RemovePod", Subject: "a", Words: "remove Pod a", Do: func(ctx context.Context) error {
		s.did("step")
		if s.fails != nil {
			return s.fails(ctx)
		}
		return nil
	}}}, nil
}

func TestStepsBeginOnlyWhileTheyMay(t *testing.T) {
	refusal := &plan.Check{ID: plan.CheckPlanCurrent, Gate: plan.GateOperator, Evidence: "an operator runs"}
	other := &reconcile.Operation{ID: "run0", Command: "replace sample --wait", User: "bob@desk"}
	tests := map[string]struct {
		given func(*stepped)
		flags ChangeFlags
		want  int
		done  []string
	}{
		"nothing is in the way":                           {flags: ChangeFlags{Yes: true}, done: []string{"begin", "step", "end"}},
		"approved at a prompt":                            {given: func(s *stepped) { s.typed = "y\n" }, done: []string{"show", "begin", "step", "end"}},
		"declined at a prompt":                            {given: func(s *stepped) { s.typed = "n\n" }, want: exit.ExitUnconfirmed, done: []string{"show"}},
		"without a terminal":                              {want: exit.ExitUnconfirmed},
		"a gate refuses":                                  {given: func(s *stepped) { s.refused = refusal }, flags: ChangeFlags{Yes: true}, want: exit.ExitRefused},
		"a gate refuses before the prompt":                {given: func(s *stepped) { s.typed, s.refused = "y\n", refusal }, want: exit.ExitRefused},
		"a gate begins to refuse while the prompt waits":  {given: func(s *stepped) { s.typed, s.meanwhile = "y\n", func() { s.refused = refusal } }, want: exit.ExitRefused, done: []string{"show"}},
		"the gate of operators, with --coexist":           {given: func(s *stepped) { s.refused = refusal }, flags: ChangeFlags{Yes: true, Coexist: true}, done: []string{"begin", "step", "end"}},
		"another run carries out an operation":            {given: func(s *stepped) { s.other = other }, flags: ChangeFlags{Yes: true}, want: exit.ExitConflict},
		"another run carries one out, with --join":        {given: func(s *stepped) { s.other = other }, flags: ChangeFlags{Yes: true, Join: true}, done: []string{"begin", "step", "end"}},
		"the audit file breaks while the prompt waits":    {given: func(s *stepped) { s.typed, s.meanwhile = "y\n", func() { s.breakAudit() } }, want: exit.ExitRefused, done: []string{"show"}},
		"data may be lost, and --yes is all there is":     {flags: ChangeFlags{Yes: true, Dangerous: true}, want: exit.ExitUnconfirmed},
		"data may be lost, and another name is confirmed": {flags: ChangeFlags{Yes: true, Dangerous: true, Confirmed: "other", Plan: "p", Reason: "r"}, want: exit.ExitUnconfirmed},
		"data may be lost, and it is confirmed by name":   {flags: ChangeFlags{Yes: true, Dangerous: true, Confirmed: "sample", Plan: "p", Reason: "r"}, done: []string{"begin", "step", "end"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStepped(t)
			if tc.given != nil {
				tc.given(s)
			}
			if err := s.run(t.Context(), tc.flags); exit.Code(err) != tc.want || !slices.Equal(s.done, tc.done) {
				t.Errorf("exit code %d, want %d, did %q, want %q: %v", exit.Code(err), tc.want, s.done, tc.done, err)
			}
		})
	}
}

// breakAudit leaves something that takes no line in place of the audit file.
func (s *stepped) breakAudit() {
	path := filepath.Join(s.state, "kubectl-fdb", "audit.jsonl")
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(path, 0o700)); err != nil {
		s.t.Error(err)
	}
}

func TestStepsAreAnOperationWithAuditLinesAndEvents(t *testing.T) {
	s := newStepped(t)
	s.fails = func(context.Context) error { return errors.New("no answer") }
	err := s.run(t.Context(), ChangeFlags{Yes: true, Reason: "CHG-42"})
	known := new(exit.Error)
	if !errors.As(err, &known) || exit.Code(err) != exit.ExitInternal || len(known.Hints) != 1 || !strings.HasPrefix(known.Hints[0], "remove the rest: kubectl fdb gc sample --yes") {
		t.Errorf("%+v", err)
	}
	if want := (reconcile.Operation{ID: "run1", Command: "gc sample", Holder: "ann@laptop process 17", User: "ann@laptop", Reason: "CHG-42", Since: s.set.Since}); !cmp.Equal(s.set, want) || !slices.Contains(s.calls, "end") {
		t.Errorf("operation %+v, calls %q", s.set, s.calls)
	}
	if want := (reconcile.OperationProgress{Targets: 1}); !s.reported.Equal(want) {
		t.Errorf("progress %+v", s.reported)
	}
	entries, _, err := audit.ReadFile(filepath.Join(s.state, "kubectl-fdb", "audit.jsonl"), audit.Run{Namespace: "fdb", Cluster: "sample", Context: s.env().Connection().ContextName()})
	if err != nil || len(entries) != 1 {
		t.Fatalf("%+v, %v", entries, err)
	}
	if e := entries[0]; e.Stage != "GC" || e.Action != "RemovePod" || e.Subject != "a" || e.Reason != "CHG-42" || e.Result != inspect.ActionFailed || e.Error != "no answer" || e.Who != "ann@laptop process 17" {
		t.Errorf("%+v", e)
	}
}

// maxSteps is how often the clock moves on before a test that waits in vain ends.
const maxSteps = 5000

func TestAnotherUserCanAbortSteps(t *testing.T) {
	s := newStepped(t)
	s.abort = &reconcile.OperationAbort{ID: "run1", By: "bob@desk", Reason: "wrong cluster"}
	s.fails = func(ctx context.Context) error {
		for n := 0; ctx.Err() == nil; n++ {
			if n == maxSteps {
				return errors.New("it goes on")
			}
			s.clock.Step(abortInterval)
			time.Sleep(time.Millisecond)
		}
		return context.Cause(ctx)
	}
	err := s.run(t.Context(), ChangeFlags{Yes: true})
	if exit.Code(err) != exit.ExitRefused || !strings.Contains(err.Error(), "aborted by bob@desk (wrong cluster)") || !slices.Equal(s.done, []string{"begin", "step", "end"}) {
		t.Errorf("exit code %d, did %q: %v", exit.Code(err), s.done, err)
	}
}

func TestStepsEndWithTheTimeout(t *testing.T) {
	s := newStepped(t)
	s.fails = func(ctx context.Context) error {
		for n := 0; ctx.Err() == nil && n < maxSteps; n++ {
			s.clock.Step(time.Minute)
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	}
	if err := s.run(t.Context(), ChangeFlags{Yes: true, Timeout: time.Minute}); exit.Code(err) != exit.ExitWaiting {
		t.Errorf("exit code %d: %v", exit.Code(err), err)
	}
}

func TestADryRunOfStepsChangesNothing(t *testing.T) {
	refusal := &plan.Check{ID: plan.CheckPlanCurrent, Gate: plan.GateOperator, Evidence: "an operator runs"}
	tests := map[string]struct {
		given func(*stepped)
		flags ChangeFlags
		want  int
		says  string
	}{
		"client":                            {flags: ChangeFlags{DryRun: DryRunClient}, want: exit.ExitNo},
		"server":                            {flags: ChangeFlags{DryRun: DryRunServer}, want: exit.ExitNo, says: "the API server accepts 1 of 2 actions; not checked: the database"},
		"server, which rejects it":          {given: func(s *stepped) { s.rejects = errors.New("quota") }, flags: ChangeFlags{DryRun: DryRunServer}, want: exit.ExitRefused},
		"with an approval":                  {flags: ChangeFlags{DryRun: DryRunClient, Yes: true}, want: exit.ExitNo},
		"what a gate would refuse":          {given: func(s *stepped) { s.refused = refusal }, flags: ChangeFlags{DryRun: DryRunClient}, want: exit.ExitNo, says: "it would be refused now: G-OPERATOR"},
		"beside the operation of other run": {given: func(s *stepped) { s.other = &reconcile.Operation{ID: "run0"} }, flags: ChangeFlags{DryRun: DryRunClient}, want: exit.ExitNo, says: "it would be refused now: another operation is active: run0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStepped(t)
			if tc.given != nil {
				tc.given(s)
			}
			if err := s.run(t.Context(), tc.flags); exit.Code(err) != tc.want || !slices.Equal(s.done, []string{"print"}) || !strings.Contains(s.out.String(), tc.says) {
				t.Errorf("exit code %d, want %d, did %q: %v, %s", exit.Code(err), tc.want, s.done, err, &s.out)
			}
			if _, err := os.Stat(filepath.Join(s.state, "kubectl-fdb")); !os.IsNotExist(err) {
				t.Errorf("it left a trace: %v", err)
			}
		})
	}
}
