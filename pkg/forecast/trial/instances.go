package trial

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// inTurn does something for each control-plane instance, as if it were the only one.
func (h *History) inTurn(do func()) {
	first := h.w
	for _, w := range h.clusters {
		h.w = w
		do()
	}
	h.w = first
}

// passOfEach runs a pass of every control-plane instance. Those after the first see a database in
// trouble, and have few troubles of their own.
func (h *History) passOfEach(ctx context.Context) {
	h.inTurn(func() {
		if !h.violated() {
			h.pass(ctx)
		}
	})
}

// overtaken lets the other control-plane instances act after the one whose turn it is has decided,
// and before it has the lock.
func (h *History) overtaken(ctx context.Context) {
	if !h.faster {
		return
	}
	h.faster = false
	mine := h.w
	for _, w := range h.clusters {
		if w != mine {
			h.w = w
			h.logf("another run is faster")
			h.pass(ctx)
		}
	}
	h.w = mine
}

var instanceProblems = []problem{
	{"other-run-faster", "another run is faster", 2, noGroup, func(h *History, _ *rand.Rand) { h.faster = len(h.clusters) > 1 }},
}

// home is the cluster that a pod is of.
func (h *History) home(pod string) *sim.Cluster {
	for _, w := range h.clusters {
		if strings.HasPrefix(pod, w.Resource.Name+"-") {
			return w
		}
	}
	return h.w
}

// conclusion is how the last pass of a control-plane instance ended, what it had done by then, and for what it waits.
type conclusion struct {
	pass  reconcile.PassDone
	acted int
	holds []plan.Hold
}

// longestWait is how long the passes want to wait.
func (h *History) longestWait() time.Duration {
	longest := time.Minute
	for _, e := range h.endings {
		longest = max(longest, e.pass.RetryAfter, e.pass.TidyAfter())
	}
	return longest
}
