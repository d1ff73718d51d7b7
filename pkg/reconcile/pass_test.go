package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ledger is a cluster state of three numbers: how often each facet was read, what was done,
// and a fact that stages decide on.
type ledger struct {
	// fact is what the resource's status holds as its running version.
	fact     string
	observed []string
	acted    []string
	// the cluster's moods
	beginErr, lockErr, endErr error
	onBegin, onLock           func()
	refuse                    map[string]error
	ended                     int
	observeErr                error
}

func (l *ledger) Observe(_ context.Context, into *plan.Snapshot, f plan.Facet) error {
	l.observed = append(l.observed, f.String())
	if l.observeErr != nil {
		return l.observeErr
	}
	into.Cluster = &v1beta2.FoundationDBCluster{}
	into.Cluster.Status.RunningVersion = l.fact
	return nil
}

func (l *ledger) Begin(context.Context) error {
	if l.onBegin != nil {
		l.onBegin()
	}
	return l.beginErr
}

func (l *ledger) Lock(context.Context) error {
	if l.onLock != nil {
		l.onLock()
	}
	return l.lockErr
}

func (l *ledger) End(context.Context) error { l.ended++; return l.endErr }

func (l *ledger) Act(_ context.Context, a plan.Action) error {
	if err := l.refuse[a.Describe()]; err != nil {
		return err
	}
	l.acted = append(l.acted, a.Describe())
	return nil
}

// stage wants the actions whenever the fact is what it expects.
func stage(name plan.StageName, whenFact string, actions ...plan.Action) plan.Stage {
	return plan.Stage{Name: name, Reads: plan.ClusterResource | plan.Database, Decide: func(s plan.Snapshot) plan.Decision {
		if s.Cluster.Status.RunningVersion != whenFact {
			return plan.Decision{}
		}
		return plan.Decision{Why: "the fact is " + whenFact, Actions: actions}
	}}
}

var (
	unlocked = plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"}
	locked   = plan.Configure{Command: "configure double", Configuration: fdb.Configuration{}}
)

func run(t *testing.T, p reconcile.Pass) (reconcile.PassDone, []reconcile.Event) {
	t.Helper()
	var events []reconcile.Event
	p.Report = func(e reconcile.Event) { events = append(events, e) }
	done, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done, events
}

func TestAPassWithNothingToDoTakesNoLeaseAndReadsOnce(t *testing.T) {
	l := &ledger{fact: "stable", beginErr: errors.New("no Lease should be taken")}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked), stage("Two", "storm", locked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Done {
		t.Errorf("outcome %s, want done", done.Outcome)
	}
	if diff := cmp.Diff([]string{"record, database"}, l.observed); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	if l.ended != 0 {
		t.Error("released what was never taken")
	}
}

func TestAPassReadsAgainAfterTakingTheLease(t *testing.T) {
	l := &ledger{fact: "storm"}
	l.onBegin = func() { l.fact = "stable" }
	run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Actor: l})
	if len(l.acted) != 0 {
		t.Errorf("acted on facts older than the Lease: %v", l.acted)
	}
}

func TestAPassReadsAgainAfterTakingTheLock(t *testing.T) {
	l := &ledger{fact: "storm"}
	l.onLock = func() { l.fact = "stable" }
	run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", locked)}, Observer: l, Actor: l})
	if len(l.acted) != 0 {
		t.Errorf("acted on facts older than the lock: %v", l.acted)
	}
}

func TestTheLockIsNotTakenForActionsThatDoNotRequireIt(t *testing.T) {
	l := &ledger{fact: "storm", lockErr: errors.New("no lock should be taken")}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Changed || len(l.acted) != 1 {
		t.Errorf("%s after %v, want one action", done.Outcome, l.acted)
	}
}

func TestAHeldLeaseEndsThePassBeforeAnythingIsDone(t *testing.T) {
	l := &ledger{fact: "storm", beginErr: &reconcile.HeldError{What: "lease", Holder: "someone"}}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
	var held *reconcile.HeldError
	if !errors.As(done.Stopped, &held) || len(l.acted) != 0 {
		t.Errorf("stopped by %v after %v, want a held Lease and no action", done.Stopped, l.acted)
	}
}

func TestAHeldLockMakesAStageWaitAndLaterStagesRun(t *testing.T) {
	l := &ledger{fact: "storm", lockErr: &reconcile.HeldError{What: "database lock", Holder: "dc2"}}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", locked), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Waiting {
		t.Errorf("outcome %s, want waiting", done.Outcome)
	}
	if diff := cmp.Diff([]string{unlocked.Describe()}, l.acted); diff != "" {
		t.Errorf("acted (-want +got):\n%s", diff)
	}
}

