package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/evictionhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// actor makes denied evictions possible, with one pass of a command for each request.
type actor struct {
	env     *session.Env
	coexist bool
	mu      sync.Mutex // keeps the output of one pass together
}

// Act implements evictionhook.Actor. If only its coordinator, or nothing but time, prevents the
// eviction, the coordinator is moved and no data. A pod that may leave once others are back, such as one
// without data, waits for these: they are recreated, since no other run might do so. Any other process group is
// replaced.
func (a *actor) Act(ctx context.Context, e evictionhook.Eviction, refused []plan.Check) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, why, err := a.decide(ctx, e, refused)
	if err != nil {
		return err
	}
	groups := []v1beta2.ProcessGroupID{id}
	list := stages.Replacing(operations.ReplaceGroups(operations.Replacement{Groups: groups, Max: 1}))
	words := []string{"replace", e.Cluster.Name, string(id)}
	switch why {
	case replaces:
	case restores:
		list, words = stages.Replacing(), []string{"reconcile", e.Cluster.Name}
	case movesCoordinators:
		list = stages.Marking(operations.MoveCoordinatorsOff(groups))
		words = []string{"coordinators", "change", e.Cluster.Name, "--away-from", string(id)}
	}
	reason := fmt.Sprintf("eviction of %s from %s requested by %s", e.Pod, e.Node, plainName(e.User))
	return a.pass(ctx, e.Cluster, apply.Change{Args: words, Stages: list}, reason)
}

// pass runs one pass of a change that --yes has approved. A pass that has to wait is no error: the
// next request for the eviction begins another one.
func (a *actor) pass(ctx context.Context, cluster types.NamespacedName, c apply.Change, reason string) error {
	c.ChangeFlags = apply.ChangeFlags{DryRun: apply.DryRunNone, Yes: true, Coexist: a.coexist, Output: "text", Interval: pace.DefaultInterval, Reason: reason}
	c.Permissions, c.Partial = session.ReconcilePermissions(), true
	err := apply.CarryOut(ctx, a.env.Beside(logged{a.env}), cluster, c)
	if exit.Code(err) == exit.ExitWaiting {
		return nil
	}
	return err
}

// logged prints the output of a pass as log lines of the webhook.
type logged struct{ env *session.Env }

func (l logged) Write(text []byte) (int, error) {
	l.env.Logf("%s", strings.TrimSuffix(string(text), "\n"))
	return len(text), nil
}

// remedy is what makes an eviction possible.
type remedy int

const (
	replaces remedy = iota
	movesCoordinators
	// restores recreates what is missing and completes replacements that have begun.
	restores
)

// decide returns the process group of the pod, and what makes its eviction possible.
func (a *actor) decide(ctx context.Context, e evictionhook.Eviction, refused []plan.Check) (v1beta2.ProcessGroupID, remedy, error) {
	var s plan.Snapshot
	observer, err := a.env.Connect(ctx, e.Cluster)
	if err != nil {
		return "", replaces, err
	}
	if err := observer.Observe(ctx, &s, plan.ClusterResource|plan.Pods|plan.Volumes|plan.Database); err != nil {
		return "", replaces, err
	}
	for _, g := range s.Groups() {
		if g.PodName(s.Cluster) != e.Pod {
			continue
		}
		if pod := s.Pods[e.Pod]; pod == nil || pod.UID != e.UID {
			return "", replaces, fmt.Errorf("pod %s was deleted or recreated since its eviction was requested", e.Pod)
		}
		coordinates, others := split(refused)
		holdsNothing := safety.HoldsNothing(s, g) && !refuses(refused, plan.CheckNoData)
		switch waits := holdsNothing || safety.EvictionSettles(s, g); {
		case refuses(refused, plan.CheckNotIsolated):
			return g.ProcessGroupID, restores, nil // a user keeps it
		case coordinates && (waits || !others):
			return g.ProcessGroupID, movesCoordinators, nil
		case waits:
			return g.ProcessGroupID, restores, nil
		default:
			return g.ProcessGroupID, replaces, nil
		}
	}
	return "", replaces, fmt.Errorf("the status of %s has no process group with the pod %s", e.Cluster.Name, e.Pod)
}

// refuses reports whether a check is among those that do not hold.
func refuses(refused []plan.Check, id plan.CheckID) bool {
	return slices.ContainsFunc(refused, func(c plan.Check) bool { return c.ID == id })
}

// split reports whether a coordinator, and whether anything else, prevents an eviction.
func split(refused []plan.Check) (coordinates, others bool) {
	for _, c := range refused {
		coordinates = coordinates || c.ID == plan.CheckNoCoordinator
		others = others || c.ID != plan.CheckNoCoordinator
	}
	return coordinates, others
}
