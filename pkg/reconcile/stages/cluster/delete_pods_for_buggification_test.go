package cluster

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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
