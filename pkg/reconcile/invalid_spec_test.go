package reconcile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// invalidSpec is an observer of a spec that must not be carried out.
type invalidSpec struct{}

func (invalidSpec) Observe(context.Context, *plan.Snapshot, plan.Facet) error {
	return &reconcile.InvalidSpecError{Err: errors.New("contradiction")}
}

func TestAnInvalidSpecEndsThePass(t *testing.T) {
	w := cluster(t, 1, nil)
	decided := 0
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: invalidSpec{}, Actor: w, Report: func(e reconcile.Event) {
		if _, ok := e.(reconcile.StageDone); ok {
			decided++
		}
	}}
	done, err := p.Run(t.Context())
	if _, ok := errors.AsType[*reconcile.InvalidSpecError](done.Stopped); err != nil || !ok || decided != 1 || len(w.Acted) > 0 {
		t.Errorf("met %v, stopped by %v after %d stages and %d actions", err, done.Stopped, decided, len(w.Acted))
	}
}
