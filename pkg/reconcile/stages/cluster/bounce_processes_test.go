package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestBounceProcesses(t *testing.T) {
	const all = "restart 3 processes of storage-114, storage-115, storage-116 at once"
	have := func(id v1beta2.ProcessGroupID, condition v1beta2.ProcessGroupConditionType, ago time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.ProcessGroup(id).SetCondition(condition, stagestest.Noon.Add(-ago)) }
	}
	const two = "restart 2 processes of storage-115, storage-116 at once"
	tests := map[string]stagestest.RemovalCase{
		"leaves processes alone that match the spec":    {From: stagestest.HealthyCluster},
		"restarts all at once that have to restart":     {From: stagestest.NewKnobs, Does: []string{all}},
		"does nothing where the spec does not want it":  {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool) }},
		"restarts processes that leave as well":         {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon) }, Does: []string{all}},
		"waits until all have loaded the configuration": {From: stagestest.NewKnobs, Given: have("log-101", v1beta2.ConditionIncorrectConfigMap, time.Minute), Holds: "have not loaded the current configuration: log-101"},
		"leaves a marked group out that has not loaded the configuration": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon)
			have("storage-114", v1beta2.ConditionIncorrectConfigMap, time.Minute)(s)
		}, Does: []string{two}},
		"waits for a marked group that has not loaded the configuration on the way to TLS": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon)
			have("storage-114", v1beta2.ConditionIncorrectConfigMap, time.Minute)(s)
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, Holds: "have not loaded the current configuration: storage-114"},
		"does not wait for a process that is long missing": {From: stagestest.NewKnobs, Given: have("storage-114", v1beta2.ConditionMissingProcesses, 31*time.Second), Does: []string{two}},
		"waits for a process that is just missing": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			have("storage-114", v1beta2.ConditionMissingProcesses, 29*time.Second)(s)
			stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, Holds: "the database does not report their addresses"},
		"does not wait for a marked group that is just missing": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon)
			have("storage-114", v1beta2.ConditionMissingProcesses, time.Second)(s)
			stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, Does: []string{two}},
		"does not wait for a pod that cannot start":      {From: stagestest.NewKnobs, Given: have("storage-114", v1beta2.ConditionPodPending, 6*time.Minute), Does: []string{two}},
		"leaves a pod to be recreated first":             {From: stagestest.NewKnobs, Given: have("storage-114", v1beta2.ConditionIncorrectPodSpec, time.Hour), Does: []string{two}},
		"leaves a pod out whose sidecar does not answer": {From: stagestest.NewKnobs, Given: have("storage-114", v1beta2.ConditionSidecarUnreachable, time.Hour), Does: []string{two}},
		"restarts before pods change while listeners do": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			have("storage-114", v1beta2.ConditionIncorrectPodSpec, time.Hour)(s)
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, Does: []string{all}},
		"spares processes that are not to restart": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, Does: []string{two}},
		"reports that all are spared that have to restart": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114", "storage-115", "storage-116"}
		}, Holds: "kept from restarting by spec.buggify.ignoreDuringRestart: storage-114; storage-115; storage-116"},
		"does not wait for the configuration of a process that is not to restart": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			have("storage-114", v1beta2.ConditionIncorrectConfigMap, time.Minute)(s)
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, Does: []string{two}},
		"waits after a recovery": {From: stagestest.NewKnobs, Given: stagestest.RecoveredAgo(599), Holds: "last recovery 9m59s ago"},
		"waits after a process started": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			stagestest.Uptime(s, "log-101", 599*time.Second)
		}, Holds: "(log-101) started 9m59s ago"},
		"counts a process that does not tell its age as just started": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("log-101"), func(p *fdb.Process) { p.UptimeSeconds = nil })
		}, Holds: "(log-101) started 0s ago"},
		"does not wait for an excluded process to age": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			yes := true
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("log-101"), func(p *fdb.Process) { p.UptimeSeconds, p.Excluded = new(5.0), &yes })
		}, Does: []string{all}},
		"waits as long as the spec requires": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 60
			stagestest.RecoveredAgo(59)(s)
		}, Holds: "1m0s required"},
		"waits while the database refuses": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(bool), Reason: "another reason"}
		}, Holds: "bounce_impact.can_clean_bounce is false: another reason"},
		"waits while the database has not recovered": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAllLogsRecruited
			s.Database.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(bool), Reason: fdb.ReasonNotFullyRecovered}
		}, Holds: "bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet"},
		"ignores a refusal that its recovery state contradicts": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(bool), Reason: fdb.ReasonNotFullyRecovered}
		}, Does: []string{all}},
		"waits while that is unknown":                   {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.BounceImpact = nil }, Holds: "does not report bounce_impact.can_clean_bounce"},
		"waits while recoveries pile up":                {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, Holds: "11 active generations"},
		"waits while a restore has the database locked": {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked"},
		"waits while the database is unavailable":       {From: stagestest.NewKnobs, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, BounceProcesses) })
	}
}