func TestAFailedStageDoesNotStopLaterOnes(t *testing.T) {
	l := &ledger{fact: "storm", refuse: map[string]error{locked.Describe(): errors.New("quota exceeded")}}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", locked), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Failed || len(done.Failures) != 1 || !strings.Contains(done.Failures[0].Error(), "quota exceeded") {
		t.Errorf("%s with %v, want one failure", done.Outcome, done.Failures)
	}
	if done.Acted != 1 || len(l.acted) != 1 {
		t.Errorf("acted %v, want the second stage's action", l.acted)
	}
}

// Conditions that are not recorded any more would restart again what has restarted, and replace what has come back.
func TestNoLaterStageDecidesByAStatusThatCouldNotBeWritten(t *testing.T) {
	write := plan.WriteStatus{Cluster: "storm"}
	for name, err := range map[string]error{
		"forbidden":             errors.New("forbidden"),
		"refused for now":       &reconcile.NotYetError{Err: errors.New("try again later")},
		"refused with a reason": &reconcile.NotYetError{Err: errors.New("refused"), Hold: &plan.Hold{Code: plan.HoldEvictionRefused, Reason: "for now"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{fact: "storm", refuse: map[string]error{write.Describe(): err}}
			done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", write), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
			if _, is := errors.AsType[*reconcile.UnrecordedError](done.Stopped); !is || done.Outcome != reconcile.Failed {
				t.Errorf("%s, stopped by %v", done.Outcome, done.Stopped)
			}
			if done.Acted != 0 || len(l.acted) != 0 {
				t.Errorf("acted %v after a status that could not be written", l.acted)
			}
		})
	}
}

func TestATemporaryRefusalIsAWaitAndLaterStagesRun(t *testing.T) {
	l := &ledger{fact: "storm", refuse: map[string]error{locked.Describe(): &reconcile.NotYetError{Err: errors.New("try again later")}}}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", locked), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Waiting || done.RetryAfter == 0 || len(done.Failures) != 0 {
		t.Errorf("%s, again after %s, with %v; want a wait", done.Outcome, done.RetryAfter, done.Failures)
	}
	if done.Acted != 1 || len(l.acted) != 1 {
		t.Errorf("acted %v, want the second stage's action", l.acted)
	}
}

func TestARefusedActionWithAHoldMakesItsStageWait(t *testing.T) {
	hold := &plan.Hold{Code: plan.HoldEvictionRefused, Reason: "pod storage-1 may not be evicted", RetryAfter: time.Minute}
	l := &ledger{fact: "storm", refuse: map[string]error{locked.Describe(): &reconcile.NotYetError{Err: errors.New("refused"), Hold: hold}}}
	done, events := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", locked), stage("Two", "storm", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Waiting || done.RetryAfter != time.Minute || len(done.Failures) != 0 || done.Acted != 1 {
		t.Errorf("%s, again after %s, with %v, %d done; want a wait of a minute, and the second stage's action", done.Outcome, done.RetryAfter, done.Failures, done.Acted)
	}
	var last *plan.Hold
	for _, e := range events {
		if decided, is := e.(reconcile.StageDecided); is && decided.Stage == "One" {
			last = decided.Hold
		}
	}
	if last != hold {
		t.Errorf("the stage holds for %+v, want %+v", last, hold)
	}
}

func TestARefusedGateEndsThePassBeforeTakingTheLease(t *testing.T) {
	l := &ledger{fact: "storm", beginErr: errors.New("the Lease was taken")}
	gates := func(context.Context) ([]plan.Check, error) {
		return []plan.Check{{Question: "does no operator run?", Gate: plan.GateOperator, Evidence: "an operator is"}}, nil
	}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Actor: l, Gates: gates})
	var refused *reconcile.RefusedError
	if !errors.As(done.Stopped, &refused) || done.Outcome != reconcile.Blocked || len(l.acted) != 0 {
		t.Errorf("%s, stopped by %v after %v, want blocked by the gate", done.Outcome, done.Stopped, l.acted)
	}
}

