package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// crashing adds a crashing container to the spec.
func crashing(container string, targets ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Spec.Buggify.CrashLoopContainers = append(s.Cluster.Spec.Buggify.CrashLoopContainers,
			v1beta2.CrashLoopContainerObject{ContainerName: container, Targets: targets})
	}
}

// remade recreates the pod of the first group by the spec.
func remade(s *plan.Snapshot) {
	g := s.Cluster.ProcessGroup(stagestest.OneGroup)
	spec, err := objects.PodSpec(s.Cluster, g)
	if err != nil {
		panic(err) // a normalized sample
	}
	s.Pod(g).Spec = *spec
}

// withoutFaults removes the faults from the spec.
func withoutFaults(s *plan.Snapshot) { s.Cluster.Spec.Buggify = v1beta2.BuggifyConfig{} }

func TestDeletePodsForBuggification(t *testing.T) {
	const anew = "recreated by the next pass"
	noSchedule := func(s *plan.Snapshot) {
		s.Cluster.Spec.Buggify.NoSchedule = []v1beta2.ProcessGroupID{stagestest.OneGroup}
	}
	crash, crashSidecar := crashing(v1beta2.ContainerMain, stagestest.OneGroup), crashing(v1beta2.ContainerSidecar, stagestest.OneGroup)
	deletes := func(given ...func(*plan.Snapshot)) stagestest.Decision {
		return stagestest.Decision{Given: stagestest.Combined(given...), Does: []string{stagestest.DeleteOne}, Holds: anew, Then: plan.EndPass}
	}
	stagestest.Decides(t, DeletePodsForBuggification, map[string]stagestest.Decision{
		"does nothing without faults":                                 {Given: func(*plan.Snapshot) {}},
		"deletes a pod that should crash":                             deletes(crash),
		"leaves a pod alone that crashes as it should":                {Given: stagestest.Combined(crash, remade)},
		"deletes a pod that should crash no more":                     deletes(crash, remade, withoutFaults),
		"deletes a pod whose fault moves to another container":        deletes(crash, remade, withoutFaults, crashSidecar),
		"deletes a pod that no node should take":                      deletes(noSchedule),
		"leaves a pod alone that no node takes":                       {Given: stagestest.Combined(noSchedule, remade)},
		"deletes a pod that nodes should take again":                  deletes(noSchedule, remade, withoutFaults),
		"keeps a pod whose PVC is being deleted":                      {Given: stagestest.Combined(crash, going(stagestest.OneGroup)), Holds: "the data on the volume would be lost with it: log-101", Manual: true},
		"leaves others alone":                                         {Given: crashing(v1beta2.ContainerMain, "log-999")},
		"does not delete a pod over and over for its template's sake": {Given: stagestest.Combined(noSchedule, remade, withoutFaults, templateWantsIt)},
	})
}

// templateWantsIt gives the pod template of the class what a fault would set.
func templateWantsIt(s *plan.Snapshot) {
	affinity := s.Pod(s.Cluster.ProcessGroup(stagestest.OneGroup)).Spec.Affinity.DeepCopy()
	settings := s.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral]
	settings.PodTemplate = settings.PodTemplate.DeepCopy()
	settings.PodTemplate.Spec.Affinity = affinity
	s.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = settings
}

func TestCrashLoopOfAllProcessGroupsDeletesAllPodsAtOnce(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	crashing(v1beta2.ContainerMain, v1beta2.AllProcessGroups)(&s)
	d := DeletePodsForBuggification.Decide(s)
	if len(d.Actions) != 1 || len(d.Actions[0].(plan.DeletePods).Pods) != len(s.Groups()) {
		t.Errorf("does %v", stagestest.Described(d))
	}
}

// Hours of crashing on purpose are no reason to replace the group once the fault is removed from the
// spec.
func TestBuggifiedFailuresCountFromTheEndOfTheFault(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	crashing(v1beta2.ContainerMain, stagestest.OneGroup)(&s)
	remade(&s)
	g := s.Cluster.ProcessGroup(stagestest.OneGroup)
	g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-3*time.Hour))
	stagestest.DropProcess(&s, g)
	since := func() time.Time {
		since, _ := statusWritten(t, s).ProcessGroups[0].Condition(v1beta2.ConditionMissingProcesses)
		return since
	}
	if got := since(); !got.Equal(stagestest.Noon.Add(-3 * time.Hour)) {
		t.Errorf("while it crashes: missing since %s", got)
	}
	withoutFaults(&s)
	if got := since(); !got.Equal(stagestest.Noon) {
		t.Errorf("when it should crash no more: missing since %s, want %s", got, stagestest.Noon)
	}
}

// ended ends the first group's pod a time after its creation.
func ended(phase corev1.PodPhase, age time.Duration) func(*plan.Snapshot) {
	return stagestest.OnePod(func(p *corev1.Pod) {
		p.Status.Phase, p.CreationTimestamp = phase, metav1.NewTime(stagestest.Noon.Add(-age))
	})
}