// goingToTLS returns a cluster whose storage processes get a TLS listener, in pods with configured
// certificates.
func goingToTLS(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.NewKnobs(tb)
	s.Cluster.Spec.MainContainer.EnableTLS = true
	s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
	for _, g := range s.Groups() {
		for _, name := range []string{v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile} {
			editMain(s.Pod(g), func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: "/certs/" + name}) })
		}
	}
	return s
}

// editMain changes the container of a pod's processes.
func editMain(pod *corev1.Pod, edit func(*corev1.Container)) {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == v1beta2.ContainerMain {
			edit(&pod.Spec.Containers[i])
		}
	}
}

// A process with a TLS listener and without a certificate exits at once; all of them would exit
// together.
func TestProcessesRestartWithTLSOnlyIfCertificatesAreConfigured(t *testing.T) {
	const (
		all    = "restart 3 processes of storage-114, storage-115, storage-116 at once"
		untold = "processes are not restarted with a TLS listener: neither variables of container foundationdb (FDB_TLS_CERTIFICATE_FILE, FDB_TLS_KEY_FILE) nor custom parameters configure them for storage-115"
	)
	without := func(name string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			editMain(s.Pod(s.Cluster.ProcessGroup("storage-115")), func(c *corev1.Container) {
				c.Env = slices.DeleteFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name })
			})
		}
	}
	tests := map[string]stagestest.RemovalCase{
		"restarts them when all have both":            {From: goingToTLS, Does: []string{all}},
		"needs a user when one has no certificate":    {From: goingToTLS, Given: without(v1beta2.EnvTLSCertificateFile), Holds: untold},
		"needs a user when one has no key":            {From: goingToTLS, Given: without(v1beta2.EnvTLSKeyFile), Holds: untold},
		"needs a user when the pod of one is missing": {From: goingToTLS, Given: func(s *plan.Snapshot) { delete(s.Pods, s.Cluster.ProcessGroup("storage-115").PodName(s.Cluster)) }, Holds: untold},
		"takes custom parameters for it": {From: goingToTLS, Given: stagestest.Combined(without(v1beta2.EnvTLSCertificateFile), without(v1beta2.EnvTLSKeyFile), func(s *plan.Snapshot) {
			s.Cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStorage: {
				CustomParameters: v1beta2.FoundationDBCustomParameters{"tls_certificate_file=/certs/tls.crt", "tls-key-file=/certs/tls.key"},
			}}
		}), Does: []string{all}},
		"does not ask of servers that listen with TLS already": {From: goingToTLS, Given: stagestest.Combined(without(v1beta2.EnvTLSKeyFile), func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses.NonTLS = false
		}), Does: []string{all}},
		"does not ask on the way back": {From: goingToTLS, Given: stagestest.Combined(without(v1beta2.EnvTLSKeyFile), func(s *plan.Snapshot) {
			s.Cluster.Spec.MainContainer.EnableTLS = false
		}), Does: []string{all}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, BounceProcesses) })
	}
}

// sharingInstances returns the same with a second control-plane instance, dc2, on the database.
func sharingInstances(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.Upgrading(tb)
	s.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	s.Coordination.Read = true
	up := 3600.0
	s.Database.Status.Cluster.Processes["other"] = fdb.Process{
		Address: fdb.Address{Host: "10.2.0.1", Port: 4501}, ClassType: "storage", CommandLine: "/usr/bin/fdbserver", Version: "7.3.79", UptimeSeconds: &up,
		Locality: map[string]string{fdb.LocalityInstanceID: "dc2-storage-1"},
	}
	return s
}

