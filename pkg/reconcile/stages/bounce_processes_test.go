package stages

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
)

// newKnobs returns a healthy cluster whose storage processes run with other arguments than they
// would start with now.
func newKnobs(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			g.SetCondition(v1beta2.ConditionIncorrectCommandLine, noon.Add(-time.Minute))
		}
	}
	return s
}

func TestBounceProcesses(t *testing.T) {
	const all = "restart 3 processes of storage-114, storage-115, storage-116 at once"
	have := func(id v1beta2.ProcessGroupID, condition v1beta2.ProcessGroupConditionType, ago time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.ProcessGroup(id).SetCondition(condition, noon.Add(-ago)) }
	}
	const two = "restart 2 processes of storage-115, storage-116 at once"
	tests := map[string]removalCase{
		"leaves processes alone that match the spec":    {from: healthyCluster},
		"restarts all at once that have to restart":     {from: newKnobs, does: []string{all}},
		"does nothing where the spec does not want it":  {from: newKnobs, given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool) }},
		"restarts processes that leave as well":         {from: newKnobs, given: func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon) }, does: []string{all}},
		"waits until all have loaded the configuration": {from: newKnobs, given: have("log-101", v1beta2.ConditionIncorrectConfigMap, time.Minute), holds: "have not loaded the current configuration: log-101"},
		"leaves a marked group out that has not loaded the configuration": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon)
			have("storage-114", v1beta2.ConditionIncorrectConfigMap, time.Minute)(s)
		}, does: []string{two}},
		"waits for a marked group that has not loaded the configuration on the way to TLS": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon)
			have("storage-114", v1beta2.ConditionIncorrectConfigMap, time.Minute)(s)
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, holds: "have not loaded the current configuration: storage-114"},
		"does not wait for a process that is long missing": {from: newKnobs, given: have("storage-114", v1beta2.ConditionMissingProcesses, 31*time.Second), does: []string{two}},
		"waits for a process that is just missing": {from: newKnobs, given: func(s *plan.Snapshot) {
			have("storage-114", v1beta2.ConditionMissingProcesses, 29*time.Second)(s)
			dropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, holds: "the database does not report their addresses"},
		"does not wait for a pod that cannot start":      {from: newKnobs, given: have("storage-114", v1beta2.ConditionPodPending, 6*time.Minute), does: []string{two}},
		"leaves a pod to be recreated first":             {from: newKnobs, given: have("storage-114", v1beta2.ConditionIncorrectPodSpec, time.Hour), does: []string{two}},
		"leaves a pod out whose sidecar does not answer": {from: newKnobs, given: have("storage-114", v1beta2.ConditionSidecarUnreachable, time.Hour), does: []string{two}},
		"restarts before pods change while listeners do": {from: newKnobs, given: func(s *plan.Snapshot) {
			have("storage-114", v1beta2.ConditionIncorrectPodSpec, time.Hour)(s)
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, does: []string{all}},
		"spares processes that are not to restart": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, does: []string{two}},
		"reports that all are spared that have to restart": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114", "storage-115", "storage-116"}
		}, holds: "kept from restarting by spec.buggify.ignoreDuringRestart: storage-114; storage-115; storage-116"},
		"does not wait for the configuration of a process that is not to restart": {from: newKnobs, given: func(s *plan.Snapshot) {
			have("storage-114", v1beta2.ConditionIncorrectConfigMap, time.Minute)(s)
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, does: []string{two}},
		"waits after a recovery": {from: newKnobs, given: recoveredAgo(599), holds: "last recovery 9m59s ago"},
		"waits after a process started": {from: newKnobs, given: func(s *plan.Snapshot) {
			uptime(s, "log-101", 599*time.Second)
		}, holds: "(log-101) started 9m59s ago"},
		"counts a process that does not tell its age as just started": {from: newKnobs, given: func(s *plan.Snapshot) {
			editProcess(s, s.Cluster.ProcessGroup("log-101"), func(p *fdb.Process) { p.UptimeSeconds = nil })
		}, holds: "(log-101) started 0s ago"},
		"does not wait for an excluded process to age": {from: newKnobs, given: func(s *plan.Snapshot) {
			yes := true
			editProcess(s, s.Cluster.ProcessGroup("log-101"), func(p *fdb.Process) { p.UptimeSeconds, p.Excluded = new(5.0), &yes })
		}, does: []string{all}},
		"waits as long as the spec requires": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 60
			recoveredAgo(59)(s)
		}, holds: "1m0s required"},
		"waits while the database refuses": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(bool), Reason: "another reason"}
		}, holds: "bounce_impact.can_clean_bounce is false: another reason"},
		"waits while the database has not recovered": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAllLogsRecruited
			s.Database.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(bool), Reason: fdb.ReasonNotFullyRecovered}
		}, holds: "bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet"},
		"ignores a refusal that its recovery state contradicts": {from: newKnobs, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(bool), Reason: fdb.ReasonNotFullyRecovered}
		}, does: []string{all}},
		"waits while that is unknown":                   {from: newKnobs, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.BounceImpact = nil }, holds: "does not report bounce_impact.can_clean_bounce"},
		"waits while recoveries pile up":                {from: newKnobs, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, holds: "11 active generations"},
		"waits while a restore has the database locked": {from: newKnobs, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked"},
		"waits while the database is unavailable":       {from: newKnobs, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, bounceProcesses) })
	}
}

