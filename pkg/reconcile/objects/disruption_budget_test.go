package objects

import (
	"encoding/json"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestTheDisruptionBudget(t *testing.T) {
	for name, edits := range map[string][]given{
		"of a cluster":      nil,
		"with other labels": {ownTemplate},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.MarshalIndent(DisruptionBudget(sample(t, edits...), 6), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, append(text, '\n'))
		})
	}
}

// The disruption controller knows no scale of a FoundationDBCluster.
func TestDisruptionBudgetUsesAnAbsoluteMinAvailable(t *testing.T) {
	budget := DisruptionBudget(sample(t), 6)
	if budget.Spec.MaxUnavailable != nil || budget.Spec.MinAvailable.Type != 0 || budget.Spec.MinAvailable.IntVal != 6 {
		t.Errorf("%+v", budget.Spec)
	}
}

func TestWhichPodsAreInTheDisruptionBudget(t *testing.T) {
	c := sample(t)
	selector, err := metav1.LabelSelectorAsSelector(DisruptionBudget(c, 1).Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	of := func(class v1beta2.ProcessClass) labels.Set {
		return merged(c.MatchLabels(), map[string]string{v1beta2.LabelProcessClass: string(class)})
	}
	for class, want := range map[v1beta2.ProcessClass]bool{
		"storage": true, "log": true, "transaction": true, "coordinator": true, "unset": true, "from the future": true,
		"stateless": false, "test": false, "cluster_controller": false, "commit_proxy": false,
	} {
		if got := selector.Matches(of(class)); got != want || InDisruptionBudget(class) != want {
			t.Errorf("%s: selected %t, counted %t, want %t", class, got, InDisruptionBudget(class), want)
		}
	}
	if selector.Matches(labels.Set(c.MatchLabels())) {
		t.Error("a pod without a class is selected")
	}
	other := of("storage")
	other[v1beta2.LabelClusterName] = "another"
	if selector.Matches(other) {
		t.Error("a pod of another cluster is selected")
	}
}
