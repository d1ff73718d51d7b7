package replacements

import (
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestReplaceFailedPods(t *testing.T) {
	failed := func(id int, age time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Groups()[id].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-age))
		}
	}
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	waits := func(id int, reason, image string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for name, pod := range s.Pods { // all others run
				pod = pod.DeepCopy()
				state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
				if name == s.Groups()[id].PodName(s.Cluster) {
					state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
					pod.Spec.Containers[0].Image = cmp.Or(image, pod.Spec.Containers[0].Image)
				}
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: state}}
				s.Pods[name] = pod
			}
		}
	}
	two := 2
	tests := map[string]stagestest.RemovalCase{
		"leaves a healthy cluster alone":  {From: stagestest.HealthyCluster},
		"waits two hours":                 {From: stagestest.HealthyCluster, Given: failed(13, 2*time.Hour)},
		"replaces what failed for longer": {From: stagestest.HealthyCluster, Given: failed(13, 2*time.Hour+time.Second), Does: []string{"mark for removal: storage-114"}},
		"replaces one at a time":          {From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour)), Does: []string{"mark for removal: storage-114"}, Holds: "replacement of storage-115 waits"},
		"replaces as many at a time as allowed": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.Replacements.MaxConcurrentReplacements = &two
			}), Does: []string{"mark for removal: storage-114, storage-115"},
		},
		"counts removals that others asked for": {From: stagestest.StorageMarkedForRemoval, Given: failed(14, 3*time.Hour), Holds: "replacement of storage-115 waits"},
		"waits while the database is unavailable": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), Holds: "none is replaced",
		},
		"does nothing when switched off": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool) }),
		},
		"replaces nothing while no process is to run": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.Buggify.EmptyMonitorConf = true }),
		},
		"replaces nothing that may fail for longer than any duration has": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(math.MaxInt)
			}),
		},
		"leaves alone what crashes on purpose, in whatever container": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: "a", Targets: []v1beta2.ProcessGroupID{"storage-114"}}, {ContainerName: "b"}}
			}),
		},
		"leaves a zone under maintenance alone": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-14" }),
		},
		"never replaces for information only": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Groups()[13].SetCondition(v1beta2.ConditionIncorrectPodMetadata, stagestest.Noon.Add(-3*time.Hour))
			},
		},
		"replaces nothing while the database goes to another protocol, which a replacement speaks already": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }),
			Holds: "none is replaced during the upgrade from version 7.3.79 to 7.4.6",
		},
		"replaces nothing whose image no pod of the cluster has ever started": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), waits(13, "ImagePullBackOff", "fdb:typo")), Holds: "storage-114 failed for too long and is not replaced",
		},
		"replaces nothing between two attempts to pull an image": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), waits(13, "ErrImagePull", "fdb:typo")), Holds: "storage-114 failed for too long and is not replaced",
		},
		"replaces nothing whose configuration refers to what does not exist": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), waits(13, "CreateContainerConfigError", "")), Holds: "a replacement would not start either",
		},
		"replaces what cannot pull an image that other pods run": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), waits(13, "ImagePullBackOff", "")), Does: []string{"mark for removal: storage-114"},
		},
		"replaces what crashes": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), waits(13, "CrashLoopBackOff", "")), Does: []string{"mark for removal: storage-114"},
		},
		"replaces the others beside one that would fail again": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour), waits(13, "ImagePullBackOff", "fdb:typo")),
			Does: []string{"mark for removal: storage-115"}, Holds: "storage-114 failed for too long and is not replaced",
		},
		"replaces no group without a trace while something is missing": {
			From: stagestest.HealthyCluster, Given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
				s.Groups()[13].Addresses = nil
				s.Database.Status.Client.Coordinators.QuorumReachable = false
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ReplaceFailedPods) })
	}
}

