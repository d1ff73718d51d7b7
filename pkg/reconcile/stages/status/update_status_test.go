package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func statusOf(t *testing.T, s plan.Snapshot) v1beta2.FoundationDBClusterStatus {
	t.Helper()
	status, err := NewStatus(s)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// Without its database every other conclusion would be a guess.
func TestAnUnreachableDatabaseChangesOnlyTheStatusHealth(t *testing.T) {
	for name, lost := range map[string]func(*plan.Snapshot){
		"that does not answer":           func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} },
		"that was not read":              func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{NotQueried: "no pod runs"} },
		"that reports it is unavailable": func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			for range 3 { // whatever else is broken at the same time
				stagestest.LosePod(&s)
				stagestest.LoseClaim(&s)
				s.ConfigMap = nil
			}
			lost(&s)
			want := *s.Cluster.Status.DeepCopy()
			want.Health.Available, want.Health.Healthy = false, false
			if diff := cmp.Diff(want, statusOf(t, s)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// A process that was missing before the database was out of sight may have reported meanwhile, and ended a moment ago.
func TestHowLongProcessesAreMissingCountsFromTheFirstLookAfterTheDatabaseWasUnseen(t *testing.T) {
	const missing = v1beta2.ConditionMissingProcesses
	for name, tc := range map[string]struct {
		seen  bool // by the pass before
		given func(*plan.Snapshot)
		age   time.Duration
	}{
		"it was seen all the time":   {seen: true, age: time.Hour},
		"it was not seen before":     {},
		"it is not seen now either":  {given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, age: time.Hour},
		"only its document is whole": {given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, age: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			g := s.Groups()[0]
			s.Cluster.Status.Health.Available = tc.seen
			g.SetCondition(missing, s.Now.Add(-time.Hour))
			stagestest.DropProcess(&s, g)
			if tc.given != nil {
				tc.given(&s)
			}
			status := statusOf(t, s)
			if since, holds := status.ProcessGroups[0].Condition(missing); !holds || !since.Equal(s.Now.Add(-tc.age)) {
				t.Errorf("missing %t since %s, now %s", holds, since, s.Now)
			}
		})
	}
}

func TestStatusConfiguredIsNeverReset(t *testing.T) {
	tests := map[string]struct {
		from  func(testing.TB) plan.Snapshot
		given func(*plan.Snapshot)
		want  bool
	}{
		"not before the database was created":        {from: stagestest.Unconfigured},
		"not of a cluster of which nothing is known": {from: stagestest.EmptyCluster},
		"once the database is available":             {from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, want: true},
		"while it is unavailable":                    {from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, want: true},
		"while it cannot be asked":                   {from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, want: true},
		"even when another database answers":         {from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = true }, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			if tc.given != nil {
				tc.given(&s)
			}
			if got := statusOf(t, s).Configured; got != tc.want {
				t.Errorf("configured %t, want %t", got, tc.want)
			}
		})
	}
}

