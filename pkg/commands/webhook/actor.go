package webhook

import (
	"context"
	"fmt"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/evictionhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// actor makes denied evictions possible, with one pass of a command for each request.
type actor struct {
	host    Host
	coexist bool
	mu      sync.Mutex // keeps the output of one pass together
}

// Act implements evictionhook.Actor. A pod that only coordinates too much loses its coordinator;
// any other with data is replaced. A pod without data is waited for: nothing helps it but time.
func (a *actor) Act(ctx context.Context, e evictionhook.Eviction, refused []plan.Check) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, why, err := a.decide(ctx, e, refused)
	if err != nil || id == "" {
		return err
	}
	groups := []v1beta2.ProcessGroupID{id}
	list := stages.Replacing(operations.ReplaceGroups(operations.Replacement{Groups: groups, Most: 1}))
	words := []string{"replace", e.Cluster.Name, string(id)}
	if why == movesCoordinators {
		list = stages.Marking(operations.MoveCoordinatorsOff(groups))
		words = []string{"coordinators", "change", e.Cluster.Name}
	}
	return a.host.Pass(ctx, Change{
		Cluster: e.Cluster, Words: words, Stages: list, Coexist: a.coexist,
		Reason: fmt.Sprintf("eviction of %s from %s requested by %s", e.Pod, e.Node, e.User),
	})
}

// remedy is what makes an eviction possible.
type remedy int

const (
	replaces remedy = iota
	movesCoordinators
)

// decide returns the process group to work on, and how; an empty ID where only time helps.
func (a *actor) decide(ctx context.Context, e evictionhook.Eviction, refused []plan.Check) (v1beta2.ProcessGroupID, remedy, error) {
	var s plan.Snapshot
	observer, err := a.host.Observer(ctx, e.Cluster)
	if err != nil {
		return "", replaces, err
	}
	if err := observer.Observe(ctx, &s, plan.Record|plan.Pods); err != nil {
		return "", replaces, err
	}
	for _, g := range s.Groups() {
		switch {
		case g.PodName(s.Cluster) != e.Pod:
		case onlyCoordinates(refused):
			return g.ProcessGroupID, movesCoordinators, nil
		case safety.HoldsNothing(s, g):
			return "", replaces, nil
		default:
			return g.ProcessGroupID, replaces, nil
		}
	}
	return "", replaces, fmt.Errorf("the status of %s has no process group with the pod %s", e.Cluster.Name, e.Pod)
}

func onlyCoordinates(refused []plan.Check) bool {
	for _, c := range refused {
		if c.ID != plan.CheckNoCoordinator {
			return false
		}
	}
	return len(refused) > 0
}
