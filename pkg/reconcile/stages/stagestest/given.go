package stagestest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Noon is when the snapshots of tests are read.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// EmptyCluster returns a double cluster without any objects.
func EmptyCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "1", Generation: 1},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}
	normalized, err := c.Normalized()
	if err != nil {
		tb.Fatal(err)
	}
	return plan.Snapshot{
		Now: Noon, Seed: 7, Cluster: normalized, Database: plan.DatabaseFacts{NotQueried: "there is no cluster file yet"},
		Pods: map[string]*corev1.Pod{}, Volumes: map[string]*corev1.PersistentVolumeClaim{}, Services: map[string]*corev1.Service{}, PodFiles: map[string]plan.PodReport{},
		Successors: plan.SuccessorFacts{Read: true},
	}
}

// SampleConnectionString is that of the healthy cluster.
const SampleConnectionString = "sample:abc@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501"

// HealthyCluster returns the same cluster a while after it was reconciled: every pod runs, every
// process reports, the database is stable.
func HealthyCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	return HealthyClusterOf(tb, 0)
}

// HealthyClusterOf returns one with a number of storage process groups; 0 is the default of 3.
func HealthyClusterOf(tb testing.TB, storage int) plan.Snapshot {
	tb.Helper()
	s := EmptyCluster(tb)
	s.Cluster.Spec.ProcessCounts.Storage = storage
	s.Cluster.Spec.Routing.UseDNSInClusterFile = new(bool)
	s.Cluster.Status.ConnectionString = SampleConnectionString
	s.Cluster.Status.RunningVersion = "7.3.79"
	s.Cluster.Status.Configured = true
	s.Cluster.Status.HasListenIPsForAllPods = true
	s.Cluster.Status.RequiredAddresses.NonTLS = true
	n := 0
	for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassLog, v1beta2.ProcessClassStateless, v1beta2.ProcessClassStorage} {
		for range s.Cluster.DesiredProcessCounts()[class] {
			n++
			id := s.Cluster.ProcessGroupIDFor(class, 100+n)
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{
				ProcessGroupID: id, ProcessClass: class, Addresses: []string{PodIP(n)}, FaultDomain: v1beta2.FaultDomain(NodeName(n)),
			})
		}
	}
	configMap, err := objects.ConfigMap(s.Cluster)
	if err != nil {
		tb.Fatal(err)
	}
	s.ConfigMap = configMap
	for _, headless := range []*corev1.Service{objects.HeadlessService(s.Cluster)} {
		if headless != nil {
			s.Services[headless.Name] = headless
		}
	}
	status := healthyStatus(s.Cluster)
	for i, g := range s.Groups() {
		GivePod(tb, &s, g, i+1)
		addProcess(tb, status, s, g, i+1)
	}
	giveMaster(status)
	s.Database = plan.DatabaseFacts{Status: status, AsOf: Noon}
	settle(&s)
	return s
}

// settle gives a cluster the status that the first pass after its creation writes.
func settle(s *plan.Snapshot) {
	status := &s.Cluster.Status
	status.DatabaseConfiguration = objects.DesiredResourceConfiguration(s.Cluster)
	status.Generations.Reconciled = s.Cluster.Generation
	status.Health = v1beta2.ClusterHealth{Available: true, Healthy: true, FullReplication: true}
	status.StorageServersPerDisk, status.LogServersPerDisk = []int{1}, []int{1}
	status.ImageTypes = []v1beta2.ImageType{s.Cluster.ImageType()}
	slices.SortFunc(status.ProcessGroups, func(a, b *v1beta2.ProcessGroupStatus) int { return cmp.Compare(a.ProcessGroupID, b.ProcessGroupID) })
	status.DesiredProcessGroups, status.ReconciledProcessGroups = len(s.Groups()), len(s.Groups())
}

// PodIP returns the address of the n-th pod.
func PodIP(n int) string { return fmt.Sprintf("10.1.%d.%d", n/250, n%250) }

