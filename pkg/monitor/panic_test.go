package monitor

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// The dashboard recovers its tasks, not what these start: a panic there has to reach the task.
func TestAQueryThatPanicsPanicsInTheTaskOfThePoller(t *testing.T) {
	e := &poller{observed: newObserved(time.Second), answers: make(chan func())}
	e.beside(t.Context(), func() func() { panic("no such status") })
	apply := <-e.answers
	err := reconcile.Guarded(func() error { apply(); return nil })
	if err == nil || !strings.Contains(err.Error(), "no such status, in monitor.TestAQuery") {
		t.Errorf("the panic is %v, want where it began", err)
	}
}

func TestAClusterWhoseReadPanicsHasThatInItsRow(t *testing.T) {
	broken := &Fleet{Env: &session.Env{}}
	c := broken.read(t.Context(), types.NamespacedName{Namespace: "prod", Name: "sample"})
	if !strings.HasPrefix(c.Unread, "bug in kubectl-fdb") || c.Status != nil {
		t.Errorf("the row has %q", c.Unread)
	}
}
