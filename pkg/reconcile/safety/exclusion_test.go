package safety

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var evening = time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)

// draining is a double database with four storage groups, of which storage-1 is marked
// for removal, excluded, and without roles: all is well.
func draining(t *testing.T) plan.Snapshot {
	t.Helper()
	status, err := fdb.ParseStatus([]byte(`{
		"client": {"coordinators": {"quorum_reachable": true, "coordinators": [{"address": "10.0.0.9:4501", "reachable": true}]},
			"database_status": {"available": true, "healthy": true}},
		"cluster": {"recovery_state": {"name": "fully_recovered", "active_generations": 1, "seconds_since_last_recovered": 3600},
			"logs": [{"current": true, "log_replication_factor": 2, "log_fault_tolerance": 1}],
			"configuration": {"redundancy_mode": "double", "excluded_servers": [{"locality": "locality_instance_id:storage-1"}]},
			"data": {"state": {"name": "healthy", "healthy": true}, "team_trackers": [{"primary": true, "state": {"name": "healthy", "healthy": true, "min_replicas_remaining": 2}}]},
			"processes": {
				"a": {"address": "10.0.0.1:4501", "excluded": true, "locality": {"instance_id": "storage-1", "zoneid": "z1"}, "command_line": "x", "version": "7.3.79", "roles": []},
				"b": {"address": "10.0.0.2:4501", "locality": {"instance_id": "storage-2", "zoneid": "z2"}, "command_line": "x", "version": "7.3.79", "roles": [{"role": "storage"}]},
				"c": {"address": "10.0.0.3:4501", "locality": {"instance_id": "storage-3", "zoneid": "z3"}, "command_line": "x", "version": "7.3.79", "roles": []},
				"d": {"address": "10.0.0.4:4501", "locality": {"instance_id": "storage-4", "zoneid": "z4"}, "command_line": "x", "version": "7.3.79", "roles": []}},
			"layers": {"_valid": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79", ProcessCounts: v1beta2.ProcessCounts{Storage: 3}}}
	c.Status.Configured = true
	for _, id := range []v1beta2.ProcessGroupID{"storage-1", "storage-2", "storage-3", "storage-4"} {
		c.Status.ProcessGroups = append(c.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{
			ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{"10.0.0." + string(id[len(id)-1])},
		})
	}
	c.Status.ProcessGroups[0].MarkForRemoval(evening.Add(-time.Hour))
	return plan.Snapshot{
		Now: evening, Cluster: c, Database: plan.DatabaseFacts{Status: status, AsOf: evening},
		Coordination: plan.CoordinationFacts{ExclusionsRead: true, Exclusions: []string{"locality_instance_id:storage-1"}},
	}
}

// unresponsive takes the process of storage-1 away, unseen for so long.
func unresponsive(s *plan.Snapshot, unseen time.Duration) {
	delete(s.Database.Status.Cluster.Processes, "a")
	s.Groups()[0].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-unseen))
}

func process(s *plan.Snapshot, edit func(*fdb.Process)) {
	p := s.Database.Status.Cluster.Processes["a"]
	edit(&p)
	s.Database.Status.Cluster.Processes["a"] = p
}

func TestAGroupIsDrainedOnlyIfNothingCanStillDependOnIt(t *testing.T) {
	no := false
	one := 1
	tests := map[string]struct {
		given func(*plan.Snapshot)
		// because is a part of why it is not; empty when it is drained.
		because string
	}{
		"excluded and without roles":               {given: func(*plan.Snapshot) {}},
		"silent for long, all at full replication": {given: func(s *plan.Snapshot) { unresponsive(s, time.Hour) }},
		"silent, but already proven drained": {given: func(s *plan.Snapshot) {
			unresponsive(s, time.Second)
			s.Groups()[0].SetExcluded(evening)
		}},
		"still has a role": {func(s *plan.Snapshot) {
			process(s, func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: "cluster_controller"}} })
		}, "still has the role cluster_controller"},
		"is not excluded": {func(s *plan.Snapshot) { process(s, func(p *fdb.Process) { p.Excluded = &no }) }, "is not excluded"},
		"an old process of its address has a role": {func(s *plan.Snapshot) {
			process(s, func(p *fdb.Process) { delete(p.Locality, "instance_id"); p.Roles = []fdb.Role{{Role: "storage"}} })
		}, "still has the role storage"},
		"its exclusion is in progress":                      {func(s *plan.Snapshot) { s.Coordination.InProgressExclusions = []string{"10.0.0.1:4501"} }, "in progress"},
		"an exclusion at an unknown address is in progress": {func(s *plan.Snapshot) { s.Coordination.InProgressExclusions = []string{"0.0.0.0:0"} }, "could be its own"},
		"is not excluded, and the exclusions were not read": {func(s *plan.Snapshot) {
			process(s, func(p *fdb.Process) { p.Excluded = &no })
			s.Coordination.ExclusionsRead = false
		}, "is not excluded"},
		"the exclusions in progress were not read": {func(s *plan.Snapshot) { s.Coordination.ExclusionsRead = false }, "unknown"},
		"is not excluded, whatever else was not read": {func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead = false
			process(s, func(p *fdb.Process) { p.Excluded = &no })
		}, "is not excluded"},
		"the database does not answer":  {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, "no database status: timed out"},
		"the database is unavailable":   {func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, "unavailable"},
		"the last recovery is not over": {func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAllLogsRecruited }, "roles are unknown"},
		"an old generation of logs is left": {func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Logs = append(s.Database.Status.Cluster.Logs, fdb.LogGeneration{})
		}, "2 generations of logs"},
		"roles are not complete": {func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages = []fdb.Message{{Name: "storage_servers_error"}}
		}, "does not report all roles"},
		"its exclusion was ended, and the status document is stale": {func(s *plan.Snapshot) { s.Coordination.Exclusions = nil }, "the exclusion was ended"},
		"excluded by its address":                                   {given: func(s *plan.Snapshot) { s.Coordination.Exclusions = []string{"10.0.0.1"} }},
		"silent and never excluded": {func(s *plan.Snapshot) {
			unresponsive(s, time.Hour)
			s.Database.Status.Cluster.Configuration.ExcludedServers = nil
		}, "not excluded"},
		"silent for a moment only": {func(s *plan.Snapshot) { unresponsive(s, 80*time.Second) }, "stopped reporting 1m20s ago"},
		"silent for long by the clock, but only a moment when the document was read": {func(s *plan.Snapshot) {
			unresponsive(s, 100*time.Second)
			s.Database.AsOf = evening.Add(-90 * time.Second)
		}, "stopped reporting 10s ago"},
		"one of its two processes does not report": {func(s *plan.Snapshot) {
			s.Cluster.Spec.StorageServersPerPod = 2
			s.Groups()[0].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-5*time.Second))
		}, "stopped reporting 5s ago"},
		"one of its two processes does not report, and no pass has observed that yet": {func(s *plan.Snapshot) {
			s.Cluster.Spec.StorageServersPerPod = 2
		}, "since when is unknown"},
		"not reporting since an unknown time": {func(s *plan.Snapshot) { delete(s.Database.Status.Cluster.Processes, "a") }, "since when is unknown"},
		"silent, and some data misses a replica": {func(s *plan.Snapshot) {
			unresponsive(s, time.Hour)
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
		}, "1 of 2 replicas"},
		"not reporting, with unknown replication": {func(s *plan.Snapshot) {
			unresponsive(s, time.Hour)
			s.Database.Status.Cluster.Data = nil
		}, "unknown"},
		"silent, and the logs are not complete": {func(s *plan.Snapshot) {
			unresponsive(s, time.Hour)
			zero := 0
			s.Database.Status.Cluster.Logs[0].FaultTolerance = &zero
		}, "logs are not fully replicated"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			c := Drained(s, s.Groups()[0])
			if c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("drained: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
		})
	}
}

func TestFullFaultTolerance(t *testing.T) {
	one, zero := 1, 0
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		because string
	}{
		"everything is complete": {given: func(*plan.Snapshot) {}},
		"a removed group does not report, and was drained": {given: func(s *plan.Snapshot) {
			unresponsive(s, time.Second)
			s.Groups()[0].SetExcluded(evening)
		}},
		"a draining group does not report": {func(s *plan.Snapshot) { unresponsive(s, time.Second) }, "storage-1 stopped reporting 1s ago"},
		"a group that stays has not reported for long": {given: func(s *plan.Snapshot) {
			s.Groups()[1].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-2*time.Minute))
		}},
		"a group that stays vanished a moment ago": {func(s *plan.Snapshot) {
			s.Groups()[1].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-time.Minute))
		}, "storage-2 stopped reporting 1m0s ago"},
		"a group that stays had just vanished when the document was read": {func(s *plan.Snapshot) {
			s.Groups()[1].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-2*time.Minute))
			s.Database.AsOf = evening.Add(-time.Minute)
		}, "storage-2 stopped reporting 1m0s ago"},
		"a group that stays lost its pod a moment ago": {func(s *plan.Snapshot) {
			s.Groups()[1].SetCondition(v1beta2.ConditionMissingPod, evening.Add(-time.Minute))
		}, "storage-2 stopped reporting 1m0s ago"},
		"a group that stays does not report and was never seen": {func(s *plan.Snapshot) {
			delete(s.Database.Status.Cluster.Processes, "b")
		}, "storage-2 does not report, since when is unknown"},
		"a group's container was started since it stopped reporting": {func(s *plan.Snapshot) {
			s.Groups()[1].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-72*time.Hour))
			serverContainer(s, corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-time.Minute))}}})
		}, "storage-2 has not reported for 72h0m0s, and its container last started or ended 1m0s ago"},
		"a group's container ended since it stopped reporting": {func(s *plan.Snapshot) {
			s.Groups()[1].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-72*time.Hour))
			serverContainer(s, corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(evening.Add(-time.Minute))}}})
		}, "storage-2 has not reported for 72h0m0s, and its container last started or ended 1m0s ago"},
		"one of two processes of a group does not report, and was never seen": {func(s *plan.Snapshot) {
			s.Cluster.Spec.StorageServersPerPod = 2
		}, "1 of 2 processes of storage-1 does not report"},
		"some data misses a replica": {func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
		}, "1 of 2 replicas"},
		"the replication of the data is unknown": {func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.TeamTrackers = nil }, "unknown"},
		"a log is lost":                          {func(s *plan.Snapshot) { s.Database.Status.Cluster.Logs[0].FaultTolerance = &zero }, "logs is incomplete"},
		"no logs are reported":                   {func(s *plan.Snapshot) { s.Database.Status.Cluster.Logs = nil }, "logs is incomplete"},
		"a coordinator is away":                  {func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false }, "coordinator is not reachable"},
		"the database is down":                   {func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, "unavailable"},
		"the database does not answer":           {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{NotQueried: "no pod runs"} }, "no pod runs"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			c := FullFaultTolerance(s)
			if c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("tolerant: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
			if !c.OK && c.Have != "" && c.Have == c.Need {
				t.Errorf("refused, with all of the %s that are needed", c.Need)
			}
		})
	}
}

// serverContainer is what Kubernetes reports of the processes of storage-2.
func serverContainer(s *plan.Snapshot, c corev1.ContainerStatus) {
	c.Name = v1beta2.ContainerMain
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(evening.Add(-96 * time.Hour))}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	s.Pods = map[string]*corev1.Pod{s.Groups()[1].PodName(s.Cluster): pod}
}

// The record says when its silence was first seen; since then it may have been back.
func TestARecentlyStartedGroupNotReportingIsNotDrained(t *testing.T) {
	s := draining(t)
	unresponsive(&s, time.Hour)
	if c := Drained(s, s.Groups()[0]); !c.OK {
		t.Fatalf("not drained: %s", c.Evidence)
	}
	pod := &corev1.Pod{}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: v1beta2.ContainerMain, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-time.Minute))}},
	}}
	s.Pods = map[string]*corev1.Pod{s.Groups()[0].PodName(s.Cluster): pod}
	if c := Drained(s, s.Groups()[0]); c.OK || !strings.Contains(c.Evidence, "has not reported for 1h0m0s, and its container last started or ended 1m0s ago") {
		t.Errorf("drained: %t, %s", c.OK, c.Evidence)
	}
}

func TestExclusionBudget(t *testing.T) {
	tests := map[string]struct {
		valid, desired, ongoing int
		mode                    v1beta2.RedundancyMode
		budget                  int
	}{
		"triple may drain two without a replacement": {10, 10, 0, v1beta2.RedundancyModeTriple, 2},
		"one that drains takes one away":             {10, 10, 1, v1beta2.RedundancyModeTriple, 1},
		"two that drain take all":                    {10, 10, 2, v1beta2.RedundancyModeTriple, 0},
		"replacements that are up add to it":         {20, 10, 0, v1beta2.RedundancyModeTriple, 12},
		"and those that drain take from it":          {20, 10, 10, v1beta2.RedundancyModeTriple, 2},
		"too few up":                                 {8, 10, 0, v1beta2.RedundancyModeTriple, 0},
		"none up":                                    {0, 10, 0, v1beta2.RedundancyModeTriple, 0},
		"single needs a spare":                       {3, 3, 0, v1beta2.RedundancyModeSingle, 0},
		"single with a spare":                        {4, 3, 0, v1beta2.RedundancyModeSingle, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Spec.DatabaseConfiguration.RedundancyMode = tc.mode
			c.Spec.ProcessCounts.Storage = tc.desired
			status := &fdb.Status{Cluster: fdb.ClusterStatus{Processes: map[string]fdb.Process{}}}
			for i := range tc.valid {
				c.Status.ProcessGroups = append(c.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{
					ProcessGroupID: c.ProcessGroupIDFor(v1beta2.ProcessClassStorage, i+1), ProcessClass: v1beta2.ProcessClassStorage,
				})
				id := string(c.ProcessGroupIDFor(v1beta2.ProcessClassStorage, i+1))
				status.Cluster.Processes[id] = fdb.Process{CommandLine: "x", Version: "7.3.79", Locality: map[string]string{fdb.LocalityInstanceID: id}}
			}
			got, check := ExclusionBudget(plan.Snapshot{Now: evening, Cluster: c, Database: plan.DatabaseFacts{Status: status}}, v1beta2.ProcessClassStorage, tc.ongoing)
			if got != tc.budget || check.OK != (got > 0) {
				t.Errorf("budget %d (%s), want %d", got, check.Evidence, tc.budget)
			}
		})
	}
}

func TestARecentlyMissingProcessBlocksExclusionsOfItsClass(t *testing.T) {
	s := draining(t)
	s.Groups()[2].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-4*time.Minute))
	if budget, check := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); budget != 0 || check.OK {
		t.Errorf("budget %d while storage-3 has been missing for four minutes", budget)
	}
	s = draining(t)
	s.Groups()[2].SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-6*time.Minute))
	if budget, _ := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); budget != 1 {
		t.Errorf("budget %d after storage-3 was given up, want 1", budget)
	}
}

// The condition of a process that a pass took down a moment ago is recorded by a later pass.
func TestAPodThatJustStartedBlocksExclusionsOfItsClassUntilItReports(t *testing.T) {
	for age, blocks := range map[time.Duration]bool{4 * time.Minute: true, 6 * time.Minute: false} {
		s := draining(t)
		g := s.Groups()[2]
		s.Pods = map[string]*corev1.Pod{g.PodName(s.Cluster): {ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(evening.Add(-age))}}}
		before, check := ExclusionBudget(s, v1beta2.ProcessClassStorage, -1)
		if !check.OK {
			t.Errorf("%s while %s reports", check.Evidence, g.ProcessGroupID)
		}
		maps.DeleteFunc(s.Database.Status.Cluster.Processes, func(_ string, p fdb.Process) bool { return p.InstanceID() == string(g.ProcessGroupID) })
		want := before - 1
		if blocks {
			want = 0
		}
		if budget, check := ExclusionBudget(s, v1beta2.ProcessClassStorage, -1); budget != want || strings.Contains(check.Evidence, "its pod started") != blocks {
			t.Errorf("budget %d (%s) while the pod of %s started %s ago, want %d", budget, check.Evidence, g.ProcessGroupID, age, want)
		}
	}
}

// A condition that is older than a pod is about the pod before it: the new one has just as long
// to report. A container that crashes in the same pod does not renew that time.
func TestAPodThatJustReplacedALongMissingOneBlocksExclusionsOfItsClass(t *testing.T) {
	for name, tc := range map[string]struct {
		created, started time.Duration
		blocks           bool
	}{
		"a pod that was just created":              {created: 4 * time.Minute, started: 4 * time.Minute, blocks: true},
		"a pod that had its time to report":        {created: 6 * time.Minute, started: 6 * time.Minute},
		"a container that restarts in an old pod":  {created: time.Hour, started: time.Minute},
		"a container that restarts in a young pod": {created: 4 * time.Minute, started: time.Minute, blocks: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			g := s.Groups()[2]
			g.SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-time.Hour))
			maps.DeleteFunc(s.Database.Status.Cluster.Processes, func(_ string, p fdb.Process) bool { return p.InstanceID() == string(g.ProcessGroupID) })
			s.Pods = map[string]*corev1.Pod{g.PodName(s.Cluster): {
				ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(evening.Add(-tc.created))},
				Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
					Name: v1beta2.ContainerMain, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-tc.started))}},
				}}},
			}}
			budget, check := ExclusionBudget(s, v1beta2.ProcessClassStorage, -1)
			if strings.Contains(check.Evidence, "its pod started") != tc.blocks || (budget == 0) != tc.blocks {
				t.Errorf("budget %d (%s)", budget, check.Evidence)
			}
		})
	}
}

// Without a pod there is no condition about processes, so only the missing pod is on record.
func TestAMissingPodBlocksExclusionsForFiveMinutes(t *testing.T) {
	for age, want := range map[time.Duration]int{4 * time.Minute: 0, 6 * time.Minute: 1} {
		s := draining(t)
		s.Groups()[2].SetCondition(v1beta2.ConditionMissingPod, evening.Add(-age))
		if budget, _ := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); budget != want {
			t.Errorf("budget %d while storage-3 has had no pod for %s, want %d", budget, age, want)
		}
	}
}

// A group that the spec keeps is not among those that drain, although it is still marked and
// excluded: it takes nothing over until it is included.
func TestAnExcludedKeptGroupDoesNotRaiseTheExclusionBudget(t *testing.T) {
	s := draining(t)
	marked := s.Groups()[2]
	marked.MarkForRemoval(evening)
	s.Coordination.Exclusions = append(s.Coordination.Exclusions, marked.ExclusionString())
	before, _ := ExclusionBudget(s, marked.ProcessClass, 1)
	s.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{marked.ProcessGroupID}
	if after, check := ExclusionBudget(s, marked.ProcessClass, 0); after > before {
		t.Errorf("budget %d once it is kept, %d before: %s", after, before, check.Evidence)
	}
}

// The status document lags behind the exclusions, and the resource behind the document.
func TestANewlyExcludedGroupReducesTheExclusionBudget(t *testing.T) {
	s := draining(t)
	before, _ := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0)
	s.Coordination.Exclusions = append(s.Coordination.Exclusions, s.Groups()[2].ExclusionString())
	if budget, check := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); budget != before-1 {
		t.Errorf("budget %d (%s) while an exclusion of %s is in force, want one less than %d", budget, check.Evidence, s.Groups()[2].ProcessGroupID, before)
	}
}

// A zone under maintenance is expected to be away: its groups have no condition for that.
func TestAGroupNotReportingWithoutAConditionIsNotCountedAsUp(t *testing.T) {
	s := draining(t)
	s.Pods = map[string]*corev1.Pod{s.Groups()[2].PodName(s.Cluster): {ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(evening.Add(-time.Hour))}}}
	before, _ := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0)
	id := string(s.Groups()[2].ProcessGroupID)
	maps.DeleteFunc(s.Database.Status.Cluster.Processes, func(_ string, p fdb.Process) bool { return p.InstanceID() == id })
	if budget, check := ExclusionBudget(s, v1beta2.ProcessClassStorage, 0); budget != before-1 {
		t.Errorf("budget %d (%s) while %s does not report, want one less than %d", budget, check.Evidence, id, before)
	}
}

// The record and the database both have to say it: one of them alone can lag. A pod that was
// just recreated brings the process back.
func TestAGroupCountsAsLostOnlyAfterFiveMinutesNotReporting(t *testing.T) {
	type change = func(plan.Snapshot, *v1beta2.ProcessGroupStatus)
	unresponsive := func(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
		maps.DeleteFunc(s.Database.Status.Cluster.Processes, func(_ string, p fdb.Process) bool { return p.InstanceID() == string(g.ProcessGroupID) })
	}
	missing := func(age time.Duration) change {
		return func(_ plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			g.SetCondition(v1beta2.ConditionMissingProcesses, evening.Add(-age))
		}
	}
	pod := func(age time.Duration) change {
		return func(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			s.Pods[g.PodName(s.Cluster)] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(evening.Add(-age))}}
		}
	}
	for name, tc := range map[string]struct {
		given []change
		want  bool
	}{
		"one that does not report, in the status and in the database": {given: []change{unresponsive, missing(5 * time.Minute), pod(5 * time.Minute)}, want: true},
		"one that reports":                        {given: []change{pod(time.Hour)}},
		"one that may come back":                  {given: []change{unresponsive, missing(4 * time.Minute), pod(time.Hour)}},
		"one that the record knows no silence of": {given: []change{unresponsive, pod(time.Hour)}},
		"one that has come back since":            {given: []change{missing(time.Hour), pod(time.Hour)}},
		"one whose pod was just recreated":        {given: []change{unresponsive, missing(time.Hour), pod(4 * time.Minute)}},
		"one whose servers were just started": {given: []change{unresponsive, missing(time.Hour), pod(time.Hour), func(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			s.Pod(g).Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: v1beta2.ContainerMain, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-4 * time.Minute))}},
			}}
		}}},
		"one whose servers have ended": {given: []change{unresponsive, missing(time.Hour), pod(time.Hour), func(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			s.Pod(g).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain}}
		}}, want: true},
		"one whose pod is yet to be made": {given: []change{unresponsive, missing(time.Hour)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			s.Pods = map[string]*corev1.Pod{}
			for _, given := range tc.given {
				given(s, s.Groups()[2])
			}
			if got := LongMissing(s, s.Groups()[2]); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// Pods get the IPs of deleted pods.
func TestAnAddressReusedByAnotherGroupDoesNotMakeACoordinator(t *testing.T) {
	s := draining(t)
	s.Groups()[0].Addresses = []string{"10.0.0.9", "10.0.0.1"}
	if !Coordinates(s, s.Groups()[0]) {
		t.Error("a group whose address a coordinator has is none")
	}
	other := s.Database.Status.Cluster.Processes["b"]
	other.Address.Host = "10.0.0.9"
	s.Database.Status.Cluster.Processes["b"] = other
	if Coordinates(s, s.Groups()[0]) {
		t.Error("storage-1 is a coordinator for an address that storage-2 has now")
	}
}

// A name can go on to stand for an address that its pod has left; whose servers all report
// has no one waiting for it, and would be waited for without end.
func TestACoordinatorOfAGroupReportingElsewhereIsNotWaitedFor(t *testing.T) {
	s := draining(t)
	s.Cluster.Name, s.Cluster.Namespace = "sample", "fdb"
	started := func(ago time.Duration) {
		serverContainer(&s, corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(evening.Add(-ago))}}})
	}
	named := []fdb.Address{{Host: s.Groups()[1].DNSName(s.Cluster), Port: 4501}}
	coordinators := &s.Database.Status.Client.Coordinators
	for range 4 { // one more loss takes no quorum
		coordinators.Coordinators = append(coordinators.Coordinators, coordinators.Coordinators[0])
	}
	started(time.Hour)
	if c := StaysAway(s, named); !c.OK {
		t.Errorf("waits: %s", c.Evidence)
	}
	started(time.Minute)
	if c := StaysAway(s, named); c.OK {
		t.Error("does not wait for a server that was just started")
	}
}