func TestBounceProcessesForAnUpgrade(t *testing.T) {
	const (
		sixteen   = "restart 16 processes at once in version 7.4.6"
		seventeen = "restart 17 processes at once in version 7.4.6"
		announce  = "announce that 16 process groups can start in version 7.4.6"
	)
	ready := func(s *plan.Snapshot) {
		for _, g := range s.Groups() {
			s.Coordination.ReadyForUpgrade = append(s.Coordination.ReadyForUpgrade, g.ProcessGroupID)
		}
	}
	next := "the next pass reads their version"
	tests := map[string]stagestest.RemovalCase{
		"restarts all at once when all can start": {From: stagestest.Upgrading, Does: []string{sixteen}, Holds: next},
		"waits while one sidecar has the old image": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionIncorrectSidecarImage, stagestest.Noon)
		}, Holds: "15 of 16 processes can start in 7.4.6"},
		"waits while one has not loaded the new configuration": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionIncorrectConfigMap, stagestest.Noon)
		}, Holds: "have not loaded the current configuration: storage-114"},
		"waits while a marked group has not loaded the new configuration": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon)
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionIncorrectConfigMap, stagestest.Noon)
		}, Holds: "have not loaded the current configuration: storage-114"},
		"does not wait for a process that is long missing": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
			stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, Does: []string{"restart 15 processes at once in version 7.4.6"}, Holds: next},
		"restarts a process that is excluded and leaves": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(stagestest.Noon)
			g.SetExcluded(stagestest.Noon)
		}, Does: []string{sixteen}, Holds: next},
		"does not wait for the process of a drained group that never started": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(stagestest.Noon)
			g.SetExcluded(stagestest.Noon)
			stagestest.DropProcess(s, g)
		}, Does: []string{"restart 15 processes at once in version 7.4.6"}, Holds: next},
		"does not wait for a process that leaves without exclusion and is long missing": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(stagestest.Noon)
			g.ExclusionSkipped = true
			g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
			stagestest.DropProcess(s, g)
		}, Does: []string{"restart 15 processes at once in version 7.4.6"}, Holds: next},
		"restarts only what is of the old version": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Version = "7.4.6" })
		}, Does: []string{"restart 15 processes at once in version 7.4.6"}, Holds: next},
		"does not wait for a process that is not to restart": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, Does: []string{"restart 15 processes at once in version 7.4.6"}, Holds: next},
		"waits for the others beside one that is not to restart": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
			s.Cluster.ProcessGroup("storage-115").SetCondition(v1beta2.ConditionIncorrectSidecarImage, stagestest.Noon)
		}, Holds: "14 of 15 processes can start in 7.4.6"},
		"does not restart a process that leaves and is not to restart": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(stagestest.Noon)
			g.SetExcluded(stagestest.Noon)
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, Does: []string{"restart 15 processes at once in version 7.4.6"}, Holds: next},
		"waits after a recovery": {From: stagestest.Upgrading, Given: stagestest.RecoveredAgo(300), Holds: "16 of 16 processes can start in 7.4.6 and have to restart together"},
		"needs a user when processes of others would be cut off": {
			From: sharingInstances, Given: func(s *plan.Snapshot) { yes := true; s.Cluster.Spec.LockOptions.DisableLocks = &yes },
			Holds: "would be cut off in the old version: dc2-storage-1",
		},
		"announces, and waits for the other control-plane instance": {From: sharingInstances, Does: []string{announce}, Holds: "not announced by their control-plane instances as able to start in 7.4.6: dc2-storage-1"},
		"announces only once": {From: sharingInstances, Given: ready, Holds: "dc2-storage-1"},
		"restarts all processes when all have announced": {From: sharingInstances, Given: func(s *plan.Snapshot) {
			ready(s)
			s.Coordination.ReadyForUpgrade = append(s.Coordination.ReadyForUpgrade, "dc2-storage-1")
		}, Does: []string{seventeen}, Holds: next},
		"announces and restarts when the others were first": {From: sharingInstances, Given: func(s *plan.Snapshot) {
			s.Coordination.ReadyForUpgrade = append(s.Coordination.ReadyForUpgrade, "dc2-storage-1")
		}, Does: []string{announce, seventeen}, Holds: next},
		"does not know a process without an ID to be ready": {From: stagestest.Upgrading, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Processes["new"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}}
		}, Holds: "a process without an ID (10.9.9.9:4501)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, BounceProcesses) })
	}
}