func TestTheRunningVersionIsThatOfMostProcesses(t *testing.T) {
	running := func(newer int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, g := range s.Groups()[:newer] {
				stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Version = "7.3.80" })
			}
		}
	}
	noProcesses := func(s *plan.Snapshot) { s.Database.Status.Cluster.Processes = map[string]fdb.Process{"new": {}} }
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  string
	}{
		"the only version":                             {running(0), "7.3.79"},
		"of two the one of more processes":             {running(7), "7.3.79"},
		"of two that are as many the newer":            {running(8), "7.3.80"},
		"without processes that report the last known": {noProcesses, "7.3.79"},
		"without any record the ConfigMap's": {stagestest.All(noProcesses, func(s *plan.Snapshot) {
			s.Cluster.Status.RunningVersion = ""
			s.ConfigMap.Data[objects.KeyRunningVersion] = "7.1.67"
		}), "7.1.67"},
		"without anything the desired one": {stagestest.All(noProcesses, func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = ""; s.ConfigMap = nil }), "7.3.79"},
		"counts processes of all data centers": {func(s *plan.Snapshot) {
			for i := range 40 {
				s.Database.Status.Cluster.Processes[fmt.Sprintf("far-%d", i)] = fdb.Process{Version: "7.3.80", Locality: map[string]string{fdb.LocalityDCID: "dc2"}}
			}
		}, "7.3.80"},
		"does not count what cannot be read": {processWith(func(p *fdb.Process) { p.Version = "unknown" }), "7.3.79"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			if got := statusOf(t, s).RunningVersion; got != tc.want {
				t.Errorf("running version %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheConnectionStringFollowsTheDatabase(t *testing.T) {
	const moved = "sample:def@10.1.0.7:4501"
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  string
	}{
		"as recorded":                          {func(*plan.Snapshot) {}, stagestest.SampleConnectionString},
		"when someone else moved coordinators": {func(s *plan.Snapshot) { s.Database.Status.Cluster.ConnectionString = moved }, moved},
		"but not to what makes no sense":       {func(s *plan.Snapshot) { s.Database.Status.Cluster.ConnectionString = "nonsense" }, stagestest.SampleConnectionString},
		"out of the ConfigMap when nothing is recorded": {func(s *plan.Snapshot) {
			s.Cluster.Status.ConnectionString, s.Cluster.Status.Configured, s.Database = "", false, plan.DatabaseFacts{NotQueried: "?"}
			s.ConfigMap.Data[objects.KeyClusterFile] = moved
		}, moved},
		"out of the spec's seed when there is no ConfigMap": {func(s *plan.Snapshot) {
			s.Cluster.Status.ConnectionString, s.Cluster.Status.Configured, s.Database = "", false, plan.DatabaseFacts{NotQueried: "?"}
			s.ConfigMap, s.Cluster.Spec.SeedConnectionString = nil, moved
		}, moved},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			if got := statusOf(t, s).ConnectionString; got != tc.want {
				t.Errorf("connection string %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheFaultDomainComesFromTheYoungestProcess(t *testing.T) {
	process := func(n int, zone string, uptime *float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			id := string(stagestest.FirstOf(*s, "storage").ProcessGroupID)
			s.Database.Status.Cluster.Processes[fmt.Sprintf("x%d", n)] = fdb.Process{
				Version: "7.3.79", CommandLine: "fdbserver", UptimeSeconds: uptime,
				Locality: map[string]string{fdb.LocalityInstanceID: id, fdb.LocalityProcessID: fmt.Sprintf("%s-%d", id, n), fdb.LocalityZoneID: zone},
			}
		}
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  v1beta2.FaultDomain
	}{
		"of one process":                          {func(*plan.Snapshot) {}, "node-14"},
		"of two the one that started last":        {process(2, "node-new", new(1.0)), "node-new"},
		"not of an older one":                     {process(2, "node-old", new(9999.0)), "node-14"},
		"not of one without a zone":               {process(2, "", new(1.0)), "node-14"},
		"not of one whose uptime is unknown":      {process(2, "node-new", nil), "node-14"},
		"the last known while no process reports": {unresponsive, "node-14"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			if got := judged(t, s).FaultDomain; got != tc.want {
				t.Errorf("fault domain %s, want %s", got, tc.want)
			}
		})
	}
}

func TestAddressesAreKeptWhileTheyMayStillBeExcluded(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []string
	}{
		"a new address replaces the old one":       {stagestest.PodWith(func(p *corev1.Pod) { p.Status.PodIP = "10.1.0.99" }), []string{"10.1.0.99"}},
		"a group that is leaving keeps both":       {stagestest.All(stagestest.MarkFirst, stagestest.PodWith(func(p *corev1.Pod) { p.Status.PodIP = "10.1.0.99" })), []string{"10.1.0.14", "10.1.0.99"}},
		"a pod without an address leaves the last": {stagestest.PodWith(func(p *corev1.Pod) { p.Status.PodIP, p.Status.PodIPs = "", nil }), []string{"10.1.0.14"}},
		"a deleted pod leaves the last":            {stagestest.LosePod, []string{"10.1.0.14"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			got := judged(t, s).Addresses
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

// A lost status is restored from the objects in the namespace.
func TestMissingStatusEntriesAreRestoredFromPodsAndPVCs(t *testing.T) {
	forget := func(s *plan.Snapshot) {
		s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[:len(s.Cluster.Status.ProcessGroups)-3]
	}
	objectsOnly := func(keep string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			if keep != "pods" {
				s.Pods = map[string]*corev1.Pod{}
			}
			if keep != "claims" {
				s.Volumes = map[string]*corev1.PersistentVolumeClaim{}
			}
		}
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  int
	}{
		"by pods and claims, once each": {forget, 16},
		"by pods alone":                 {stagestest.All(forget, objectsOnly("pods")), 16},
		"by claims alone":               {stagestest.All(forget, objectsOnly("claims")), 16},
		"not by what terminates": {stagestest.All(forget, objectsOnly("pods"), func(s *plan.Snapshot) {
			for _, pod := range s.Pods {
				pod.DeletionTimestamp = new(stagestest.NoonTime())
			}
		}), 13},
		"not by what has no ID": {stagestest.All(forget, objectsOnly("pods"), func(s *plan.Snapshot) {
			for _, pod := range s.Pods {
				delete(pod.Labels, v1beta2.LabelProcessGroupID)
			}
		}), 13},
		"not by what another cluster owns, where the spec looks at owners": {stagestest.All(forget, objectsOnly("pods"), func(s *plan.Snapshot) {
			s.Cluster.Spec.Labels.FilterOnOwnerReference = new(true) //nolint:staticcheck // specs that use it still have to work
			for _, pod := range s.Pods {
				pod.OwnerReferences = []metav1.OwnerReference{{UID: "other", Controller: new(true)}}
			}
		}), 13},
		"by what it owns, where the spec looks at owners": {stagestest.All(forget, objectsOnly("pods"), func(s *plan.Snapshot) {
			s.Cluster.Spec.Labels.FilterOnOwnerReference = new(true) //nolint:staticcheck // specs that use it still have to work
		}), 16},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			groups := statusOf(t, s).ProcessGroups
			if len(groups) != tc.want {
				t.Errorf("%d process groups, want %d", len(groups), tc.want)
			}
			for i := 1; i < len(groups); i++ {
				if groups[i-1].ProcessGroupID >= groups[i].ProcessGroupID {
					t.Errorf("%s comes after %s", groups[i].ProcessGroupID, groups[i-1].ProcessGroupID)
				}
			}
		})
	}
}

func TestStatusRecordsImageTypesServersPerDiskAndAddresses(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.PodWith(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationImageType] = string(v1beta2.ImageTypeSplit) })(&s)
	s.Database.Status.Client.Coordinators.Coordinators[0].Address.TLS = true
	status := statusOf(t, s)
	want := map[string]any{
		"image types": []v1beta2.ImageType{v1beta2.ImageTypeSplit, v1beta2.ImageTypeUnified},
		"storage":     []int{1}, "logs": []int{1}, "addresses": v1beta2.RequiredAddressSet{TLS: true, NonTLS: true},
	}
	got := map[string]any{
		"image types": status.ImageTypes, "storage": status.StorageServersPerDisk, "logs": status.LogServersPerDisk, "addresses": status.RequiredAddresses,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in use (-want +got):\n%s", diff)
	}
}