// goingToTLS returns a cluster whose storage processes get a TLS listener, in pods with configured
// certificates.
func goingToTLS(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := newKnobs(tb)
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
func TestServersAreTakenToTLSOnlyWithCertificates(t *testing.T) {
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
	tests := map[string]removalCase{
		"restarts them when all have both":            {from: goingToTLS, does: []string{all}},
		"needs a user when one has no certificate":    {from: goingToTLS, given: without(v1beta2.EnvTLSCertificateFile), holds: untold},
		"needs a user when one has no key":            {from: goingToTLS, given: without(v1beta2.EnvTLSKeyFile), holds: untold},
		"needs a user when the pod of one is missing": {from: goingToTLS, given: func(s *plan.Snapshot) { delete(s.Pods, s.Cluster.ProcessGroup("storage-115").PodName(s.Cluster)) }, holds: untold},
		"takes custom parameters for it": {from: goingToTLS, given: combined(without(v1beta2.EnvTLSCertificateFile), without(v1beta2.EnvTLSKeyFile), func(s *plan.Snapshot) {
			s.Cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStorage: {
				CustomParameters: v1beta2.FoundationDBCustomParameters{"tls_certificate_file=/certs/tls.crt", "tls-key-file=/certs/tls.key"},
			}}
		}), does: []string{all}},
		"does not ask of servers that listen with TLS already": {from: goingToTLS, given: combined(without(v1beta2.EnvTLSKeyFile), func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses.NonTLS = false
		}), does: []string{all}},
		"does not ask on the way back": {from: goingToTLS, given: combined(without(v1beta2.EnvTLSKeyFile), func(s *plan.Snapshot) {
			s.Cluster.Spec.MainContainer.EnableTLS = false
		}), does: []string{all}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, bounceProcesses) })
	}
}

// upgrading returns a cluster in which every process can start in 7.4.6 and still runs 7.3.79.
func upgrading(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	s.Cluster.Spec.Version = "7.4.6"
	for _, g := range s.Groups() {
		g.SetCondition(v1beta2.ConditionIncorrectCommandLine, noon.Add(-time.Minute))
	}
	return s
}

