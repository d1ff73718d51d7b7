package commandstest

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Stale is a connection string that is not in force any more.
const Stale = "sample:old@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501"

// StaleResource has the status keep the old connection string.
func StaleResource(g *Given) { g.Cluster.Resource.Status.ConnectionString = Stale }

// StaleConfigMap has the ConfigMap keep the old connection string.
func StaleConfigMap(g *Given) { g.Cluster.ConfigMap.Data[objects.KeyClusterFile] = Stale }

// StaleBoth has both keep it.
func StaleBoth(g *Given) { StaleResource(g); StaleConfigMap(g) }

// Coordinating are the process groups that are coordinators.
func (g *Given) Coordinating() []string {
	g.T.Helper()
	var s plan.Snapshot
	if err := g.Cluster.Observe(g.T.Context(), &s, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		g.T.Fatal(err)
	}
	var ids []string
	for _, group := range s.Groups() {
		if safety.Coordinates(s, group) {
			ids = append(ids, string(group.ProcessGroupID))
		}
	}
	return ids
}

// Coordinated is a cluster whose coordinators are known by name or by IP address, with
// enough processes for others.
func Coordinated(t *testing.T, byName bool) *Given {
	t.Helper()
	g := NewGiven(t)
	g.Cluster.Resource.Spec.Routing.UseDNSInClusterFile = &byName
	g.Cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 3}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	g.Cluster.Tick(6 * time.Minute)
	return g
}

// Lose ends the pods of so many coordinators, with their volumes or without.
func (g *Given) Lose(n int, volumes bool) []string {
	g.T.Helper()
	lost := g.Coordinating()[:n]
	for _, id := range lost {
		pod := "sample-" + id
		g.Cluster.KillPod(pod)
		if volumes {
			delete(g.Cluster.Volumes, pod+"-data")
		}
	}
	g.Cluster.Tick(3 * time.Minute)
	return lost
}
