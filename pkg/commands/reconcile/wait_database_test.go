package reconcile_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// TestAWaitEndsWhenTheDatabaseShowsWhatItIsFor replaces a process group. That the new process reports, the old one has
// no roles and is no longer listed is seen by polls between passes, and else only by a pass.
func TestAWaitEndsWhenTheDatabaseShowsWhatItIsFor(t *testing.T) {
	replace := func(t *testing.T, answers bool, flags ...string) (took time.Duration, polls int) {
		t.Helper()
		g := commandstest.Roomy(t)
		g.Cluster.Tick(time.Hour)
		open := 0
		g.Connect = func() (session.Session, error) {
			return commandstest.Polled{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Answers: answers, Open: &open, Polls: &polls}, nil
		}
		began := g.Cluster.Now()
		if code := g.Run(append(g.InText("replace", "sample", "STORAGE0", "--yes"), flags...)...); code != exit.ExitDone {
			t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
		}
		if open != 0 {
			t.Error("the fdbcli that was kept open was not closed")
		}
		return g.Cluster.Now().Sub(began), polls
	}
	seen, polls := replace(t, true, "--wait")
	unseen, failed := replace(t, false, "--wait")
	t.Logf("%s with %d polls, %s without an answer to %d", seen, polls, unseen, failed)
	if seen > unseen*3/4 {
		t.Errorf("it took %s with polls, and %s without", seen, unseen)
	}
	if failed > 10 {
		t.Errorf("the database was polled %d times without an answer", failed)
	}
	if _, polls := replace(t, true); polls > 0 {
		t.Errorf("a command that does not wait polls %d times", polls)
	}
}

// What passes over several resources wait for is seen in the database of the cluster that waits.
func TestAWaitOfSeveralResourcesEndsWhenTheDatabaseShowsWhatItIsFor(t *testing.T) {
	reconcile := func(t *testing.T, answers bool) (took time.Duration) {
		t.Helper()
		g := commandstest.Roomy(t)
		g.Cluster.Tick(time.Hour)
		open, polls := 0, 0
		g.Connect = func() (session.Session, error) {
			return commandstest.Polled{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Answers: answers, Open: &open, Polls: &polls}, nil
		}
		began := g.Cluster.Now()
		g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[0])).MarkForRemoval(began)
		if code := g.Run("reconcile", "sample", "--with-backups", "--yes", "--wait"); code != exit.ExitDone {
			t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
		}
		if open != 0 || polls == 0 {
			t.Errorf("%d fdbcli are left open after %d polls", open, polls)
		}
		return g.Cluster.Now().Sub(began)
	}
	seen, unseen := reconcile(t, true), reconcile(t, false)
	if t.Logf("%s with polls, %s without an answer", seen, unseen); seen > unseen*3/4 {
		t.Errorf("it took %s with polls, and %s without", seen, unseen)
	}
}

// TestAWatchPollsTheDatabaseOnlyWhileItWaits replaces a process group. What a wait is for is seen by polls; a watch with
// nothing to do lasts for weeks, and reads the database after its resync interval alone.
func TestAWatchPollsTheDatabaseOnlyWhileItWaits(t *testing.T) {
	replace := func(t *testing.T, answers bool) (took time.Duration) {
		t.Helper()
		w := &commandstest.Watched{Given: commandstest.Roomy(t)}
		w.Cluster.Tick(time.Hour)
		open, polls, idle := 0, 0, 0
		w.Connect = func() (session.Session, error) {
			return commandstest.Polled{Simulated: commandstest.Simulated{Cluster: w.Cluster, G: w.Given}, Answers: answers, Open: &open, Polls: &polls}, nil
		}
		var began time.Time
		w.Steps = []func(){
			func() {
				idle = polls
				began = w.Cluster.Now()
				w.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(w.Storage()[0])).MarkForRemoval(began)
				w.Ring(plan.ClusterResource)
			},
			func() { took = w.Cluster.Now().Sub(began) },
		}
		if code := w.Run("--yes"); code != exit.ExitDone {
			t.Fatalf("exit code %d: %s%s", code, &w.Out, &w.Err)
		}
		if idle > 0 || polls == 0 || open != 0 {
			t.Errorf("it polls %d times with nothing to do, %d times in all; %d fdbcli are left open", idle, polls, open)
		}
		if f := w.Follower; len(f.Known[plan.Pods]) == 0 || len(f.Known[plan.Services]) == 0 || len(f.Known[plan.ClusterResource]) != 1 {
			t.Errorf("the watch begins without what the pass has read: %v", f.Known)
		}
		return took
	}
	seen, unseen := replace(t, true), replace(t, false)
	if t.Logf("%s with polls, %s without an answer", seen, unseen); seen > unseen*3/4 {
		t.Errorf("it took %s with polls, and %s without", seen, unseen)
	}
}
