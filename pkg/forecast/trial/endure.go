package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

const (
	// passesToEnd is how many passes an operation may need while something is wrong, until it is done or waits.
	passesToEnd = 80
	// idlePasses is after how many passes in a row without a change an operation waits.
	idlePasses = 4
	// idleWait is the least time between passes without a change. All of them together are longer than a wait for the
	// uptime of the database.
	idleWait = 5 * time.Minute
	// passesOfLies is for how many passes the database lies, is slow, or has full disks: no document is old forever.
	passesOfLies = 10
)

// endure runs passes while what went wrong lasts, until the cluster matches its spec or passes only wait.
func (h *History) endure(ctx context.Context) {
	idle := 0
	for range passesToEnd {
		if h.passes-h.liesSince >= passesOfLies*len(h.clusters) {
			h.endLies()
		}
		h.startRoutine()
		before := h.changes()
		if h.passOfEach(ctx); h.violated() {
			return
		}
		if idle++; h.changes() > before {
			idle = 0
		}
		if idle >= idlePasses && h.waitForReasons() || h.finished() {
			return
		}
		wait := h.longestWait()
		if idle > 0 {
			wait = max(wait, idleWait)
		}
		h.w.Tick(wait)
	}
	h.judge(underTrouble, nil)
}

// changes is how many actions were carried out that do not only record.
func (h *History) changes() int {
	n := 0
	for _, w := range h.clusters {
		for _, a := range w.Acted {
			if !plan.Records(a) {
				n++
			}
		}
	}
	return n
}

// finished reports whether all clusters match their specs.
func (h *History) finished() bool { return len(h.behind()) == 0 }

// behind are the clusters that do not match their specs.
func (h *History) behind() []*sim.Cluster {
	return slices.DeleteFunc(slices.Clone(h.clusters), func(w *sim.Cluster) bool { return h.unfinished(w) == "" })
}

// waitForReasons reports whether the last pass of each cluster that does not match its spec waits for a reason.
func (h *History) waitForReasons() bool {
	return !slices.ContainsFunc(h.behind(), func(w *sim.Cluster) bool { return !h.endings[w].waits() })
}

// waits reports whether a pass has a hold with a code, an error, or did not run for a reason.
func (c conclusion) waits() bool {
	return len(c.pass.Failures) > 0 || c.pass.Stopped != nil || c.pass.TidyAfter() > 0 || slices.ContainsFunc(c.holds, func(hold plan.Hold) bool { return hold.Code != "" })
}

// doesNotEnd does not judge passes that go on beside a hold that names what a user has to do: as with an image that no
// node can pull, for which each replacement fails, too.
func doesNotEnd(h *History, _ *deed) string {
	for _, w := range h.behind() {
		if !slices.ContainsFunc(h.endings[w].holds, func(hold plan.Hold) bool { return hold.Manual }) {
			return fmt.Sprintf("pass %d, the last one, ended %s, and none waits for a user", h.passes, h.endings[w].pass.Outcome)
		}
	}
	return ""
}
