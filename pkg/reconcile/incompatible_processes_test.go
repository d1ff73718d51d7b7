package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// listsPeer is a cluster whose database lists a peer of another protocol for a while.
type listsPeer struct {
	*sim.Cluster
	address string
	until   time.Time
}

func (l listsPeer) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := l.Cluster.Observe(ctx, into, facets); err != nil {
		return err
	}
	if into.Database.Status != nil && l.Now().Before(l.until) {
		into.Database.Status.Cluster.IncompatibleConnections = []string{l.address}
	}
	return nil
}

// The database lists the address of a server that was shut out for ten minutes more. The
// pod that was made in its place is not deleted for that, continuously.
func TestAPodOfAnIncompatibleProcessIsRecreatedOnlyOnce(t *testing.T) {
	st := newStory(t, 10, nil)
	g := st.group(v1beta2.ProcessClassStorage)
	id, pod := g.ProcessGroupID, g.PodName(st.w.Resource)
	st.w.Broken = map[string]bool{pod: true}
	st.w.KillServers(pod)
	observer := listsPeer{st.w, g.Addresses[0] + ":4501", st.w.Now().Add(10 * time.Minute)}
	deleted := 0
	for range 16 { // four minutes
		p := reconcile.Pass{Stages: stages.Cluster(), Observer: observer, Actor: st.w, Seed: 5, Report: func(e reconcile.Event) {
			if done, ok := e.(reconcile.ActionDone); ok {
				if _, deletion := done.Action.(plan.DeletePods); deletion {
					deleted++
					st.w.Broken = nil // in the version that is let in
				}
			}
		}}
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		st.w.Tick(15 * time.Second)
	}
	if deleted != 1 {
		t.Errorf("deleted the pod %d times, want once", deleted)
	}
	if now := st.w.Resource.ProcessGroup(id); now == nil || now.HasCondition(v1beta2.ConditionMissingProcesses) || now.HasCondition(v1beta2.ConditionMissingPod) {
		t.Errorf("%s is not back: %+v", id, now)
	}
}
