package commandstest

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Polled is a session of a simulated cluster whose database can be polled.
type Polled struct {
	Simulated
	// Answers is whether a poll has an answer.
	Answers bool
	// Open counts what is kept open, and Polls the polls.
	Open, Polls *int
}

// KeepOpen implements session.DatabasePoller.
func (p Polled) KeepOpen() (end func()) {
	*p.Open++
	return func() { *p.Open-- }
}

// PollDatabase implements session.DatabasePoller.
func (p Polled) PollDatabase(ctx context.Context) (*fdb.Status, bool) {
	*p.Polls++
	if *p.Open != 1 || !p.Answers {
		return nil, false
	}
	var s plan.Snapshot
	if err := p.Observe(ctx, &s, plan.ClusterResource|plan.Database); err != nil {
		return nil, false
	}
	return s.Database.Status, s.Database.Status != nil
}