// NodeName returns the node of the n-th pod.
func NodeName(n int) string { return fmt.Sprintf("node-%d", n) }

// GivePod adds the group's pod and PVC, running and up to date.
func GivePod(tb testing.TB, s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, n int) {
	tb.Helper()
	pod, err := objects.Pod(s.Cluster, g)
	if err != nil {
		tb.Fatal(err)
	}
	launch := objects.DesiredLaunch(s.Cluster, g.ProcessClass)
	hash, err := objects.ConfigMapHash(s.Cluster, launch)
	if err != nil {
		tb.Fatal(err)
	}
	objects.RecordConfigMap(pod, hash)
	pod.CreationTimestamp = metav1.NewTime(Noon.Add(-time.Hour))
	pod.Spec.NodeName = NodeName(n)
	pod.Annotations[v1beta2.AnnotationCurrentNode] = pod.Spec.NodeName
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: PodIP(n), PodIPs: []corev1.PodIP{{IP: PodIP(n)}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}, {Name: v1beta2.ContainerSidecar, Ready: true}},
	}
	s.Pods[pod.Name] = pod
	configuration, err := objects.MonitorConfiguration(s.Cluster, launch)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := json.Marshal(configuration)
	if err != nil {
		tb.Fatal(err)
	}
	variables := objects.DeclaredVariables(pod, v1beta2.ContainerMain)
	variables[v1beta2.EnvBinaryDir] = "/usr/bin"
	s.PodFiles[pod.Name] = plan.PodReport{Variables: variables, Configuration: string(text)}
	claim, err := objects.PersistentVolumeClaim(s.Cluster, g)
	if err != nil {
		tb.Fatal(err)
	}
	if claim != nil {
		s.Volumes[claim.Name] = claim
	}
}

// healthyStatus returns the status document of a stable database without its processes.
func healthyStatus(c *v1beta2.FoundationDBCluster) *fdb.Status {
	status, err := fdb.ParseStatus([]byte(`{
		"client": {
			"coordinators": {"quorum_reachable": true, "coordinators": [
				{"address": "10.1.0.1:4501", "reachable": true}, {"address": "10.1.0.2:4501", "reachable": true}, {"address": "10.1.0.3:4501", "reachable": true}]},
			"database_status": {"available": true, "healthy": true}},
		"cluster": {
			"database_available": true, "full_replication": true, "database_lock_state": {"locked": false},
			"recovery_state": {"name": "fully_recovered", "seconds_since_last_recovered": 3600, "active_generations": 1},
			"logs": [{"current": true, "log_replication_factor": 2, "log_fault_tolerance": 1}],
			"data": {"state": {"name": "healthy", "healthy": true, "min_replicas_remaining": 2},
				"team_trackers": [{"primary": true, "state": {"name": "healthy", "healthy": true, "min_replicas_remaining": 2}}]},
			"qos": {"worst_data_lag_storage_server": {"seconds": 0.1}, "worst_durability_lag_storage_server": {"seconds": 5},
				"worst_queue_bytes_log_server": 1000, "worst_queue_bytes_storage_server": 1000},
			"bounce_impact": {"can_clean_bounce": true}, "layers": {"_valid": true}}}`))
	if err != nil {
		panic(err) // a literal
	}
	configuration := objects.DesiredConfiguration(c)
	status.Cluster.Configuration = &configuration
	status.Cluster.ConnectionString = SampleConnectionString
	status.Cluster.Processes = map[string]fdb.Process{}
	return status
}