func TestDeleteTerminalPods(t *testing.T) {
	stagestest.Decides(t, DeleteTerminalPods, map[string]stagestest.Decision{
		"does nothing while all pods run":       {Given: func(*plan.Snapshot) {}},
		"deletes a pod that failed":             {Given: ended(corev1.PodFailed, time.Hour), Does: []string{stagestest.DeleteOne}},
		"deletes a pod that succeeded":          {Given: ended(corev1.PodSucceeded, time.Hour), Does: []string{stagestest.DeleteOne}},
		"keeps one whose PVC is being deleted":  {Given: stagestest.Combined(ended(corev1.PodFailed, time.Hour), going(stagestest.OneGroup)), Holds: "the data on the volume would be lost with it: log-101: PVC sample-log-101-data is being deleted", Manual: true},
		"leaves a pending pod alone":            {Given: ended(corev1.PodPending, time.Hour)},
		"deletes it after half a minute":        {Given: ended(corev1.PodFailed, 30*time.Second), Does: []string{stagestest.DeleteOne}},
		"waits half a minute after it was made": {Given: ended(corev1.PodFailed, 29*time.Second), Holds: "sample-log-101 ended less than 30s"},
		"deletes one of a group that has yet to be drained": {
			Given: stagestest.Combined(ended(corev1.PodFailed, time.Hour), func(s *plan.Snapshot) { s.Cluster.ProcessGroup(stagestest.OneGroup).MarkForRemoval(stagestest.Noon) }),
			Does:  []string{stagestest.DeleteOne},
		},
	})
}

func TestAYoungTerminalPodIsCheckedAgainAfterTheRemainingDelay(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	ended(corev1.PodFailed, 22*time.Second)(&s)
	if d := DeleteTerminalPods.Decide(s); d.Hold == nil || d.Hold.RetryAfter != 8*time.Second {
		t.Errorf("holds with %+v, want a retry after 8s", d.Hold)
	}
}

// knocking are peers of another protocol.
func knocking(addresses ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.IncompatibleConnections = addresses }
}

// missingFor stops the reports of the first group's process for a time.
func missingFor(d time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		g := s.Cluster.ProcessGroup(stagestest.OneGroup)
		stagestest.DropProcess(s, g)
		g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-d))
	}
}

// madeAgo sets the age of the first group's pod.
func madeAgo(d time.Duration) func(*plan.Snapshot) {
	return stagestest.OnePod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-d)) })
}

// shutOutFor stops the reports of the first group's process because of its protocol.
func shutOutFor(d time.Duration) func(*plan.Snapshot) {
	return stagestest.Combined(knocking("10.1.0.1:4501"), missingFor(d))
}

func TestRemoveIncompatibleProcesses(t *testing.T) {
	shutOut := shutOutFor(30 * time.Second)
	stagestest.Decides(t, RemoveIncompatibleProcesses, map[string]stagestest.Decision{
		"does nothing without incompatible connections":        {Given: missingFor(time.Hour)},
		"deletes a pod whose server is shut out":               {Given: shutOut, Does: []string{stagestest.DeleteOne}},
		"keeps a pod whose PVC is being deleted":               {Given: stagestest.Combined(shutOut, going(stagestest.OneGroup)), Holds: "the data on the volume would be lost with it: log-101", Manual: true},
		"leaves a server alone that reports":                   {Given: knocking("10.1.0.1:4501", "10.1.0.2:33656")},
		"leaves strangers alone":                               {Given: stagestest.Combined(knocking("192.0.2.7:4501"), missingFor(time.Hour))},
		"waits until the process has not reported for a while": {Given: shutOutFor(29 * time.Second), Holds: "not missing for 30s yet"},
		"does nothing during an incompatible upgrade":          {Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" })},
		"deletes one during an upgrade whose versions understand each other": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.3.80" }), Does: []string{stagestest.DeleteOne},
		},
		"does nothing before there is a database": {Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Cluster.Status.Configured = false })},
		"leaves a pod alone from whose address another group reports": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Address.Host = "10.1.0.1" })
			}),
		},
		"deletes no pod that was made while its address may still be listed for another": {
			Given: stagestest.Combined(shutOut, madeAgo(10*time.Minute-time.Second)), Holds: "the pod of log-101 is 9m59s old",
		},
		"deletes a pod that has had its address for as long as the list goes back": {
			Given: stagestest.Combined(shutOut, madeAgo(10*time.Minute)), Does: []string{stagestest.DeleteOne},
		},
		"deletes no pod for an address that its group had before": {
			Given: stagestest.Combined(shutOut, stagestest.OnePod(func(p *corev1.Pod) { p.Status.PodIP, p.Status.PodIPs = "10.1.9.9", []corev1.PodIP{{IP: "10.1.9.9"}} })),
		},
		"deletes no pod that does not run": {Given: stagestest.Combined(shutOut, stagestest.OnePod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))},
		"deletes no pod that was missed until a while ago": {Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup(stagestest.OneGroup).SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon)
		})},
		"is not kept from a pod by who has an address that its group had before": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				g := s.Cluster.ProcessGroup(stagestest.OneGroup)
				g.Addresses = append(g.Addresses, stagestest.PodIP(2))
			}), Does: []string{stagestest.DeleteOne},
		},
		"waits while the database is unavailable": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }), Holds: "cannot determine which processes try to join",
		},
		"waits while the status document is incomplete": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}), Holds: "the status document is incomplete",
		},
		"waits while a listed process has not reported what it is": {
			Given: stagestest.Combined(shutOut, func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[1], func(p *fdb.Process) { p.CommandLine = "" })
			}), Holds: "have not reported it yet",
		},
	})
}