func TestServersPerDiskAreRecordedForEachClassWithData(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	for class, servers := range map[v1beta2.ProcessClass]string{v1beta2.ProcessClassStorage: "2", v1beta2.ProcessClassLog: "3"} {
		for _, g := range s.Groups() {
			if g.ProcessClass == class {
				main := &s.Pod(g).Spec.Containers[0]
				main.Env = append([]corev1.EnvVar{{Name: class.ServersPerPodVariable(), Value: servers}}, main.Env...)
			}
		}
	}
	status := statusOf(t, s)
	if diff := cmp.Diff([][]int{{1, 2}, {1, 3}}, [][]int{status.StorageServersPerDisk, status.LogServersPerDisk}); diff != "" {
		t.Errorf("storage and log servers (-want +got):\n%s", diff)
	}
}

func TestStatusHealthComesFromTheStatusDocument(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Database.Status.Client.DatabaseStatus.Healthy = false
	s.Database.Status.Cluster.FullReplication = nil
	if h := statusOf(t, s).Health; !h.Available || h.Healthy || h.FullReplication {
		t.Errorf("health %+v, want available alone", h)
	}
}

func TestAnIncorrectConfigMapOrServiceIsRecordedInTheStatus(t *testing.T) {
	tests := map[string]struct {
		given              func(*plan.Snapshot)
		configMap, service bool
	}{
		"not when both are right":     {given: func(*plan.Snapshot) {}},
		"a missing ConfigMap":         {given: func(s *plan.Snapshot) { s.ConfigMap = nil }, configMap: true},
		"a ConfigMap with other data": {given: func(s *plan.Snapshot) { s.ConfigMap.Data["x"] = "y" }, configMap: true},
		"a ConfigMap without labels":  {given: func(s *plan.Snapshot) { s.ConfigMap.Labels = nil }, configMap: true},
		"a missing headless service":  {given: func(s *plan.Snapshot) { s.Cluster.Spec.Routing.HeadlessService = new(true); s.Services = nil }, service: true},
		"a superfluous service": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Routing.HeadlessService = new(true)
			headless := objects.HeadlessService(s.Cluster)
			s.Cluster.Spec.Routing.HeadlessService = new(false)
			s.Services[headless.Name] = headless
		}, service: true},
		"not a foreign service": {given: func(s *plan.Snapshot) {
			s.Services[s.Cluster.HeadlessServiceName()] = &corev1.Service{}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			status := statusOf(t, s)
			if status.HasIncorrectConfigMap != tc.configMap || status.HasIncorrectServiceConfig != tc.service {
				t.Errorf("config map wrong %t, service wrong %t", status.HasIncorrectConfigMap, status.HasIncorrectServiceConfig)
			}
		})
	}
}