// together returns the same with a second control-plane instance, dc2, on the database.
func together(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := upgrading(tb)
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
	tests := map[string]removalCase{
		"restarts all at once when all can start": {from: upgrading, does: []string{sixteen}, holds: next},
		"waits while one sidecar has the old image": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionIncorrectSidecarImage, noon)
		}, holds: "15 of 16 processes can start in 7.4.6"},
		"waits while one has not loaded the new configuration": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionIncorrectConfigMap, noon)
		}, holds: "have not loaded the current configuration: storage-114"},
		"waits while a marked group has not loaded the new configuration": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon)
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionIncorrectConfigMap, noon)
		}, holds: "have not loaded the current configuration: storage-114"},
		"does not wait for a process that is long missing": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
			dropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}, does: []string{"restart 15 processes at once in version 7.4.6"}, holds: next},
		"restarts a process that is excluded and leaves": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(noon)
			g.SetExcluded(noon)
		}, does: []string{sixteen}, holds: next},
		"does not wait for a process that leaves without exclusion and is long missing": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(noon)
			g.ExclusionSkipped = true
			g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
			dropProcess(s, g)
		}, does: []string{"restart 15 processes at once in version 7.4.6"}, holds: next},
		"restarts only what is of the old version": {from: upgrading, given: func(s *plan.Snapshot) {
			editProcess(s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Version = "7.4.6" })
		}, does: []string{"restart 15 processes at once in version 7.4.6"}, holds: next},
		"does not wait for a process that is not to restart": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, does: []string{"restart 15 processes at once in version 7.4.6"}, holds: next},
		"waits for the others beside one that is not to restart": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
			s.Cluster.ProcessGroup("storage-115").SetCondition(v1beta2.ConditionIncorrectSidecarImage, noon)
		}, holds: "14 of 15 processes can start in 7.4.6"},
		"does not restart a process that leaves and is not to restart": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessCounts.Storage = 2
			g := s.Cluster.ProcessGroup("storage-114")
			g.MarkForRemoval(noon)
			g.SetExcluded(noon)
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, does: []string{"restart 15 processes at once in version 7.4.6"}, holds: next},
		"waits after a recovery": {from: upgrading, given: recoveredAgo(300), holds: "16 of 16 processes can start in 7.4.6 and have to restart together"},
		"needs a user when processes of others would be cut off": {
			from: together, given: func(s *plan.Snapshot) { yes := true; s.Cluster.Spec.LockOptions.DisableLocks = &yes },
			holds: "would be cut off in the old version: dc2-storage-1",
		},
		"announces, and waits for the other control-plane instance": {from: together, does: []string{announce}, holds: "not announced by their control-plane instances as able to start in 7.4.6: dc2-storage-1"},
		"announces only once": {from: together, given: ready, holds: "dc2-storage-1"},
		"restarts all processes when all have announced": {from: together, given: func(s *plan.Snapshot) {
			ready(s)
			s.Coordination.ReadyForUpgrade = append(s.Coordination.ReadyForUpgrade, "dc2-storage-1")
		}, does: []string{seventeen}, holds: next},
		"announces and restarts when the others were first": {from: together, given: func(s *plan.Snapshot) {
			s.Coordination.ReadyForUpgrade = append(s.Coordination.ReadyForUpgrade, "dc2-storage-1")
		}, does: []string{announce, seventeen}, holds: next},
		"does not know a process without an ID to be ready": {from: upgrading, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Processes["new"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}}
		}, holds: "a process without an ID (10.9.9.9:4501)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, bounceProcesses) })
	}
}

func TestAnUpgradeNamesWhatItLeavesInTheOldVersion(t *testing.T) {
	s := upgrading(t)
	s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
	d := bounceProcesses.Decide(s)
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
			s := together(t)
			s.Coordination.ReadyForUpgrade = []v1beta2.ProcessGroupID{"dc2-storage-1"}
			s.Groups()[i].SetCondition(condition, noon)
			for _, a := range bounceProcesses.Decide(s).Actions {
				restart, ok := a.(plan.RestartProcesses)
				if ok && len(restart.Addresses) != len(s.Database.Status.Cluster.Processes) {
					t.Errorf("%s on %s: %s", condition, s.Groups()[i].ProcessGroupID, a.Describe())
				}
			}
		}
	}
}

func TestARestartNamesTheProcessesAddresses(t *testing.T) {
	d := bounceProcesses.Decide(newKnobs(t))
	restart, ok := d.Actions[0].(plan.RestartProcesses)
	if !ok {
		t.Fatal(described(d))
	}
	var got []string
	for _, a := range restart.Addresses {
		got = append(got, a.HostPort())
	}
	want := []string{}
	for n := 14; n <= 16; n++ {
		want = append(want, fmt.Sprintf("%s:4501", podIP(n)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(d.Why, "3 process groups") {
		t.Error(d.Why)
	}
}
