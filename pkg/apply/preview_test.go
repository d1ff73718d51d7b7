package apply

import (
	"context"
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// A facet that is not taken over is zero for a preview, which then plans to create what exists.
// Budgets are read instead, see TestAPreviewReadsDisruptionBudgetsIfTheyAreRequested.
func TestAPreviewReusesEveryObservedFacet(t *testing.T) {
	seen := plan.Snapshot{
		Cluster: &v1beta2.FoundationDBCluster{}, Nodes: map[string]*corev1.Node{"n": {}}, Pods: map[string]*corev1.Pod{"p": {}},
		Volumes: map[string]*corev1.PersistentVolumeClaim{"v": {}}, Services: map[string]*corev1.Service{"s": {}}, ConfigMap: &corev1.ConfigMap{},
		PodFiles: map[string]plan.PodReport{"p": {}}, Database: plan.DatabaseFacts{NotQueried: "no pod"}, Coordination: plan.CoordinationFacts{Read: true},
		Detector: plan.DetectorFacts{Job: &batchv1.CronJob{}},
	}
	for i := range 32 {
		facet := plan.Facet(1) << i
		if plan.Everything&^plan.DisruptionBudgets&facet == 0 {
			continue
		}
		var into plan.Snapshot
		if err := (AlreadySeen{Seen: seen}).Observe(t.Context(), &into, facet); err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(into, plan.Snapshot{}) || !cmp.Equal(into, seen.Without(plan.Everything&^facet)) {
			t.Errorf("%s is not taken over", facet)
		}
	}
}

// onlyBudgets is a session that can observe nothing but budgets.
type onlyBudgets struct {
	session.Session
	err error
}

func (o onlyBudgets) Observe(_ context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets != plan.DisruptionBudgets {
		return errors.New("observes " + facets.String())
	}
	into.DisruptionBudgets = map[string]*policyv1.PodDisruptionBudget{"b": {}}
	return o.err
}

func TestAPreviewReadsDisruptionBudgetsIfTheyAreRequested(t *testing.T) {
	for name, tc := range map[string]struct {
		annotation string
		read       bool
	}{
		"requested":           {"true", true},
		"an invalid value":    {"yes", true},
		"not requested":       {"false", false},
		"without annotations": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			seen := plan.Snapshot{Cluster: &v1beta2.FoundationDBCluster{}}
			if tc.annotation != "" {
				seen.Cluster.Annotations = map[string]string{plan.AnnotationDisruptionBudgets: tc.annotation}
			}
			var into plan.Snapshot
			if err := (AlreadySeen{Session: onlyBudgets{}, Seen: seen}).Observe(t.Context(), &into, plan.ClusterResource|plan.DisruptionBudgets); err != nil {
				t.Fatal(err)
			}
			if read := into.DisruptionBudgets != nil; read != tc.read {
				t.Errorf("budgets are read: %v, want %v", read, tc.read)
			}
			unreadable := AlreadySeen{Session: onlyBudgets{err: errors.New("no answer")}, Seen: seen}
			if err := unreadable.Observe(t.Context(), &into, plan.DisruptionBudgets); (err != nil) != tc.read {
				t.Errorf("a budget that cannot be read gives the error %v", err)
			}
		})
	}
}
