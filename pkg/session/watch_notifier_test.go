package session

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTheChangeNotifierKeepsUnreadNotifications(t *testing.T) {
	b := NewChangeNotifier()
	b.Notify(plan.Pods)
	b.Notify(plan.ClusterResource)
	<-b.Ready
	if got := b.Take(); got != plan.Pods|plan.ClusterResource || b.Take() != 0 {
		t.Errorf("got %s", got)
	}
	b.Notify(plan.Services)
	if got := b.Facets(); got != plan.Pods|plan.ClusterResource|plan.Services {
		t.Errorf("all: %s", got)
	}
	<-b.Ready
	if got := b.Take() | b.Facets(); got != plan.Services {
		t.Errorf("what rang last was lost: %s", got)
	}
}
