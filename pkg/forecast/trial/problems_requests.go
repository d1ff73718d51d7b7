package trial

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// requestProblems are what goes wrong with requests. No list is an old one: passes list without a resource version, to which
// the API server answers consistently. No watch is cut: it only ends an interval between passes early.
var requestProblems = []problem{
	{"write-forbidden", "actions of one kind are forbidden while troubles last", 0, noGroup, func(h *History, _ *rand.Rand) {
		h.forbids = true
		h.logf("actions of the next kind are forbidden")
	}},
	{"write-half-done", "an action ends after the first of its requests", 0, noGroup, func(h *History, _ *rand.Rand) {
		h.halves = true
		h.logf("the next action of several requests ends after the first")
	}},
	{"api-unreachable", "the API server does not answer until the next pass is over", 0, noGroup, func(h *History, _ *rand.Rand) {
		h.unreachable = h.passes + len(h.clusters)
		h.logf("the API server does not answer")
	}},
}

// ofOneRequest reports whether actions of a kind end with their first request.
func ofOneRequest(kind string) bool {
	return !slices.Contains([]string{plan.KindOf(plan.DeletePods{}), plan.KindOf(plan.DeleteGroupObjects{}), plan.KindOf(plan.IncludeAndForget{}), plan.KindOf(plan.ChangeCoordinators{})}, kind)
}

// dryRun reports whether actions of a kind are tried before they are decided: refusals of pods are a problem of their own.
func dryRun(kind string) bool {
	return kind == plan.KindOf(plan.CreatePod{}) || kind == plan.KindOf(plan.CreatePVC{})
}

// happensAt reports whether the request that a problem is about is one of a step.
func (p problem) happensAt(at Step) bool {
	switch p.code {
	case "write-forbidden":
		// While sidecars may not be updated, pods are annotated in each pass, which ends in no wait.
		return at.Stage != "" && !dryRun(at.Kind) && at.Kind != plan.KindOf(plan.SetSidecarImage{})
	case "write-half-done":
		return at.Stage != "" && !ofOneRequest(at.Kind)
	}
	return true
}

var (
	errForbidden   = errors.New("forbidden: the user cannot do this")
	errNoAnswer    = errors.New("connection refused")
	errInTheMiddle = errors.New("the second request got no answer")
)

// forbidden makes actions of one kind fail.
func (h *History) forbidden(a plan.Action) error {
	if h.forbids {
		h.forbids, h.forbiddenKind = false, written(a)
	}
	if h.forbiddenKind == written(a) {
		return errForbidden
	}
	return nil
}

// written is what an action writes: all that edit the status do the same.
func written(a plan.Action) string {
	switch any(a).(type) { // the others have objects of their own
	case plan.WriteStatus, plan.AddGroups, plan.SetConnectionString, plan.MarkForRemoval, plan.KeepGroups, plan.SetExcluded:
		return "status"
	}
	return plan.KindOf(a)
}

// noAnswer is the error of all requests while the API server does not answer.
func (h *History) noAnswer() error {
	if h.unreachable == 0 || h.passes > h.unreachable {
		return nil
	}
	return &reconcile.UnreachableError{Err: errNoAnswer}
}

// halved is the first request of an action, as an action, and what reverts what it must not have done; or the whole action.
func (h *History) halved(a plan.Action) (first plan.Action, revert func(), half bool) {
	if !h.halves {
		return a, func() {}, false
	}
	first, revert = firstRequest(a), func() {}
	if _, is := a.(plan.ChangeCoordinators); is { // the new connection string is stored by a second request
		former := h.w.Resource.Status.ConnectionString
		revert = func() { h.w.Resource.Status.ConnectionString = former }
	}
	if first == nil {
		return a, func() {}, false
	}
	h.halves = false
	return first, revert, true
}

// firstRequest is the first request of an action as an action; nil for an action of one request.
func firstRequest(a plan.Action) plan.Action {
	switch a := any(a).(type) { // the others are of one request
	case plan.DeletePods:
		if len(a.Pods) > 1 {
			a.Pods = a.Pods[:1]
			return a
		}
	case plan.DeleteGroupObjects:
		if a.Pod != "" && a.Claim+a.Service != "" {
			a.Claim, a.Service = "", ""
			return a
		}
	case plan.IncludeAndForget:
		if len(a.Targets) > 0 {
			return plan.Include(a)
		}
	case plan.ChangeCoordinators:
		return a
	}
	return nil
}