func TestGatesThatCannotBeEvaluatedEndThePass(t *testing.T) {
	l := &ledger{fact: "storm"}
	asked, tooMany := 0, errors.New("too many requests")
	gates := func(context.Context) ([]plan.Check, error) { asked++; return nil, tooMany }
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked), stage("Two", "storm", unlocked)}, Observer: l, Actor: l, Gates: gates})
	if done.Outcome != reconcile.Failed || !errors.Is(done.Stopped, tooMany) || len(l.acted) != 0 || asked != 1 {
		t.Errorf("%s, stopped by %v, after %v, asked %d times, want a failure that ends the pass before the first action", done.Outcome, done.Stopped, l.acted, asked)
	}
}

func TestAPreviewShowsRefusedGatesOnce(t *testing.T) {
	asked := 0
	gates := func(context.Context) ([]plan.Check, error) {
		asked++
		return []plan.Check{{Question: "?", Gate: plan.GateOperator}}, nil
	}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked), stage("Two", "storm", locked)}, Observer: &ledger{fact: "storm"}, Gates: gates})
	if done.Outcome != reconcile.Blocked || len(done.Failures) != 1 || asked != 1 {
		t.Errorf("%s with %v, asked %d times, want one refusal", done.Outcome, done.Failures, asked)
	}
}

func TestNothingBeyondTheApprovedPlanIsDone(t *testing.T) {
	l := &ledger{fact: "storm"}
	permit := func(_ plan.StageName, a plan.Action) bool { return plan.KindOf(a) == "SetConnectionString" }
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked), stage("Two", "storm", locked), stage("Three", "storm", unlocked)}, Observer: l, Actor: l, Permit: permit})
	var beyond *reconcile.BeyondPlanError
	if !errors.As(done.Stopped, &beyond) || beyond.Stage != "Two" {
		t.Errorf("stopped by %v, want stage Two beyond the plan", done.Stopped)
	}
	if len(l.acted) != 1 || l.ended != 1 {
		t.Errorf("acted %v and released %d times, want one of each", l.acted, l.ended)
	}
}

func TestAnUnreachableAPIServerEndsThePass(t *testing.T) {
	l := &ledger{observeErr: &reconcile.UnreachableError{Err: errors.New("connection refused")}}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm"), stage("Two", "storm")}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Failed || len(l.observed) != 1 {
		t.Errorf("%s after %d observations, want failed after one", done.Outcome, len(l.observed))
	}
}

func TestAPassIsBlockedAfterFiveRounds(t *testing.T) {
	l := &ledger{fact: "storm"}
	again := plan.Stage{Name: "Again", Reads: plan.ClusterResource, Decide: func(plan.Snapshot) plan.Decision {
		return plan.Decision{Actions: []plan.Action{unlocked}, Hold: &plan.Hold{Reason: "start over", Then: plan.StartOver}}
	}}
	done, events := run(t, reconcile.Pass{Stages: []plan.Stage{again}, Observer: l, Actor: l})
	rounds := 0
	for _, e := range events {
		if _, ok := e.(reconcile.PassStarted); ok {
			rounds++
		}
	}
	if rounds != 5 || done.Outcome != reconcile.Blocked {
		t.Errorf("%d rounds and %s, want the bound of 5 and blocked", rounds, done.Outcome)
	}
}

