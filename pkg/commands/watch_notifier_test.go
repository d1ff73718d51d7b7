package commands

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTheBellKeepsWhatRangWhileNobodyListened(t *testing.T) {
	b := newChangeNotifier()
	b.notify(plan.Pods)
	b.notify(plan.Record)
	<-b.ready
	if got := b.take(); got != plan.Pods|plan.Record || b.take() != 0 {
		t.Errorf("got %s", got)
	}
	b.notify(plan.Services)
	if got := b.facets(); got != plan.Pods|plan.Record|plan.Services {
		t.Errorf("all: %s", got)
	}
	<-b.ready
	if got := b.take() | b.facets(); got != plan.Services {
		t.Errorf("what rang last was lost: %s", got)
	}
}
