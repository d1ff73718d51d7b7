package reconcile_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// labeled is a cluster whose pods get a new label.
func labeled(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
		PodTemplate: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"example.com/team": "storage"}}},
	}}
	g.Cluster.Resource.Generation++
	return g
}

func TestPlanSimulatesEachFaultAtEachStep(t *testing.T) {
	g := labeled(t)
	if code := g.Run("plan", "sample", "--simulate", "all", "-o", "json"); code != exit.ExitNo {
		t.Fatalf("exit code %d\n%s", code, &g.Err)
	}
	var v struct {
		Simulations  *planned.Simulations
		SingleFaults *planned.SingleFaults
	}
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if f := v.SingleFaults; f == nil || v.Simulations != nil || f.Complete == 0 || f.Complete != len(f.Histories) || f.WorstHistory() == nil {
		t.Errorf("%+v", f)
	}
	g = labeled(t)
	g.Run("plan", "sample", "--simulate", "all")
	for _, line := range []string{"Single faults: ", "no data lost", "0 stuck", "worst:", "the answer of a model"} {
		if !strings.Contains(g.Out.String(), line) {
			t.Errorf("does not print %q:\n%s", line, &g.Out)
		}
	}
	t.Log(g.Out.String())
}

func TestPlanRefusesOtherNumbersOfSimulations(t *testing.T) {
	for _, value := range []string{"some", "-1", "1001", ""} {
		g := commandstest.Up(t)
		if code := g.Run("plan", "sample", "--simulate="+value); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "must be all, or from 0 to 1000") {
			t.Errorf("%q: exit code %d, %s", value, code, &g.Err)
		}
	}
}