func TestTheLastStageReportsWhatRemains(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		holds string
	}{
		"nothing of a reconciled cluster": {given: func(*plan.Snapshot) {}},
		"a process that does not report":  {given: unresponsive, holds: "storage-114"},
		"an unreachable database": {given: stagestest.All(func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}, stagestest.LosePod), holds: "the state of the database is unknown: timed out"},
		"a cluster of which nothing exists": {given: func(s *plan.Snapshot) { *s = stagestest.EmptyCluster(t) }, holds: "there is no cluster file yet"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := ReportStatus.Decide(s)
			if got := stagestest.Reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
		})
	}
}

// Writing a status must converge: the status that is written is judged equal next time.
func TestUpdateStatusConvergesAfterOneWrite(t *testing.T) {
	for seed := range uint64(40) {
		s := stagestest.AnySnapshot(t, seed)
		for _, a := range UpdateStatus.Decide(s).Actions {
			s = a.(plan.Edit).Apply(s)
		}
		if d := UpdateStatus.Decide(s); len(d.Actions) > 0 {
			t.Fatalf("seed %d: a second decision writes again: %v", seed, stagestest.Described(d))
		}
	}
}

// Another control-plane instance restarts what was announced, prepared or not.
func TestTheAnnouncementOfARevertedUpgradeIsWithdrawn(t *testing.T) {
	const back = "withdraw the announcement that 2 process groups can start in version 7.4.6"
	given := func(edit func(*plan.Snapshot)) plan.Snapshot {
		s := stagestest.HealthyCluster(t)
		s.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"dc2-storage-1", "storage-114", "storage-9"}}
		if edit != nil {
			edit(&s)
		}
		return s
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []string
	}{
		"its own, including removed ones": {want: []string{back}},
		"those for another version":       {given: func(s *plan.Snapshot) { s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.4.7", "7.3.79" }, want: []string{back}},
		"not while the upgrade goes on":   {given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }},
		"never those of another control-plane instance": {given: func(s *plan.Snapshot) {
			s.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"dc2-storage-1"}}
		}},
		"nothing where nothing was announced": {given: func(s *plan.Snapshot) { s.Coordination.Announced = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range UpdateStatus.Decide(given(tc.given)).Actions {
				if _, ok := a.(plan.WithdrawUpgrade); ok {
					got = append(got, a.Describe())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpgradeAnnouncementsAreWithdrawnFirst(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"storage-114"}}
	s.Cluster.Status.Health.Available = false // something to write
	actions := UpdateStatus.Decide(s).Actions
	if len(actions) != 2 || plan.KindOf(actions[0]) != "WithdrawUpgrade" {
		t.Errorf("decided %v", stagestest.Described(plan.Decision{Actions: actions}))
	}
}
