package dashboard_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// keptOpen is a session that counts the fdbcli that stay open.
type keptOpen struct {
	session.Session
	open, opened *atomic.Int32
}

func (k keptOpen) KeepOpen() (end func()) {
	k.open.Add(1)
	k.opened.Add(1)
	return func() { k.open.Add(-1) }
}

func (keptOpen) PollDatabase(context.Context) (*fdb.Status, bool) { return nil, false }

func TestTheDashboardKeepsOneFdbcliOpenUntilItEnds(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		var open, opened atomic.Int32
		connect := g.Connect
		g.Connect = func() (session.Session, error) {
			s, err := connect()
			return keptOpen{s, &open, &opened}, err
		}
		_, end := g.Follow(2 * time.Second)
		g.After(20 * time.Second)
		if open.Load() != 1 {
			g.T.Errorf("%d fdbcli are open, want 1", open.Load())
		}
		end()
		if open.Load() != 0 || opened.Load() != 1 {
			g.T.Errorf("%d fdbcli are open at the end, and %d were opened", open.Load(), opened.Load())
		}
	})
}
