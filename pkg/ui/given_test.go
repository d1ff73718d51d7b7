package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var (
	noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	meta = Metadata{Cluster: "sample", Namespace: "fdb", Context: "prod", Tool: "kubectl-fdb test", RunID: "run1"}
)

// recorded reads a status document that a FoundationDB 7.3.79 printed.
func recorded(t *testing.T, name string) *fdb.Status {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "fdb", "testdata", "status", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := fdb.ParseStatus(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// healthy is the cluster of which the document 05-healthy was recorded.
func healthy(t *testing.T) Facts {
	t.Helper()
	s := recorded(t, "05-healthy")
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: "sample", Namespace: "fdb", Generation: 8,
			ManagedFields: []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &metav1.Time{Time: noon.Add(-12 * time.Minute)}}},
		},
		Spec: v1beta2.FoundationDBClusterSpec{
			Version:       "7.3.79",
			ProcessCounts: v1beta2.ProcessCounts{Storage: 5, Log: 4, Stateless: 3},
		},
		Status: v1beta2.FoundationDBClusterStatus{
			Configured: true, RunningVersion: "7.3.79", ConnectionString: "sample:abc@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501",
		},
	}
	f := Facts{
		Snapshot: plan.Snapshot{
			Now: noon, Cluster: c, Pods: map[string]*corev1.Pod{},
			Database: plan.DatabaseFacts{Status: s, AsOf: noon.Add(-time.Second)},
		},
		Gaps: v1beta2.Gaps{
			DesiredProcessGroups: 12, ReconciledProcessGroups: 12,
			Generations: v1beta2.ClusterGenerationStatus{Reconciled: 8},
		},
		Desired: fdb.Configuration{RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 1, Logs: 3, Proxies: 3, Resolvers: 1},
		Lease:   Lease{Read: true},
	}
	for _, p := range s.ProcessList() {
		f.addGroup(p)
	}
	return f
}

func (f Facts) addGroup(p fdb.Process) {
	g := &v1beta2.ProcessGroupStatus{
		ProcessGroupID: v1beta2.ProcessGroupID(p.InstanceID()), ProcessClass: v1beta2.ProcessClass(p.ClassType),
		FaultDomain: v1beta2.FaultDomain(p.Zone()), Addresses: []string{p.Address.Host},
	}
	f.Cluster.Status.ProcessGroups = append(f.Cluster.Status.ProcessGroups, g)
	name := g.PodName(f.Cluster)
	f.Pods[name] = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"class": p.ClassType}},
		Spec: corev1.PodSpec{
			NodeName:   "node-" + strings.TrimPrefix(p.Zone(), "zone-"),
			Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Image: "foundationdb/fdb-kubernetes-monitor:7.3.79"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{RestartCount: 1}}},
	}
}

// silence takes a group's processes out of the status document, as the database
// itself does some seconds after they died, and touches nothing else in it.
func (f Facts) silence(id v1beta2.ProcessGroupID, since time.Duration) {
	for key, p := range f.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(id) {
			delete(f.Database.Status.Cluster.Processes, key)
		}
	}
	f.Cluster.ProcessGroup(id).SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-since))
}

// withoutQuorum is the cluster when no quorum of its coordinators answers: its document has
// no list of processes.
func withoutQuorum(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Database.Status = recorded(t, "28-quorum-lost")
	f.Gaps.Reasons = []string{"the database is unavailable"}
	return f
}

// unanswered is the cluster when nobody gets an answer from its database.
func unanswered(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Database = plan.DatabaseFacts{Unreachable: "running fdbcli in pod sample-log-1: timed out after 60s"}
	f.Gaps.Reasons = []string{"the database is unavailable"}
	f.Cluster.Status.Health.Available = true // as the last pass left it: nobody may believe it
	return f
}
