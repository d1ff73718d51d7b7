package commandstest

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Together is one of several control-plane instances that share a database.
func Together(t *testing.T) *Given {
	t.Helper()
	g := NewGiven(t)
	g.Cluster.Resource.Spec.ProcessGroupIDPrefix = "dc1"
	g.Cluster.Resource.Spec.LockOptions.DisableLocks = new(bool)
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return g
}

// LockOf makes an owner hold the lock for a time, manually if a user is named.
func LockOf(owner, user string, left time.Duration) func(*Given) {
	return func(g *Given) {
		l := fdb.Lock{Owner: owner, Start: g.Cluster.Now().Add(-time.Minute), End: g.Cluster.Now().Add(left), Nonce: owner}
		if user != "" {
			l.Nonce = fdb.NonceByHand(user, "n")
		}
		g.Cluster.Shared.Lock = &l
	}
}

// ZoneOf is the zone of the n-th storage group.
func (g *Given) ZoneOf(n int) string {
	return string(g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[n])).FaultDomain)
}

// Settled is a cluster that has been up for a while: a new database does not know yet how
// often its data is there.
func Settled(t *testing.T) *Given {
	t.Helper()
	g := Up(t)
	g.Cluster.Tick(2 * time.Minute)
	return g
}
