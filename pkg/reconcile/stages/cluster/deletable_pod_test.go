package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestAPodIsDeletedOnlyToBeRecreated(t *testing.T) {
	deleting := map[string]struct {
		stage plan.Stage
		given func(*plan.Snapshot)
	}{
		"it should crash":        {DeletePodsForBuggification, crashing(v1beta2.ContainerMain, stagestest.OneGroup)},
		"it has ended":           {DeleteTerminalPods, ended(corev1.PodFailed, time.Hour)},
		"its server is shut out": {RemoveIncompatibleProcesses, shutOutFor(time.Hour)},
	}
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		deleted bool
	}{
		"is deleted":                                   {given: func(*plan.Snapshot) {}, deleted: true},
		"is left alone when it terminates":             {given: stagestest.OnePod(func(p *corev1.Pod) { p.DeletionTimestamp = new(stagestest.NoonTime()) })},
		"is left alone when a user isolated it":        {given: stagestest.Isolated},
		"is left alone when it is another group's":     {given: stagestest.OnePod(func(p *corev1.Pod) { p.Labels[v1beta2.LabelProcessGroupID] = "dc2-log-101" })},
		"is left alone when it would not be recreated": {given: stagestest.OnItsWayOut},
		"is not missed when there is none":             {given: func(s *plan.Snapshot) { delete(s.Pods, "sample-log-101") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for why, d := range deleting {
				s := stagestest.HealthyCluster(t)
				stagestest.Combined(d.given, tc.given)(&s)
				if got := len(d.stage.Decide(s).Actions) == 1; got != tc.deleted {
					t.Errorf("when %s: deleted %t, want %t", why, got, tc.deleted)
				}
			}
		})
	}
}

func TestAPodThatRunsIsDeletedOnlyIfTheAPIServerAcceptsItsSuccessor(t *testing.T) {
	deleting := map[string]struct {
		stage plan.Stage
		given func(*plan.Snapshot)
	}{
		"it should crash":        {DeletePodsForBuggification, crashing(v1beta2.ContainerMain, stagestest.OneGroup)},
		"its server is shut out": {RemoveIncompatibleProcesses, shutOutFor(time.Hour)},
	}
	for why, tc := range deleting {
		t.Run(why, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			class := s.Cluster.ProcessGroup(stagestest.OneGroup).ProcessClass
			s.Successors.Refused = map[v1beta2.ProcessClass]plan.Refusal{class: plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByPolicy, "rule", "the text")}
			if tc.stage.Facets(s)&plan.Successors == 0 {
				t.Error("the dry run is not read")
			}
			d := tc.stage.Decide(s)
			if len(d.Actions) > 0 || d.Hold == nil || d.Hold.Code != plan.HoldAdmissionRefused || !d.Hold.Manual {
				t.Errorf("does %v, hold %+v", stagestest.Described(d), d.Hold)
			}
		})
	}
}

// Where some pods are deleted, the next pass recreates them, whatever is kept.
func TestAPodThatIsKeptDoesNotChangeHowThePassGoesOn(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	crashing(v1beta2.ContainerMain, v1beta2.AllProcessGroups)(&s)
	s.Successors.Refused = map[v1beta2.ProcessClass]plan.Refusal{v1beta2.ProcessClassLog: plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByPolicy, "rule", "the text")}
	d := DeletePodsForBuggification.Decide(s)
	if len(d.Actions) != 1 || d.Hold.Code != plan.HoldAdmissionRefused || d.Hold.Then != plan.EndPass {
		t.Errorf("does %v, hold %+v", stagestest.Described(d), d.Hold)
	}
}
