package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
	g := s.Cluster.ProcessGroup(oneGroup)
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
	noSchedule := func(s *plan.Snapshot) { s.Cluster.Spec.Buggify.NoSchedule = []v1beta2.ProcessGroupID{oneGroup} }
	crash, crashSidecar := crashing(v1beta2.ContainerMain, oneGroup), crashing(v1beta2.ContainerSidecar, oneGroup)
	deletes := func(given ...func(*plan.Snapshot)) decision {
		return decision{given: combined(given...), does: []string{deleteOne}, holds: anew, then: plan.EndPass}
	}
	decides(t, deletePodsForBuggification, map[string]decision{
		"does nothing without faults":                                 {given: func(*plan.Snapshot) {}},
		"deletes a pod that should crash":                             deletes(crash),
		"leaves a pod alone that crashes as it should":                {given: combined(crash, remade)},
		"deletes a pod that should crash no more":                     deletes(crash, remade, withoutFaults),
		"deletes a pod whose fault moves to another container":        deletes(crash, remade, withoutFaults, crashSidecar),
		"deletes a pod that no node should take":                      deletes(noSchedule),
		"leaves a pod alone that no node takes":                       {given: combined(noSchedule, remade)},
		"deletes a pod that nodes should take again":                  deletes(noSchedule, remade, withoutFaults),
		"leaves others alone":                                         {given: crashing(v1beta2.ContainerMain, "log-999")},
		"does not delete a pod over and over for its template's sake": {given: combined(noSchedule, remade, withoutFaults, templateWantsIt)},
	})
}

// templateWantsIt gives the pod template of the class what a fault would set.
func templateWantsIt(s *plan.Snapshot) {
	affinity := s.Pod(s.Cluster.ProcessGroup(oneGroup)).Spec.Affinity.DeepCopy()
	settings := s.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral]
	settings.PodTemplate = settings.PodTemplate.DeepCopy()
	settings.PodTemplate.Spec.Affinity = affinity
	s.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = settings
}

func TestAllPodsCrashAtOnceWhenTheSpecSaysSo(t *testing.T) {
	s := healthyCluster(t)
	crashing(v1beta2.ContainerMain, v1beta2.AllProcessGroups)(&s)
	d := deletePodsForBuggification.Decide(s)
	if len(d.Actions) != 1 || len(d.Actions[0].(plan.DeletePods).Pods) != len(s.Groups()) {
		t.Errorf("does %v", described(d))
	}
}

// Hours of crashing on purpose are no reason to replace the group once the fault is removed from the
// spec.
func TestFailuresOnPurposeCountFromTheirEnd(t *testing.T) {
	s := healthyCluster(t)
	crashing(v1beta2.ContainerMain, oneGroup)(&s)
	remade(&s)
	g := s.Cluster.ProcessGroup(oneGroup)
	g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-3*time.Hour))
	dropProcess(&s, g)
	since := func() time.Time {
		since, _ := statusWritten(t, s).ProcessGroups[0].Condition(v1beta2.ConditionMissingProcesses)
		return since
	}
	if got := since(); !got.Equal(noon.Add(-3 * time.Hour)) {
		t.Errorf("while it crashes: missing since %s", got)
	}
	withoutFaults(&s)
	if got := since(); !got.Equal(noon) {
		t.Errorf("when it should crash no more: missing since %s, want %s", got, noon)
	}
}
