package apply

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// The last pass may have had nothing left to do while what the command is for takes its time.
func TestATimedOutWaitIsReportedAsWaiting(t *testing.T) {
	p := &Passes{}
	p.Last.Outcome = reconcile.Done
	if word := p.endWord(&exit.Error{Code: exit.ExitWaiting, Err: exit.ErrTimeout}); word != "waiting" {
		t.Errorf("it is %q", word)
	}
}