// The manual has automatic replacement off, so a plan that relies on the default names the field.
func TestAReplacementByDefaultNamesItsAutomationField(t *testing.T) {
	for name, tc := range map[string]struct {
		enabled *bool
		want    bool
	}{
		"by default":     {nil, true},
		"set explicitly": {new(true), false},
	} {
		s := stagestest.HealthyCluster(t)
		s.Cluster.Spec.AutomationOptions.Replacements.Enabled = tc.enabled
		s.Groups()[13].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-3*time.Hour))
		d := ReplaceFailedPods.Decide(s)
		if got := strings.Contains(d.Why, "spec.automationOptions.replacements.enabled"); got != tc.want || len(d.Actions) != 1 {
			t.Errorf("%s: %v because %q", name, stagestest.Described(d), d.Why)
		}
	}
}

// dueSince marks process groups, by their index in the status, as due for a time on nodes whose taints
// have outlasted their rules.
func dueSince(ago time.Duration, places ...int) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, n := range places {
			s.Groups()[n].SetCondition(v1beta2.ConditionNodeTaintReplacing, stagestest.Noon.Add(-ago))
		}
	}
}

func TestReplaceTaintedPods(t *testing.T) {
	replacements := func(edit func(*v1beta2.AutomaticReplacementOptions)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { edit(&s.Cluster.Spec.AutomationOptions.Replacements) }
	}
	atMost := func(n int) func(*plan.Snapshot) {
		return replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.MaxConcurrentReplacements = &n })
	}
	allowTainted := func(share intstr.IntOrString) func(*plan.Snapshot) {
		return replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.MaxFaultDomainsWithTaintedProcessGroups = &share })
	}
	byDomain := replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.FaultDomainBasedReplacements = new(true) })
	sameDomain := func(a, b int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Groups()[b].FaultDomain = s.Groups()[a].FaultDomain }
	}
	marked := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Groups()[n].MarkForRemoval(stagestest.Noon.Add(-time.Minute)) }
	}
	const half = time.Hour / 2
	mark := func(ids string) []string { return []string{"mark for removal: " + ids} }
	tests := map[string]stagestest.RemovalCase{
		"waits half an hour":                 {Given: dueSince(half, 13)},
		"replaces what is due for longer":    {Given: dueSince(half+time.Second, 13), Does: mark("storage-114")},
		"takes its time from the spec":       {Given: stagestest.All(dueSince(61*time.Second, 13), replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.TaintReplacementTimeSeconds = new(60) })), Does: mark("storage-114")},
		"does not take the time of failures": {Given: stagestest.All(dueSince(half+time.Second, 13), replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.FailureDetectionTimeSeconds = new(1000000) })), Does: mark("storage-114")},
		"leaves that time to failures": {Given: func(s *plan.Snapshot) {
			s.Groups()[13].SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
		}},
		"never replaces for a taint that is only detected": {
			Given: func(s *plan.Snapshot) {
				s.Groups()[13].SetCondition(v1beta2.ConditionNodeTaintDetected, stagestest.Noon.Add(-100*time.Hour))
			},
		},
		"replaces one at a time": {Given: stagestest.All(dueSince(time.Hour, 13, 14), sameDomain(13, 14)), Does: mark("storage-114"), Holds: "replacement of storage-115 waits"},
		"replaces none of two fault domains of sixteen": {
			Given: dueSince(time.Hour, 13, 14), Holds: "2 process groups stay on tainted nodes: 2 of 16 fault domains are tainted, at most 1 allowed",
		},
		"replaces none while another fault domain is tainted for a short time": {
			Given: stagestest.All(dueSince(time.Hour, 13), dueSince(time.Second, 14)), Holds: "1 process group stays on tainted nodes: 2 of 16",
		},
		"counts the fault domains of groups that leave": {
			Given: stagestest.All(dueSince(time.Hour, 13, 14), marked(14), atMost(9)), Holds: "1 process group stays on tainted nodes: 2 of 16",
		},
		"counts groups without a fault domain nowhere": {
			Given: stagestest.All(dueSince(time.Hour, 13, 14), func(s *plan.Snapshot) { s.Groups()[14].FaultDomain = "" }, atMost(9)), Does: mark("storage-114, storage-115"),
		},
		"replaces two fault domains where the spec allows two":    {Given: stagestest.All(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromInt32(2)), atMost(9)), Does: mark("storage-114, storage-115")},
		"replaces two of sixteen where the spec allows an eighth": {Given: stagestest.All(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromString("13%")), atMost(9)), Does: mark("storage-114, storage-115")},
		"rounds a share down":                        {Given: stagestest.All(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromString("12%")), atMost(9)), Holds: "at most 1 allowed"},
		"replaces none where the maximum is invalid": {Given: stagestest.All(dueSince(time.Hour, 13), allowTainted(intstr.FromString("some"))), Holds: "read maxFaultDomainsWithTaintedProcessGroups"},
		"nor a group without a fault domain then": {
			Given: stagestest.All(dueSince(time.Hour, 13), allowTainted(intstr.FromString("some")), func(s *plan.Snapshot) { s.Groups()[13].FaultDomain = "" }), Holds: "read maxFaultDomainsWithTaintedProcessGroups",
		},
		"reports nothing of too many before any is due": {Given: dueSince(time.Second, 13, 14)},
		"replaces what failed however many fault domains are tainted": {
			Given: stagestest.All(dueSince(time.Hour, 13, 14), func(s *plan.Snapshot) {
				s.Groups()[12].SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-3*time.Hour))
			}),
			Does: mark("stateless-113"), Holds: "2 process groups stay on tainted nodes",
		},
		"replaces all groups of one fault domain where fault domains count": {Given: stagestest.All(dueSince(time.Hour, 13, 14), sameDomain(13, 14), byDomain), Does: mark("storage-114, storage-115")},
		"replaces one fault domain at a time where fault domains count": {
			Given: stagestest.All(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromInt32(2)), byDomain), Does: mark("storage-114"), Holds: "replacement of storage-115 waits",
		},
		"goes on with the fault domain that is being replaced": {
			Given: stagestest.All(dueSince(time.Hour, 14), sameDomain(13, 14), marked(13), byDomain), Does: mark("storage-115"),
		},
		"waits for another fault domain that is being replaced": {Given: stagestest.All(dueSince(time.Hour, 14), marked(13), byDomain), Holds: "replacement of storage-115 waits"},
		"waits for other replacements":                          {Given: stagestest.All(dueSince(time.Hour, 14), marked(13)), Holds: "replacement of storage-115 waits"},
		"leaves a zone under maintenance alone":                 {Given: stagestest.All(dueSince(time.Hour, 13), stagestest.UnderMaintenance("node-14"))},
		"does nothing when switched off":                        {Given: stagestest.All(dueSince(time.Hour, 13), replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.Enabled = new(bool) }))},
		"does nothing when none may be replaced":                {Given: stagestest.All(dueSince(time.Hour, 13), atMost(0))},
		"waits while the database is unavailable": {
			Given: stagestest.All(dueSince(time.Hour, 13), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), Holds: "none is replaced",
		},
	}
	for name, tc := range tests {
		tc.From = stagestest.HealthyCluster
		t.Run(name, func(t *testing.T) { tc.Check(t, ReplaceFailedPods) })
	}
}

// The plan shows which of the two timers expired.
func TestAReplacementReportsWhichTimerExpired(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	dueSince(time.Hour, 13)(&s)
	d := ReplaceFailedPods.Decide(s)
	if want := "on a tainted node for longer than 30m0s"; !strings.Contains(d.Why, want) {
		t.Errorf("why: %q, want %q in it", d.Why, want)
	}
	if _, refused := d.Refused(); refused || d.Checks[0].ID != plan.CheckFewTaintedNodes {
		t.Errorf("checks: %v", d.Checks)
	}
}
