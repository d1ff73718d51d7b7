package check

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

var (
	noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	meta = inspect.Metadata{Cluster: "sample", Namespace: "fdb", Context: "prod", Tool: "kubectl-fdb test", RunID: "run1"}
)

// healthy is a cluster in which no rule finds anything: that of which the document
// 05-healthy was recorded, with all of its objects.
func healthy(t *testing.T) Facts {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "fdb", "testdata", "status", "05-healthy.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := fdb.ParseStatus(text)
	if err != nil {
		t.Fatal(err)
	}
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", Generation: 8},
		Spec: v1beta2.FoundationDBClusterSpec{
			Version: "7.3.79", ProcessCounts: v1beta2.ProcessCounts{Storage: 5, Log: 4, Stateless: 3},
		},
		Status: v1beta2.FoundationDBClusterStatus{Configured: true, RunningVersion: "7.3.79", ConnectionString: s.Cluster.ConnectionString},
	}
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStateless: {PodTemplate: &corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Tolerations: safety.TolerationsFor(c, v1beta2.ProcessClassStateless)},
	}}}
	f := Facts{Resource: c.DeepCopy(), MissingRead: true, Facts: inspect.Facts{
		Snapshot: plan.Snapshot{
			Now: noon, Cluster: c, Pods: map[string]*corev1.Pod{}, Volumes: map[string]*corev1.PersistentVolumeClaim{},
			Services:     map[string]*corev1.Service{"sample": {}},
			ConfigMap:    &corev1.ConfigMap{Data: map[string]string{objects.KeyClusterFile: s.Cluster.ConnectionString}},
			Database:     plan.DatabaseFacts{Status: s, AsOf: noon.Add(-time.Second)},
			Coordination: plan.CoordinationFacts{Read: true},
		},
		Gaps:    v1beta2.Gaps{DesiredProcessGroups: 12, ReconciledProcessGroups: 12, Generations: v1beta2.ClusterGenerationStatus{Reconciled: 8}},
		Desired: fdb.Configuration{RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 1, Logs: 3, Proxies: 3, Resolvers: 1},
		Lease:   inspect.Lease{Read: true},
	}}
	for _, p := range s.ProcessList() {
		f.addGroup(p)
	}
	f.Resource.Status = *f.Cluster.Status.DeepCopy()
	f.backedUp()
	f.surrounded()
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
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Time{Time: noon.Add(-time.Hour)}},
		Spec:       corev1.PodSpec{NodeName: "node-" + strings.TrimPrefix(p.Zone(), "zone-")},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "foundationdb", Ready: true}}},
	}
	if g.ProcessClass.IsStateful() {
		claim := g.PVCName(f.Cluster)
		f.Volumes[claim] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
	}
}

// first is the first group of a class.
func (f *Facts) first(class v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	for _, g := range f.Groups() {
		if g.ProcessClass == class {
			return g
		}
	}
	return nil
}

// eachProcess edits the processes of a group.
func (f *Facts) eachProcess(g *v1beta2.ProcessGroupStatus, edit func(*fdb.Process)) {
	for key, p := range f.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(g.ProcessGroupID) {
			edit(&p)
			f.Database.Status.Cluster.Processes[key] = p
		}
	}
}

// dropProcesses removes the processes of a group from what the database lists.
func (f *Facts) dropProcesses(g *v1beta2.ProcessGroupStatus) {
	for key, p := range f.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(g.ProcessGroupID) {
			delete(f.Database.Status.Cluster.Processes, key)
		}
	}
}

// reportOn checks as the command does.
func reportOn(f Facts, o Options) Report {
	f.Status = inspect.NewStatusView(meta, f.Facts)
	if o.FailOn == "" {
		o.FailOn = Error
	}
	o.Command = func(words ...string) string {
		return strings.Join(append(append([]string{"kubectl"}, words...), "-n", "fdb", "--context", "prod"), " ")
	}
	return NewReport(meta, f, o)
}
