// Package inspecttest holds the cluster that the tests of pkg/inspect and of its renderers use: that of
// the recorded status documents of FoundationDB 7.3.79.
package inspecttest

import (
	"io/fs"
	"os"
	"path"
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

// Noon is the time of every observation.
var Noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// Given is an observed cluster, and its desired configuration.
type Given struct {
	Snapshot plan.Snapshot
	Gaps     v1beta2.Gaps
	Desired  fdb.Configuration
	// Recorded is the resource as the last pass left it, where that differs.
	Recorded *v1beta2.FoundationDBCluster
}

// Recorded returns a status document that a FoundationDB 7.3.79 printed.
func Recorded(tb testing.TB, name string) *fdb.Status {
	tb.Helper()
	text, err := fs.ReadFile(os.DirFS(moduleRoot(tb)), path.Join("pkg", "fdb", "testdata", "status", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	s, err := fdb.ParseStatus(text)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Documents are the names of all of these documents.
func Documents(tb testing.TB) []string {
	tb.Helper()
	files, err := fs.Glob(os.DirFS(moduleRoot(tb)), path.Join("pkg", "fdb", "testdata", "status", "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d documents: %v", len(files), err)
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(path.Base(file), ".json")
	}
	return names
}

// Healthy returns the cluster of which the document 05-healthy was recorded.
func Healthy(tb testing.TB) Given {
	tb.Helper()
	status := Recorded(tb, "05-healthy")
	cluster := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: "sample", Namespace: "fdb", Generation: 8,
			ManagedFields: []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &metav1.Time{Time: Noon.Add(-12 * time.Minute)}}},
		},
		Spec: v1beta2.FoundationDBClusterSpec{
			Version:       "7.3.79",
			ProcessCounts: v1beta2.ProcessCounts{Storage: 5, Log: 4, Stateless: 3},
		},
		Status: v1beta2.FoundationDBClusterStatus{
			Configured: true, RunningVersion: "7.3.79", ConnectionString: "sample:abc@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501",
		},
	}
	g := Given{
		Snapshot: plan.Snapshot{
			Now: Noon, Cluster: cluster, Pods: map[string]*corev1.Pod{},
			Database: plan.DatabaseFacts{Status: status, AsOf: Noon.Add(-time.Second)},
		},
		Gaps: v1beta2.Gaps{
			DesiredProcessGroups: 12, ReconciledProcessGroups: 12,
			Generations: v1beta2.ClusterGenerationStatus{Reconciled: 8},
		},
		Desired: fdb.Configuration{RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 1, Logs: 3, Proxies: 3, Resolvers: 1},
	}
	for _, p := range status.ProcessList() {
		AddGroup(g.Snapshot, p)
	}
	return g
}

// WithoutQuorum returns the cluster when no quorum of its coordinators answers: its document has
// no list of processes.
func WithoutQuorum(tb testing.TB) Given {
	tb.Helper()
	g := Healthy(tb)
	g.Snapshot.Database.Status = Recorded(tb, "28-quorum-lost")
	g.Gaps.Reasons = []string{"the database is unavailable"}
	return g
}

// Unanswered returns the cluster when its database does not answer. The status still has the
// health of the last pass, which must not be shown as current.
func Unanswered(tb testing.TB) Given {
	tb.Helper()
	g := Healthy(tb)
	g.Snapshot.Database = plan.DatabaseFacts{Unreachable: "running fdbcli in pod sample-log-1: timed out after 60s"}
	g.Gaps.Reasons = []string{"the database is unavailable"}
	g.Snapshot.Cluster.Status.Health.Available = true
	return g
}

// AddGroup adds a process group and its pod for a process of the database.
func AddGroup(s plan.Snapshot, p fdb.Process) {
	g := &v1beta2.ProcessGroupStatus{
		ProcessGroupID: v1beta2.ProcessGroupID(p.InstanceID()), ProcessClass: v1beta2.ProcessClass(p.ClassType),
		FaultDomain: v1beta2.FaultDomain(p.Zone()), Addresses: []string{p.Address.Host},
	}
	s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g)
	name := g.PodName(s.Cluster)
	s.Pods[name] = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"class": p.ClassType}},
		Spec: corev1.PodSpec{
			NodeName:   "node-" + strings.TrimPrefix(p.Zone(), "zone-"),
			Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Image: "foundationdb/fdb-kubernetes-monitor:7.3.79"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true, RestartCount: 1}}},
	}
}

