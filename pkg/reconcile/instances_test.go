package reconcile_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// everyWithTwo is that every so manieth history is of a database that two instances
// share, each with a cluster, a record and a plugin of its own.
const everyWithTwo = 8

// share brings up a database that two instances share. Troubles befall the first; what
// is typed into the specs of both is the same where it has to be.
func (h *history) share(t *testing.T, edit func(*v1beta2.FoundationDBClusterSpec)) {
	t.Helper()
	s := instances(t, h.life.seed, edit, "kc1", "kc2")
	for _, name := range s.names {
		w := s.clusters[name]
		for n := len(w.Nodes); n < 14; n++ {
			w.Nodes = append(w.Nodes, strings.TrimRight(w.Nodes[0], "1")+string(rune('a'+n)))
		}
		h.clusters = append(h.clusters, w)
	}
	h.w = h.clusters[0]
}

// inTurn does something for each instance, as if it were the only one.
func (h *history) inTurn(do func()) {
	first := h.w
	for _, w := range h.clusters {
		h.w = w
		do()
	}
	h.w = first
}

// passOfEach runs a pass of every instance. Those after the first see a database in
// trouble, and have few troubles of their own.
func (h *history) passOfEach() {
	h.inTurn(func() {
		if !h.violated() {
			h.pass(h.t.Context())
		}
	})
}

// overtaken lets the other instances act after the one whose turn it is has decided,
// and before it has the lock.
func (h *history) overtaken(ctx context.Context) {
	if !h.faster {
		return
	}
	h.faster = false
	mine := h.w
	for _, w := range h.clusters {
		if w != mine {
			h.w = w
			h.logf("the other instance is faster")
			h.pass(ctx)
		}
	}
	h.w = mine
}

var instanceProblems = []problem{
	{"the other instance is faster", 2, func(h *history, _ *rand.Rand) { h.faster = len(h.clusters) > 1 }},
}

// home is the world that a pod is of.
func (h *history) home(pod string) *sim.Cluster {
	for _, w := range h.clusters {
		if strings.HasPrefix(pod, w.Resource.Name+"-") {
			return w
		}
	}
	return h.w
}

// conclusion is how the last pass of an instance ended, and what it had done by then.
type conclusion struct {
	pass  reconcile.PassDone
	acted int
}

// longestWait is how long the passes want to wait.
func (h *history) longestWait() time.Duration {
	longest := time.Minute
	for _, e := range h.endings {
		longest = max(longest, e.pass.RetryAfter, e.pass.TidyAfter())
	}
	return longest
}
