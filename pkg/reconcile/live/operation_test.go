package live_test

import (
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
	return reconcile.Operation{Command: "replace sample storage-1 --wait", Holder: f.world.Holder, Since: f.world.Clock.Now().UTC()}
}

func (f *field) end() {
	f.t.Helper()
	if err := f.world.End(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// Between two passes the Lease is free, and others still see what goes on.
func TestAnOperationIsSeenBetweenItsPasses(t *testing.T) {
	f := settled(t)
	f.world.SetOperation(f.replacing())
	f.begin()
	f.end()
	seen := f.operation()
	if seen == nil || seen.Command != "replace sample storage-1 --wait" || seen.Holder != f.world.Holder || !seen.IsActive(f.world.Clock.Now()) {
		t.Fatalf("others see %+v", seen)
	}
	if err := f.world.EndOperation(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := f.operation(); seen != nil {
		t.Errorf("after its end others see %+v", seen)
	}
}

// A command that has changed nothing writes nothing, and one that waits long reports that.
func TestAnOperationIsReportedWhileItWaits(t *testing.T) {
	f := settled(t)
	f.world.SetOperation(f.replacing())
	before := len(f.log.seen)
	if err := f.world.RenewOperation(t.Context()); err != nil || len(f.log.seen) != before {
		t.Errorf("before the first change: %v, %d requests", err, len(f.log.seen)-before)
	}
	if err := f.world.EndOperation(t.Context()); err != nil || len(f.log.seen) != before {
		t.Errorf("without a change: %v, %d requests", err, len(f.log.seen)-before)
	}
	f.world.SetOperation(f.replacing())
	f.begin()
	f.end()
	first := f.operation().Seen
	if err := f.world.RenewOperation(t.Context()); err != nil || !f.operation().Seen.Equal(first) {
		t.Errorf("at once: %v, seen at %s", err, f.operation().Seen)
	}
	f.tick(2 * reconcile.OperationRenewal)
	if err := f.world.RenewOperation(t.Context()); err != nil || !f.operation().Seen.After(first) {
		t.Errorf("later: %v, seen at %s", err, f.operation().Seen)
	}
}

// The first operation stays the one that is shown; a second run reports it.
func TestAnotherOperationIsReported(t *testing.T) {
	f := settled(t)
	f.world.SetOperation(f.replacing())
	f.begin()
	f.end()
	first := f.world
	f.anotherRun()
	f.end()
	var reported []string
	f.world.Tell = func(words string) { reported = append(reported, words) }
	f.world.SetOperation(reconcile.Operation{Command: "restart sample --wait", Holder: f.world.Holder, Since: f.world.Clock.Now()})
	for range 2 {
		f.begin()
		f.end()
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "replace sample storage-1 --wait, by "+first.Holder) {
		t.Errorf("reported %q", reported)
	}
	if err := f.world.EndOperation(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := f.operation(); seen == nil || seen.Holder != first.Holder {
		t.Errorf("others see %+v", seen)
	}
}

// A run that was killed leaves its operation behind; it is replaced once it must have ended.
func TestAnOperationThatEndedWithoutAReportIsReplaced(t *testing.T) {
	f := settled(t)
	f.world.SetOperation(f.replacing())
	f.begin()
	f.end()
	f.tick(reconcile.OperationTerm + time.Second)
	if f.operation().IsActive(f.world.Clock.Now()) {
		t.Error("it is still active")
	}
	f.anotherRun()
	f.end()
	if seen := f.operation(); seen != nil {
		t.Errorf("after a run without an operation others see %+v", seen)
	}
}