func TestEndPassKeepsLaterStagesFromRunning(t *testing.T) {
	l := &ledger{fact: "storm"}
	ends := plan.Stage{Name: "Ends", Reads: plan.ClusterResource, Decide: func(plan.Snapshot) plan.Decision {
		return plan.Decision{Hold: &plan.Hold{Reason: "enough", Then: plan.EndPass, RetryAfter: time.Minute}}
	}}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{ends, stage("Later", "storm", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Waiting || done.RetryAfter != time.Minute || len(l.acted) != 0 {
		t.Errorf("%s in %s after %v, want waiting a minute without an action", done.Outcome, done.RetryAfter, l.acted)
	}
}

func TestAPreviewMakesNoChangesAndMarksProvisionalStages(t *testing.T) {
	l := &ledger{fact: "storm"}
	list := []plan.Stage{stage("First", "storm", locked), stage("Second", "storm", unlocked)}
	done, events := run(t, reconcile.Pass{Stages: list, Observer: l})
	if len(l.acted) != 0 || done.Planned != 2 {
		t.Errorf("acted %v and planned %d, want none and 2", l.acted, done.Planned)
	}
	var provisional [][]plan.StageName
	for _, e := range events {
		if d, ok := e.(reconcile.StageDecided); ok {
			provisional = append(provisional, d.Provisional)
		}
	}
	if diff := cmp.Diff([][]plan.StageName{nil, {"First"}}, provisional); diff != "" {
		t.Errorf("provisional (-want +got):\n%s", diff)
	}
}

func TestCtrlCFinishesTheCurrentActionAndReleasesTheLease(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &ledger{fact: "storm"}
	two := stage("One", "storm", unlocked, locked)
	p := reconcile.Pass{Stages: []plan.Stage{two, stage("Later", "storm", unlocked)}, Observer: l, Actor: l, Report: func(e reconcile.Event) {
		if _, ok := e.(reconcile.ActionStarted); ok {
			cancel()
		}
	}}
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v, want the context's error", err)
	}
	if diff := cmp.Diff([]string{unlocked.Describe()}, l.acted); diff != "" {
		t.Errorf("acted (-want +got):\n%s", diff)
	}
	if l.ended != 1 {
		t.Errorf("gave the Lease back %d times, want once", l.ended)
	}
}

// What takes long to ask for is read only where it matters, by what the stage has read, and
// then before it decides: first, and again under the Lease.
func TestExpensiveFacetsAreReadOnlyIfTheStageNeedsThem(t *testing.T) {
	for fact, want := range map[string][]string{
		"stable": {"record"},
		"storm":  {"record", "database", "record", "database"},
	} {
		t.Run(fact, func(t *testing.T) {
			l := &ledger{fact: fact}
			s := plan.Stage{
				Name: "One", Reads: plan.ClusterResource, More: plan.Database,
				Matters: func(s plan.Snapshot) bool { return s.Cluster.Status.RunningVersion == "storm" },
				Decide: func(s plan.Snapshot) plan.Decision {
					if s.Cluster.Status.RunningVersion != "storm" {
						return plan.Decision{}
					}
					if last := l.observed[len(l.observed)-1]; last != "database" {
						t.Errorf("it decides after reading %s", last)
					}
					return plan.Decision{Actions: []plan.Action{unlocked}}
				},
			}
			run(t, reconcile.Pass{Stages: []plan.Stage{s}, Observer: l, Actor: l})
			if diff := cmp.Diff(want, l.observed); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

// cut is an actor of which the actions end with their context.
type cut struct{ ledger }

var errCut = errors.New("not finished: part of it may be deleted")

func (c *cut) Act(ctx context.Context, _ plan.Action) error {
	<-ctx.Done()
	return errCut
}

// What may take an hour, and can be continued, is not waited for after Ctrl-C. What it
// left is told.
func TestCtrlCInterruptsLongBackupDeletions(t *testing.T) {
	for _, long := range []plan.Action{plan.ClearBackupData{}, plan.ExpireBackup{}, plan.DeleteBackupData{}} {
		ctx, cancel := context.WithCancel(t.Context())
		c := &cut{ledger{fact: "storm"}}
		p := reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", long)}, Observer: c, Actor: c, Report: func(e reconcile.Event) {
			if _, ok := e.(reconcile.ActionStarted); ok {
				cancel()
			}
		}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			done, err := p.Run(ctx)
			if !errors.Is(err, context.Canceled) || len(done.Failures) != 1 || !errors.Is(done.Failures[0], errCut) {
				t.Errorf("ended with %v and %v", err, done.Failures)
			}
		}()
		select {
		case <-ended:
		case <-time.After(10 * time.Minute):
			t.Fatalf("it waits for: %s", long.Describe())
		}
		if c.ended != 1 {
			t.Errorf("gave the Lease back %d times, want once", c.ended)
		}
	}
}

func TestPodCreationsRunConcurrentlyAndAllAreReported(t *testing.T) {
	var creations []plan.Action
	for i := range 20 {
		creations = append(creations, plan.CreatePod{Name: fmt.Sprintf("pod-%02d", i)})
	}
	l := &barrier{ledger: ledger{fact: "storm", refuse: map[string]error{"create pod pod-03": errors.New("quota exceeded")}}, arrived: make(chan string, 20)}
	done, events := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", creations...)}, Observer: l, Actor: l})
	var reported []string
	for _, e := range events {
		if d, ok := e.(reconcile.ActionDone); ok {
			reported = append(reported, d.Action.Describe())
		}
	}
	if len(reported) != 20 || !slices.IsSorted(reported) {
		t.Errorf("reported %v, want all 20 in order", reported)
	}
	if done.Acted != 19 || done.Outcome != reconcile.Failed {
		t.Errorf("%s after %d actions, want failed after 19", done.Outcome, done.Acted)
	}
	if l.most < 2 {
		t.Error("no two creations ran at the same time")
	}
}
