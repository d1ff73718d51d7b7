package live_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
)

// operation is what others see.
func (f *field) operation() *reconcile.Operation {
	f.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := f.api.Get(f.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: live.LeaseName(key.Name)}, lease); err != nil {
		f.t.Fatal(err)
	}
	return live.OperationOf(lease)
}

func (f *field) replacing() reconcile.Operation {
	return reconcile.Operation{ID: "run1", User: "ann@laptop", Command: "replace sample storage-1 --wait", Holder: f.cluster.Holder, Since: f.cluster.Clock.Now().UTC()}
}

func (f *field) end() {
	f.t.Helper()
	if err := f.cluster.End(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// Between two passes the Lease is free, and others still see what goes on.
func TestAnOperationRemainsVisibleBetweenItsPasses(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	seen := f.operation()
	if seen == nil || seen.Command != "replace sample storage-1 --wait" || seen.Holder != f.cluster.Holder || !seen.IsActive(f.cluster.Clock.Now()) {
		t.Fatalf("others see %+v", seen)
	}
	if err := f.cluster.Operations().EndOperation(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := f.operation(); seen != nil {
		t.Errorf("after its end others see %+v", seen)
	}
}

// A command that has changed nothing writes nothing, and one that waits long reports that.
func TestAnOperationIsRenewedOnlyAfterItsFirstChange(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	before := len(f.log.seen)
	if err := f.cluster.Operations().RenewOperation(t.Context(), reconcile.OperationProgress{}); err != nil || len(f.log.seen) != before {
		t.Errorf("before the first change: %v, %d requests", err, len(f.log.seen)-before)
	}
	if err := f.cluster.Operations().EndOperation(t.Context()); err != nil || len(f.log.seen) != before {
		t.Errorf("without a change: %v, %d requests", err, len(f.log.seen)-before)
	}
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	first := f.operation().Seen
	if err := f.cluster.Operations().RenewOperation(t.Context(), reconcile.OperationProgress{}); err != nil || !f.operation().Seen.Equal(first) {
		t.Errorf("at once: %v, seen at %s", err, f.operation().Seen)
	}
	f.tick(2 * reconcile.OperationRenewal)
	if err := f.cluster.Operations().RenewOperation(t.Context(), reconcile.OperationProgress{}); err != nil || !f.operation().Seen.After(first) {
		t.Errorf("later: %v, seen at %s", err, f.operation().Seen)
	}
}

// A run that waits longer than its Lease lasts goes on, and one that was killed does not.
func TestAnOperationLivesAsLongAsItsRunReports(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	for range 6 {
		f.tick(reconcile.OperationRenewal)
		if err := f.cluster.Operations().KeepOperation(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !live.IsOperationActive(*f.operation(), f.cluster.Clock.Now()) {
		t.Error("an operation that is reported during a wait counts as ended")
	}
	f.tick(61 * time.Second) // as long as a Lease
	if live.IsOperationActive(*f.operation(), f.cluster.Clock.Now()) {
		t.Error("an operation counts as active after the Lease of its run has expired")
	}
}

// While a pass holds the Lease, its renewals report the operation: another write would conflict with them.
func TestAnOperationIsNotKeptBesideAHeldLease(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.tick(2 * reconcile.OperationRenewal)
	before := len(f.log.writes())
	if err := f.cluster.Operations().KeepOperation(t.Context()); err != nil || len(f.log.writes()) != before {
		t.Errorf("%v, %d writes", err, len(f.log.writes())-before)
	}
	f.end()
}

// The first operation stays the one that is shown; a second run reports it.
func TestASecondRunReportsTheActiveOperationOnce(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	first := f.cluster
	f.anotherRun()
	f.end()
	var reported []string
	f.cluster.Report = func(words string) { reported = append(reported, words) }
	f.cluster.Operations().SetOperation(reconcile.Operation{Command: "restart sample --wait", Holder: f.cluster.Holder, Since: f.cluster.Clock.Now()})
	for range 2 {
		f.begin()
		f.end()
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "replace sample storage-1 --wait, by ann@laptop") {
		t.Errorf("reported %q", reported)
	}
	if err := f.cluster.Operations().EndOperation(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := f.operation(); seen == nil || seen.Holder != first.Holder {
		t.Errorf("others see %+v", seen)
	}
}

// A run that was killed leaves its operation behind; it is replaced once it must have ended.
func TestAnExpiredOperationIsReplacedByTheNextRun(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	f.tick(reconcile.OperationTerm + time.Second)
	if f.operation().IsActive(f.cluster.Clock.Now()) {
		t.Error("it is still active")
	}
	f.anotherRun()
	f.end()
	if seen := f.operation(); seen != nil {
		t.Errorf("after a run without an operation others see %+v", seen)
	}
}

// A run that was not joined changes nothing beside another run's operation, also between its passes.
func TestChangesDuringAnotherRunsOperationAreRefused(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	own := f.cluster
	f.anotherRun()
	f.end()
	if other, err := f.cluster.Operations().OtherOperation(t.Context()); err != nil || other == nil || other.ID != "run1" {
		t.Fatalf("the other operation is %+v, %v", other, err)
	}
	f.cluster.Operations().RefuseBesideOthers()
	err := f.cluster.Begin(t.Context())
	active := &reconcile.ActiveOperationError{}
	if !errors.As(err, &active) || active.Operation.ID != "run1" {
		t.Errorf("a change beside it: %v", err)
	}
	own.Operations().RefuseBesideOthers()
	if other, err := own.Operations().OtherOperation(t.Context()); err != nil || other != nil {
		t.Errorf("the run itself sees %+v, %v", other, err)
	}
	f.tick(reconcile.OperationTerm + time.Second)
	if err := f.cluster.Begin(t.Context()); err != nil {
		t.Errorf("after its run was lost: %v", err)
	}
	f.end()
}

// Steps report their progress under the Lease: a write of their own would take it from its renewals.
func TestProgressUnderAHeldLeaseIsStoredByItsRenewals(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	before, now := len(f.log.writes()), reconcile.OperationProgress{Actions: 3}
	if err := f.cluster.Operations().RenewOperation(t.Context(), now); err != nil || len(f.log.writes()) != before {
		t.Errorf("%v, %d writes", err, len(f.log.writes())-before)
	}
	f.end()
	f.begin()
	f.end()
	if !f.operation().Progress.Equal(now) {
		t.Errorf("others see %+v", f.operation().Progress)
	}
}

// What is reported is how far the operation is, at once when that changes.
func TestTheProgressOfAnOperationIsStored(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	now := reconcile.OperationProgress{Passes: 1, Actions: 3, Targets: 2, Reached: 1, WaitingFor: "storage-2 is draining"}
	if err := f.cluster.Operations().RenewOperation(t.Context(), now); err != nil || !f.operation().Progress.Equal(now) {
		t.Errorf("%v, others see %+v", err, f.operation().Progress)
	}
	f.begin() // the next pass keeps it
	f.end()
	if !f.operation().Progress.Equal(now) {
		t.Errorf("after the next pass others see %+v", f.operation().Progress)
	}
}

// A request names one operation: its run sees it, no other run does, and it ends with the operation.
func TestAnAbortRequestReachesOnlyItsOperation(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	lease := types.NamespacedName{Namespace: key.Namespace, Name: live.LeaseName(key.Name)}
	if err := live.RequestAbort(t.Context(), f.api, lease, reconcile.OperationAbort{ID: "run2", By: "bob@desk"}); !errors.Is(err, live.ErrOperationEnded) {
		t.Errorf("a request for another operation: %v", err)
	}
	if abort, err := f.cluster.Operations().AbortRequest(t.Context()); err != nil || abort != nil {
		t.Errorf("before the request: %+v, %v", abort, err)
	}
	if err := live.RequestAbort(t.Context(), f.api, lease, reconcile.OperationAbort{ID: "run1", By: "bob@desk", Reason: "wrong group"}); err != nil {
		t.Fatal(err)
	}
	if abort, err := f.cluster.Operations().AbortRequest(t.Context()); err != nil || abort == nil || abort.By != "bob@desk" || abort.Reason != "wrong group" {
		t.Errorf("after the request: %+v, %v", abort, err)
	}
	own := f.cluster
	f.anotherRun()
	f.end()
	if abort, err := f.cluster.Operations().AbortRequest(t.Context()); err != nil || abort != nil {
		t.Errorf("another run sees %+v, %v", abort, err)
	}
	if err := own.Operations().EndOperation(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := &coordinationv1.Lease{}
	if err := f.api.Get(t.Context(), lease, left); err != nil || live.AbortOf(left) != nil {
		t.Errorf("after its end: %v, %+v", err, live.AbortOf(left))
	}
}

// The Lease outlives its cluster: the operation of another one of the same name refuses nothing.
func TestAnOperationOnAnotherClusterRefusesNothing(t *testing.T) {
	f := settled(t)
	f.cluster.Operations().SetOperation(f.replacing())
	f.begin()
	f.end()
	own := f.operation()
	if own.UID == "" {
		t.Fatal("the operation has no UID")
	}
	for uid, refused := range map[types.UID]bool{own.UID: true, "another": false, "": true} {
		f.record(func(o *reconcile.Operation) { o.UID, o.Holder = uid, "ann@laptop" })
		other, err := f.cluster.Operations().OtherOperation(t.Context())
		if err != nil || (other != nil) != refused {
			t.Errorf("UID %q: %+v (%v), want refused: %t", uid, other, err, refused)
		}
	}
}

// record changes the operation in the Lease.
func (f *field) record(edit func(*reconcile.Operation)) {
	f.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := f.api.Get(f.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: live.LeaseName(key.Name)}, lease); err != nil {
		f.t.Fatal(err)
	}
	o := *live.OperationOf(lease)
	edit(&o)
	text, err := json.Marshal(o)
	if err != nil {
		f.t.Fatal(err)
	}
	lease.Annotations[live.AnnotationOperation] = string(text)
	if err := f.api.Update(f.t.Context(), lease); err != nil {
		f.t.Fatal(err)
	}
}

func TestALeaseOfYearsLastsAsLongAsThatOfARun(t *testing.T) {
	for seconds, want := range map[int32]time.Duration{60: time.Minute, 300: 5 * time.Minute, 2_000_000_000: time.Minute, -1: time.Minute} {
		lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds}}
		term, odd := live.LeaseTerm(lease)
		if term != want || (odd != 0) != (want != time.Duration(seconds)*time.Second) {
			t.Errorf("%d s: %s, %s", seconds, term, odd)
		}
	}
}
