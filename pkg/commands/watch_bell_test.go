package commands

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTheBellKeepsWhatRangWhileNobodyListened(t *testing.T) {
	b := newBell()
	b.ring(plan.Pods)
	b.ring(plan.Record)
	<-b.rings
	if got := b.heard(); got != plan.Pods|plan.Record || b.heard() != 0 {
		t.Errorf("heard %s", got)
	}
	b.ring(plan.Services)
	if got := b.facets(); got != plan.Pods|plan.Record|plan.Services {
		t.Errorf("all: %s", got)
	}
	<-b.rings
	if got := b.heard() | b.facets(); got != plan.Services {
		t.Errorf("what rang last was lost: %s", got)
	}
}
