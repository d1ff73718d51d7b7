package commands

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/evictionhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// evictionActor makes denied evictions possible, with one pass of a command for each request.
type evictionActor struct {
	env     *Env
	coexist bool
	mu      sync.Mutex // keeps the output of one pass together
}

// Act implements evictionhook.Actor. A pod that only coordinates too much loses its coordinator;
// any other with data is replaced. A pod without data is waited for: nothing helps it but time.
func (a *evictionActor) Act(ctx context.Context, e evictionhook.Eviction, refused []plan.Check) error {
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
	c := change{
		changeFlags: changeFlags{dryRun: dryRunNone, yes: true, coexist: a.coexist, output: "text", interval: pace.DefaultInterval, reason: fmt.Sprintf("eviction of %s from %s requested by %s", e.Pod, e.Node, e.User)},
		words:       words, permissions: reconcilePermissions(), stages: list, partial: true,
	}
	err = a.env.separate().carryOut(ctx, e.Cluster, c)
	if failure, is := errors.AsType[*failure](err); is && (failure.code == ExitWaiting || failure.code == ExitRefused) {
		return nil // the next request for the same eviction continues
	}
	return err
}

// remedy is what makes an eviction possible.
type remedy int

const (
	replaces remedy = iota
	movesCoordinators
)

// decide returns the process group to work on, and how; an empty ID where only time helps.
func (a *evictionActor) decide(ctx context.Context, e evictionhook.Eviction, refused []plan.Check) (v1beta2.ProcessGroupID, remedy, error) {
	s, err := a.env.placesOf(ctx, e.Cluster)
	if err != nil {
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