func TestAnUpgradeReportsGroupsKeptFromRestarting(t *testing.T) {
	s := stagestest.Upgrading(t)
	s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
	d := BounceProcesses.Decide(s)
	if want := "kept from restarting by spec.buggify.ignoreDuringRestart: storage-114"; !strings.Contains(d.Why, want) {
		t.Errorf("why is %q, want %q in it", d.Why, want)
	}
}

// An upgrade's restart reaches all old processes or none, whichever of them are not ready.
func TestAnUpgradeRestartsAllOldProcessesOrNone(t *testing.T) {
	conditions := []v1beta2.ProcessGroupConditionType{
		v1beta2.ConditionIncorrectConfigMap, v1beta2.ConditionIncorrectSidecarImage, v1beta2.ConditionMissingProcesses, v1beta2.ConditionPodPending,
	}
	for _, condition := range conditions {
		for i := range 16 {
			s := sharingInstances(t)
			s.Coordination.ReadyForUpgrade = []v1beta2.ProcessGroupID{"dc2-storage-1"}
			s.Groups()[i].SetCondition(condition, stagestest.Noon)
			for _, a := range BounceProcesses.Decide(s).Actions {
				restart, ok := a.(plan.RestartProcesses)
				if ok && len(restart.Addresses) != len(s.Database.Status.Cluster.Processes) {
					t.Errorf("%s on %s: %s", condition, s.Groups()[i].ProcessGroupID, a.Describe())
				}
			}
		}
	}
}

func TestARestartListsTheAddressesOfItsProcesses(t *testing.T) {
	d := BounceProcesses.Decide(stagestest.NewKnobs(t))
	restart, ok := d.Actions[0].(plan.RestartProcesses)
	if !ok {
		t.Fatal(stagestest.Described(d))
	}
	var got []string
	for _, a := range restart.Addresses {
		got = append(got, a.HostPort())
	}
	want := []string{}
	for n := 14; n <= 16; n++ {
		want = append(want, fmt.Sprintf("%s:4501", stagestest.PodIP(n)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(d.Why, "3 process groups") {
		t.Error(d.Why)
	}
}

func TestTheClusterControllerIsRestartedAfterTesterRemoval(t *testing.T) {
	const restart = "restart 1 process of stateless-105 at once"
	tests := map[string]stagestest.RemovalCase{
		"it is restarted in a version that never does": {From: stagestest.DeadTester, Does: []string{restart}},
		"not in one that does by itself": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.3.35", "7.3.35"
		}},
		"a tester is known by the record, too": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			delete(s.Database.Status.Cluster.Processes, "gone")
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{
				ProcessGroupID: "test-1", ProcessClass: v1beta2.ProcessClassTest, Addresses: []string{"10.9.9.9"},
			})
		}, Does: []string{restart}},
		"not for another removed process": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages[0].UnreachableProcesses[0].Address = stagestest.PodIP(1) + ":4501"
		}},
		"not for a remark about something else": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages[0].Name = fdb.MessageLogServersError
		}},
		"not within an hour after a recovery": {From: stagestest.DeadTester, Given: stagestest.RecoveredAgo(3599), Holds: "last recovery 59m59s ago"},
		"not within an hour after a process started": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			stagestest.Uptime(s, "log-101", 3599*time.Second)
		}, Holds: "(log-101) started 59m59s ago"},
		"not while a restore has the database locked": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.DatabaseLockState.Locked = true
		}, Holds: "locked"},
		"not while no process reports the role": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Roles = nil })
		}},
		"not where the spec forbids restarts": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool)
		}},
		"not beside an unavailable database": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, BounceProcesses) })
	}
}
