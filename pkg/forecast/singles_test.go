package forecast_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// exhausted are the histories of a new label for all pods, with one fault each.
func exhausted(t *testing.T, list []plan.Stage) planned.SingleFaults {
	t.Helper()
	w := settled(t, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 3, Stateless: 3}
	})
	w.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
		PodTemplate: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"example.com/team": "storage"}}},
	}}
	w.Resource.Generation++
	all, err := forecast.Exhaust(t.Context(), forecast.Request{Observed: observed(t, w), Stages: list, Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEachFaultHappensAtEachStepOfAPlan(t *testing.T) {
	all := exhausted(t, stages.Cluster())
	if all.Unavailable != nil || all.Broken+all.Stuck+all.DataLost > 0 || all.Complete != len(all.Histories) {
		t.Errorf("%d histories, %d complete, %d stuck, %d broken; worst: %+v", len(all.Histories), all.Complete, all.Stuck, all.Broken, all.WorstHistory())
	}
	met := map[plan.StageName]map[string]int{}
	for _, h := range all.Histories {
		if met[h.Stage] == nil {
			met[h.Stage] = map[string]int{}
		}
		met[h.Stage][h.Fault]++
		if h.FaultSeconds == 0 {
			t.Errorf("%s at %s of %s never happened", h.Fault, h.Action, h.Stage)
		}
		if h.Group != "" && h.Node == "" {
			t.Errorf("%s of %s has no node", h.Fault, h.Group)
		}
	}
	for _, stage := range []plan.StageName{"", plan.StageUpdateLabels} {
		if got := met[stage]; got["node-lost"] < 3 || got["plugin-killed"] == 0 || got["status-partial"] != 1 {
			t.Errorf("at steps of stage %q: %v", stage, got)
		}
	}
	t.Logf("%d histories, worst: %+v", len(all.Histories), all.WorstHistory())
}

// A plugin that forgets the owner of an object breaks an invariant in each history.
func TestSingleFaultsFindAPlanThatBreaksAnInvariant(t *testing.T) {
	list := stages.Cluster()
	i := slices.IndexFunc(list, func(s plan.Stage) bool { return s.Name == plan.StageUpdateLabels })
	decide := list[i].Decide
	list[i].Decide = func(s plan.Snapshot) plan.Decision {
		d := decide(s)
		stray := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "stray", Namespace: s.Cluster.Namespace}}
		d.Actions = append(d.Actions, plan.ApplyService{Name: stray.Name, Object: stray, Verb: plan.CreateService})
		return d
	}
	all := exhausted(t, list)
	worst := all.WorstHistory()
	if all.Broken == 0 || worst == nil || len(worst.Violations) != 1 || worst.Violations[0].Invariant != "creates-without-owner" {
		t.Errorf("%d of %d histories broken, worst: %+v", all.Broken, len(all.Histories), worst)
	}
}
