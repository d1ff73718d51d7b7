package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

const (
	// passesToEnd is how many passes an operation may need while something is wrong, until it is done or waits.
	passesToEnd = 80
	// idlePasses is after how many passes in a row without a change an operation waits.
	idlePasses = 4
	// passesOfLies is for how many passes the database lies, is slow, or has full disks: no document is old forever.
	passesOfLies = 10
)

// endure runs passes while what went wrong lasts, until the cluster matches its spec or passes only wait.
func (h *History) endure(ctx context.Context) {
	idle := 0
	for range passesToEnd {
		if h.passes-h.liesSince >= passesOfLies {
			h.endLies()
		}
		h.startRoutine()
		acted := len(h.w.Acted)
		if h.passOfEach(ctx); h.violated() {
			return
		}
		if idle++; slices.ContainsFunc(h.w.Acted[acted:], func(a plan.Action) bool { return !plan.Records(a) }) {
			idle = 0
		}
		if h.finished() || idle >= idlePasses && h.waitsForAReason() {
			return
		}
		h.w.Tick(h.longestWait())
	}
	h.judge(underTrouble, nil)
}

// finished reports whether all clusters match their specs.
func (h *History) finished() bool {
	return !slices.ContainsFunc(h.clusters, func(w *sim.Cluster) bool { return h.unfinished(w) != "" })
}

// waitsForAReason reports whether the last pass has a hold with a code, an error, or did not run for a reason.
func (h *History) waitsForAReason() bool {
	done := h.endings[h.w].pass
	return len(done.Failures) > 0 || done.Stopped != nil || done.TidyAfter() > 0 || slices.ContainsFunc(h.holds, func(hold plan.Hold) bool { return hold.Code != "" })
}

// doesNotEnd does not judge passes that go on beside a hold that names what a user has to do: as with an image that no
// node can pull, for which each replacement fails, too.
func doesNotEnd(h *History, _ *deed) string {
	if slices.ContainsFunc(h.holds, func(hold plan.Hold) bool { return hold.Manual }) {
		return ""
	}
	return fmt.Sprintf("pass %d, the last one, ended %s, and none waits for a user", h.passes, h.endings[h.w].pass.Outcome)
}