// addProcess adds the first process of a group as its pod configures it.
func addProcess(tb testing.TB, status *fdb.Status, s plan.Snapshot, g *v1beta2.ProcessGroupStatus, n int) {
	tb.Helper()
	line, err := objects.CommandLine(s.Cluster, objects.DesiredLaunch(s.Cluster, g.ProcessClass), 1, s.PodFiles[g.PodName(s.Cluster)].Variables)
	if err != nil {
		tb.Fatal(err)
	}
	uptime := 3600.0
	status.Cluster.Processes[fmt.Sprintf("p%02d", n)] = fdb.Process{
		Address: fdb.Address{Host: PodIP(n), Port: 4501}, ClassType: string(g.ProcessClass), CommandLine: line, Version: "7.3.79", UptimeSeconds: &uptime,
		Locality: map[string]string{fdb.LocalityInstanceID: string(g.ProcessGroupID), fdb.LocalityProcessID: string(g.ProcessGroupID) + "-1", fdb.LocalityZoneID: NodeName(n)},
	}
}

// giveMaster gives a stateless process the role that one process of every database has.
func giveMaster(status *fdb.Status) {
	for _, p := range status.ProcessList() {
		if p.ClassType != string(v1beta2.ProcessClassStateless) {
			continue
		}
		for id, listed := range status.Cluster.Processes {
			if listed.InstanceID() == p.InstanceID() {
				listed.Roles = []fdb.Role{{Role: fdb.RoleMaster}}
				status.Cluster.Processes[id] = listed
			}
		}
		return
	}
}

// EditProcess changes one reported process.
func EditProcess(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, edit func(*fdb.Process)) {
	for id, p := range s.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(g.ProcessGroupID) {
			edit(&p)
			s.Database.Status.Cluster.Processes[id] = p
		}
	}
}

// DropProcess removes the processes of a group from the status document.
func DropProcess(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	for id, p := range s.Database.Status.Cluster.Processes {
		if p.InstanceID() == string(g.ProcessGroupID) {
			delete(s.Database.Status.Cluster.Processes, id)
		}
	}
}

// FirstOf returns the first group of a class.
func FirstOf(s plan.Snapshot, class v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	for _, g := range s.Groups() {
		if g.ProcessClass == class {
			return g
		}
	}
	return nil
}

// Reason returns the text of a decision's hold; empty without one.
func Reason(d plan.Decision) string {
	if d.Hold == nil {
		return ""
	}
	return d.Hold.Text()
}

// Described returns the descriptions of a decision's actions.
func Described(d plan.Decision) []string {
	var words []string
	for _, a := range d.Actions {
		words = append(words, a.Describe())
	}
	return words
}

// NoonTime is Noon as the API has it.
func NoonTime() metav1.Time { return metav1.NewTime(Noon) }

// LosePod deletes the pod of the first storage group.
func LosePod(s *plan.Snapshot) { delete(s.Pods, FirstOf(*s, "storage").PodName(s.Cluster)) }

// LoseClaim deletes the PVC of the first storage group.
func LoseClaim(s *plan.Snapshot) { delete(s.Volumes, FirstOf(*s, "storage").PVCName(s.Cluster)) }

// MarkFirst marks the first storage group for removal.
func MarkFirst(s *plan.Snapshot) { FirstOf(*s, "storage").MarkForRemoval(Noon) }

// ExcludeFirst marks the first storage group for removal and as excluded.
func ExcludeFirst(s *plan.Snapshot) {
	MarkFirst(s)
	FirstOf(*s, "storage").SetExcluded(Noon)
}

// All applies edits in order.
func All(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

// PublicIPFromService makes the pods get their addresses from services.
func PublicIPFromService(s *plan.Snapshot) {
	s.Cluster.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
}

// ForeignCluster returns a healthy cluster whose storage-114 was created by a tool with other hashes.
func ForeignCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	g := FirstOf(s, v1beta2.ProcessClassStorage)
	s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "theirs"
	s.Volumes[g.PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "theirs"
	return s
}

// DeadTester returns a healthy cluster of a version that never forgets testers, one of which was
// removed.
func DeadTester(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.3.34", "7.3.34"
	s.Database.Status.Cluster.Processes["gone"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}, ClassType: "test"}
	s.Database.Status.Cluster.Messages = []fdb.Message{{
		Name: fdb.MessageUnreachableProcesses, UnreachableProcesses: []fdb.UnreachableProcess{{Address: "10.9.9.9:4501"}},
	}}
	EditProcess(&s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleClusterController}} })
	RecoveredAgo(7200)(&s)
	for _, g := range s.Groups() {
		Uptime(&s, g.ProcessGroupID, 2*time.Hour)
	}
	return s
}