// Unresponsiveness removes a group's processes from the status document, as the database does some
// seconds after they died, and changes nothing else in it.
func Unresponsiveness(s plan.Snapshot, id v1beta2.ProcessGroupID, since time.Duration) {
	for key, p := range s.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(id) {
			delete(s.Database.Status.Cluster.Processes, key)
		}
	}
	s.Cluster.ProcessGroup(id).SetCondition(v1beta2.ConditionMissingProcesses, Noon.Add(-since))
}

// Drain leaves a process group excluded and without roles.
func Drain(s plan.Snapshot, id string) {
	for key, p := range s.Database.Status.Cluster.Processes {
		if p.InstanceID() == id {
			p.Roles, p.Excluded = nil, new(true)
			s.Database.Status.Cluster.Processes[key] = p
		}
	}
}

// Exclude adds an exclusion to the configuration of the database.
func Exclude(s plan.Snapshot, e fdb.ExcludedServer) {
	c := s.Database.Status.Cluster.Configuration
	c.ExcludedServers = append(c.ExcludedServers, e)
}

// moduleRoot returns the directory of go.mod above the package under test.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	tb.Fatal("no go.mod above the working directory")
	return ""
}

// Tainted returns the healthy cluster; the node of storage-1 has a taint that its spec allows
// for five minutes.
func Tainted(tb testing.TB) Given {
	tb.Helper()
	g := Healthy(tb)
	f := g.Snapshot
	g.Recorded = f.Cluster.DeepCopy()
	f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{
		{Key: new("example.com/maintenance"), DurationInSeconds: new(int64(300))},
		{Key: new("*"), DurationInSeconds: new(int64(3600))},
	}
	g.Snapshot.Nodes = map[string]*corev1.Node{}
	for _, pod := range f.Pods {
		g.Snapshot.Nodes[pod.Spec.NodeName] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	g.Snapshot.Nodes["node-1"].Spec.Taints = []corev1.Taint{{Key: "example.com/maintenance", Value: "soon", Effect: corev1.TaintEffectNoSchedule}}
	return g
}

// RecordTaint records on a pod, as passes do, since when its node has a taint.
func RecordTaint(pod *corev1.Pod, key string, since time.Time) {
	for name, value := range (plan.RecordTaints{Pod: pod.Name, Seen: map[string]int64{key: since.Unix()}}).Patch().Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, name, value)
	}
}

// Connected returns the healthy cluster with clients of several kinds.
func Connected(tb testing.TB) Given {
	tb.Helper()
	g := Healthy(tb)
	f := g.Snapshot
	f.Cluster.Spec.AutomationOptions.IgnoreLogGroupsForUpgrade = []v1beta2.LogGroup{"reports"}
	f.Database.Status.Cluster.Clients = &fdb.ClientsStatus{Count: new(9), SupportedVersions: []fdb.SupportedVersion{
		{
			ClientVersion: "7.3.79", ProtocolVersion: "fdb00b073000000", MaxProtocol: new(5),
			MaxProtocolClients: []fdb.ConnectedClient{
				{Address: "10.7.0.1:33000", LogGroup: "shop"}, {Address: "10.7.0.2:33000", LogGroup: "reports"}, {Address: "127.0.2.1:33000", LogGroup: "default"},
			},
		},
		{ClientVersion: "7.4.6", ProtocolVersion: "fdb00b074000000", MaxProtocol: new(1), MaxProtocolClients: []fdb.ConnectedClient{{Address: "10.7.0.3:33000"}}},
		{ClientVersion: "Unknown", ProtocolVersion: "Unknown", MaxProtocolClients: []fdb.ConnectedClient{{Address: "10.7.0.4:33000"}}},
	}}
	return g
}
