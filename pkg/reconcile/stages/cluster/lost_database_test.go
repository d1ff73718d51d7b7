package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	statusstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// lostResource returns a healthy cluster whose status was lost.
func lostResource(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	s.Cluster.Status = v1beta2.FoundationDBClusterStatus{}
	s.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	return s
}

// stagesOfANewCluster are those that would create a second database beside a lost one.
func stagesOfANewCluster() []plan.Stage {
	return []plan.Stage{UpdateConfigMap, AddProcessGroups, GenerateInitialClusterFile}
}

func TestTheConfigMapClusterFileIsKeptAfterTheStatusIsLost(t *testing.T) {
	s := lostResource(t)
	for _, stage := range stagesOfANewCluster() {
		d := stage.Decide(s)
		if len(d.Actions) > 0 || d.Hold == nil || d.Hold.Then != plan.EndPass {
			t.Errorf("%s wants %q, holds with %q", stage.Name, stagestest.Described(d), stagestest.Reason(d))
		}
	}
	if got := statusWritten(t, s).ConnectionString; got != stagestest.SampleConnectionString {
		t.Errorf("the record takes over %q", got)
	}
}

func TestNoNewDatabaseIsCreatedOverVolumesWithoutAClusterFile(t *testing.T) {
	tests := map[string]func(*plan.Snapshot){
		"with pods":    func(*plan.Snapshot) {},
		"volumes only": func(s *plan.Snapshot) { s.Pods = map[string]*corev1.Pod{} },
	}
	for name, given := range tests {
		t.Run(name, func(t *testing.T) {
			s := lostResource(t)
			s.ConfigMap = nil
			given(&s)
			for _, stage := range append(stagesOfANewCluster(), statusstages.UpdateStatus) {
				d := stage.Decide(s)
				if len(d.Actions) > 0 || d.Hold == nil || !d.Hold.Manual || d.Hold.Then != plan.EndPass || !strings.Contains(d.Hold.Text(), "spec.seedConnectionString") {
					t.Errorf("%s wants %q, holds with %q", stage.Name, stagestest.Described(d), stagestest.Reason(d))
				}
			}
			s.Cluster.Spec.SeedConnectionString = stagestest.SampleConnectionString
			status := statusWritten(t, s)
			if status.ConnectionString != stagestest.SampleConnectionString || len(status.ProcessGroups) == 0 {
				t.Errorf("with a seed the record holds %q and %d groups", status.ConnectionString, len(status.ProcessGroups))
			}
		})
	}
}

// Before the first pass has written anything, a ConfigMap and terminating objects of an earlier
// cluster of the same name are no reason to stop.
func TestANewClusterIsNotTakenForALostDatabase(t *testing.T) {
	s := lostResource(t)
	s.ConfigMap.Data[objects.KeyClusterFile] = ""
	for _, pod := range s.Pods {
		pod.DeletionTimestamp = new(stagestest.NoonTime())
	}
	for _, claim := range s.Volumes {
		claim.DeletionTimestamp = new(stagestest.NoonTime())
	}
	if lost := readings.LostDatabase(s); lost != nil {
		t.Errorf("holds with %q", lost.Reason)
	}
}

// Names of pods omit the prefix of an ID: a new ID with the pod name of another group would share
// its pod and volume, and lose them.
func TestNewGroupsNeverShareAPodName(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Cluster.Spec.ProcessGroupIDPrefix = "east"
	taken := map[string]bool{}
	enough := v1beta2.MaxProcessGroupNumber / 2
	if testing.Short() {
		enough /= 10
	}
	for range v1beta2.MaxProcessGroupNumber / 500 {
		for name := range taken {
			s.Pods[name] = &corev1.Pod{}
		}
		for _, g := range newGroups(s, map[v1beta2.ProcessClass]int{v1beta2.ProcessClassStorage: 500}) {
			name := podNameOf(s, g.ID, g.Class)
			if s.Pods[name] != nil || taken[name] {
				t.Fatalf("%s has the name of a pod that there is: %s", g.ID, name)
			}
			taken[name] = true
		}
		if len(taken) > enough {
			return
		}
	}
}

// statusWritten returns the status that a pass writes for a snapshot.
func statusWritten(t *testing.T, s plan.Snapshot) v1beta2.FoundationDBClusterStatus {
	t.Helper()
	status, err := statusstages.NewStatus(s)
	if err != nil {
		t.Fatal(err)
	}
	return status
}
