package reconcile_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast/trial"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// budgetWatch acts, and notes after every action how many evictions the budget would allow if all
// pods were ready, which is the most that it can ever allow.
type budgetWatch struct {
	*sim.Cluster
	t        *testing.T
	mu       sync.Mutex // actions run concurrently
	open     int        // how often it allowed one
	violated []string
}

func (b *budgetWatch) Act(ctx context.Context, a plan.Action) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.Cluster.Act(ctx, a)
	b.look(a.Describe())
	return err
}

// look counts as the disruption controller does for a number of pods.
func (b *budgetWatch) look(after string) {
	b.t.Helper()
	budget := b.DisruptionBudgets[objects.DisruptionBudgetName(b.Resource)]
	if budget == nil {
		return
	}
	allowed := selectedPods(b.t, b.Cluster, budget) - budget.Spec.MinAvailable.IntValue()
	if allowed == 1 {
		b.open++
	}
	if allowed > 1 {
		b.violated = append(b.violated, fmt.Sprintf("%d evictions after: %s", allowed, after))
	}
}

func (b *budgetWatch) passes(n int, all []plan.Stage) {
	b.t.Helper()
	for range n {
		p := reconcile.Pass{Stages: all, Observer: b.Cluster, Actor: b, Seed: 3, Report: func(reconcile.Event) {}}
		done, err := p.Run(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		b.look("a pass")
		if done.Settled() {
			return
		}
		b.Tick(max(done.RetryAfter, 30*time.Second))
	}
	b.t.Fatalf("not settled after %d passes", n)
}

// budgetThrough lets a cluster with a budget come up, grow, shrink, and lose the annotation.
func budgetThrough(t *testing.T, all []plan.Stage) *budgetWatch {
	t.Helper()
	b := &budgetWatch{t: t, Cluster: cluster(t, 5, func(c *v1beta2.FoundationDBCluster) {
		c.Annotations = map[string]string{plan.AnnotationDisruptionBudgets: "true"}
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 4, Stateless: 4}
	})}
	for _, storage := range []int{3, 6, 4} {
		b.Resource.Spec.ProcessCounts.Storage = storage
		b.Resource.Generation++
		b.passes(40, all)
		budget := b.DisruptionBudgets["sample-stateful"]
		if budget == nil {
			return b
		}
		if stay, pods := budget.Spec.MinAvailable.IntValue(), selectedPods(t, b.Cluster, budget); stay != pods-1 || pods != storage+4 {
			t.Errorf("with %d storage pods %d of %d must stay", storage, stay, pods)
		}
	}
	b.Resource.Annotations = nil
	b.passes(3, all)
	return b
}

// At no moment may two pods go, and in the end one may.
func TestADisruptionBudgetNeverAllowsTwoEvictions(t *testing.T) {
	b := budgetThrough(t, stages.Cluster())
	if len(b.violated) > 0 {
		t.Errorf("%d times, first %s", len(b.violated), b.violated[0])
	}
	if b.open == 0 {
		t.Error("no eviction was ever allowed")
	}
	if len(b.DisruptionBudgets) != 0 {
		t.Errorf("left behind: %v", b.DisruptionBudgets)
	}
}

// A budget that counts new pods only once they exist allows an eviction for each of them.
func TestALateDisruptionBudgetUpdateAllowsTwoEvictions(t *testing.T) {
	var late []plan.Stage
	for _, stage := range stages.Cluster() {
		if stage.Name != plan.StageUpdateDisruptionBudget {
			late = append(late, stage)
		}
	}
	for _, stage := range stages.Cluster() {
		if stage.Name == plan.StageUpdateDisruptionBudget {
			late = append(late, stage)
			break
		}
	}
	if b := budgetThrough(t, late); len(b.violated) == 0 {
		t.Error("the invariant of the test before finds nothing")
	}
}

func selectedPods(t *testing.T, w *sim.Cluster, budget *policyv1.PodDisruptionBudget) int {
	t.Helper()
	n, err := trial.SelectedPods(w, budget)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