// NewKnobs returns a healthy cluster whose storage processes run with other arguments than they
// would start with now.
func NewKnobs(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			g.SetCondition(v1beta2.ConditionIncorrectCommandLine, Noon.Add(-time.Minute))
		}
	}
	return s
}

// Upgrading returns a cluster in which every process can start in 7.4.6 and still runs 7.3.79.
func Upgrading(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Spec.Version = "7.4.6"
	for _, g := range s.Groups() {
		g.SetCondition(v1beta2.ConditionIncorrectCommandLine, Noon.Add(-time.Minute))
	}
	return s
}

// Excluding adds an exclusion, which the processes concerned report.
func Excluding(target string, groups ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		excluded := fdb.ExcludedServer{Address: target}
		if strings.HasPrefix(target, "locality_") {
			excluded = fdb.ExcludedServer{Locality: target}
		}
		s.Database.Status.Cluster.Configuration.ExcludedServers = append(s.Database.Status.Cluster.Configuration.ExcludedServers, excluded)
		yes := true
		for _, id := range groups {
			EditProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.Excluded = &yes })
		}
	}
}

// Maintained returns a healthy cluster two minutes after node-14 was put under maintenance for
// storage-114, which restarted a minute ago.
func Maintained(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	WithMaintenance(&s)
	s.Database.Status.Cluster.MaintenanceZone = "node-14"
	s.Coordination.Read = true
	s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{"storage-114": Noon.Add(-2 * time.Minute)}
	Uptime(&s, "storage-114", time.Minute)
	return s
}

// Uptime sets for how long the processes of a group have run.
func Uptime(s *plan.Snapshot, id v1beta2.ProcessGroupID, d time.Duration) {
	EditProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.UptimeSeconds = new(d.Seconds()) })
}

// AgedCluster returns a healthy cluster whose database reports the time: noon. Its processes started
// at eleven.
func AgedCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Database.Status.Cluster.ClusterControllerTimestamp = new(Noon.Unix())
	return s
}

// Unconfigured is a cluster whose processes all report and whose database was never created.
func Unconfigured(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Status.Configured = false
	status := s.Database.Status
	status.Client.DatabaseStatus.Available = false
	status.Cluster.RecoveryState.Name = fdb.RecoveryNeverCreated
	status.Cluster.Configuration = nil
	status.Cluster.Layers.Error = "configurationMissing"
	return s
}

// FirstPod returns the pod of the first storage group.
func FirstPod(s *plan.Snapshot) *corev1.Pod { return s.Pod(FirstOf(*s, "storage")) }

// Report changes what the first storage pod reports.
func Report(edit func(*plan.PodReport)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		r := s.PodFiles[FirstPod(s).Name]
		edit(&r)
		s.PodFiles[FirstPod(s).Name] = r
	}
}

// OutdatedStorage returns a healthy cluster whose three storage pods, and one log pod, were created
// from another spec; storage-114 and storage-115 share a fault domain.
func OutdatedStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage || g.ProcessGroupID == "log-101" {
			s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
		}
	}
	ShareZone(&s, "storage-115", NodeName(14))
	return s
}

// ShareZone moves a group's pod to another fault domain.
func ShareZone(s *plan.Snapshot, id v1beta2.ProcessGroupID, zone string) {
	g := s.Cluster.ProcessGroup(id)
	g.FaultDomain = v1beta2.FaultDomain(zone)
	s.PodFiles[g.PodName(s.Cluster)].Variables[v1beta2.EnvZoneID] = zone
}

// WithMaintenance lets the spec use maintenance mode.
func WithMaintenance(s *plan.Snapshot) {
	yes := true
	s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = &yes
}
