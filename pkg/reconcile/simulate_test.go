package reconcile_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Whatever happens to a cluster, some things must never be done to it, and once the
// troubles are over it has to come back. SEEDS and START choose the histories.
func TestRandomHistoriesAreSafeAndConverge(t *testing.T) {
	start, seeds := setting(t, "START", 1), setting(t, "SEEDS", 60)
	for seed := start; seed < start+seeds; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, seed)
			h.live(20)
			h.converge(120)
		})
	}
}

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// history is one cluster's life, and what was told of it.
type history struct {
	t      *testing.T
	w      *sim.World
	random *rand.Rand
	story  strings.Builder
	seed   uint64
	passes int
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	h := &history{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 17))}
	h.w = world(t, seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3 + h.random.IntN(3), Log: 4, Stateless: 4}
		c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(600)
		c.Spec.Routing.UseDNSInClusterFile = new(h.random.IntN(2) == 0)
	})
	settle(t, h.w, 14, io.Discard)
	h.database().LoadBytes(int64(h.random.IntN(200)) << 20)
	h.w.OnAct = h.watch
	return h
}

func (h *history) database() *fdbsim.Database { return h.w.FDB.Databases()[0] }

func (h *history) tell(format string, args ...any) {
	fmt.Fprintf(&h.story, "%s  %s\n", h.w.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

func (h *history) fail(format string, args ...any) {
	h.t.Errorf("seed %d: %s\n%s", h.seed, fmt.Sprintf(format, args...), h.story.String())
}

// watch asks before every action whether it may ever happen, by the truth of the model
// and not by what status says.
func (h *history) watch(w *sim.World, a plan.Action) {
	switch a := a.(type) { //nolint:gochecksumtype // only some actions can do harm
	case plan.DeleteGroupObjects:
		if g := w.Record.ProcessGroup(a.Group); g != nil && !g.ExclusionSkipped && h.database().NeedsData(sim.DataKey(strings.TrimSuffix(a.Claim, "-data"), 1)) {
			h.fail("deleted %s although the database needs its data", a.Group)
		}
		if h.coordinates(a.Group) {
			h.fail("deleted coordinator %s", a.Group)
		}
	case plan.Exclude:
		for _, id := range a.Groups {
			if h.coordinates(id) {
				h.fail("excluded coordinator %s", id)
			}
			if g := w.Record.ProcessGroup(id); g == nil || !g.IsMarkedForRemoval() {
				h.fail("excluded %s, which should stay", id)
			}
		}
	case plan.Configure:
		if a.New {
			h.fail("created a database over one that exists")
		}
	}
	if plan.EffectOf(a).Locked && !w.Locked() {
		h.fail("%s without the lock", a.Describe())
	}
}

func (h *history) coordinates(id v1beta2.ProcessGroupID) bool {
	g := h.w.Record.ProcessGroup(id)
	if g == nil {
		return false
	}
	return slices.ContainsFunc(h.database().ConnectionString().Coordinators, func(c fdb.Address) bool {
		return slices.Contains(g.Addresses, c.Host) || c.Host == g.DNSName(h.w.Record)
	})
}

// live runs passes while things happen.
func (h *history) live(steps int) {
	for range steps {
		h.trouble()
		h.pass()
		h.w.Tick(time.Duration(1+h.random.IntN(600)) * time.Second)
	}
}

func (h *history) pass() reconcile.PassDone {
	h.passes++
	h.tell("pass %d", h.passes)
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: h.w, Actor: h.w, Seed: h.seed + uint64(h.passes)*1000, Report: ui.Text(&h.story, ui.TextOptions{})}
	done, err := p.Run(h.t.Context())
	if err != nil {
		h.t.Fatalf("seed %d: %v\n%s", h.seed, err, h.story.String())
	}
	if !h.database().EveryKeyOnAtLeast(1) {
		h.fail("data is lost")
		h.t.FailNow()
	}
	return done
}

// trouble makes one thing happen, or ends what made trouble before.
func (h *history) trouble() {
	w := h.w
	switch h.random.IntN(14) {
	case 0:
		w.Record.Spec.ProcessCounts.Storage = 3 + h.random.IntN(4)
		w.Record.Generation++
		h.tell("spec: %d storage", w.Record.Spec.ProcessCounts.Storage)
	case 1:
		w.Record.Spec.ProcessCounts.Log = 4 + h.random.IntN(3)
		w.Record.Generation++
		h.tell("spec: %d log", w.Record.Spec.ProcessCounts.Log)
	case 2:
		if g := h.anyGroup(); g != nil {
			w.Record.Spec.ProcessGroupsToRemove = append(w.Record.Spec.ProcessGroupsToRemove, g.ProcessGroupID)
			w.Record.Generation++
			h.tell("spec: remove %s", g.ProcessGroupID)
		}
	case 3:
		h.breakOne()
	case 4:
		if g := h.anyGroup(); g != nil && len(w.Broken) == 0 {
			h.tell("the pod of %s is lost", g.ProcessGroupID)
			w.KillPod(g.PodName(w.Record))
		}
	case 5:
		h.fault("status is stale", fdbsim.Faults{StaleStatus: true})
	case 6:
		h.fault("status is partial", fdbsim.Faults{PartialStatus: true})
	case 7:
		h.fault("status times out", fdbsim.Faults{StatusTimeout: true})
	case 8:
		h.fault("data moves slowly", fdbsim.Faults{MoveBytesPerSecond: 100 << 10})
	case 9:
		h.fault("the next command is cut off", fdbsim.Faults{DropCommands: 1, ApplyUnknown: h.random.IntN(2) == 0})
	case 10:
		w.LockHolder = "dc2"
		h.tell("dc2 has the lock")
	case 11:
		w.Crash = len(w.Acted) + 1 + h.random.IntN(4)
		h.tell("the plugin dies before action %d", w.Crash)
	default:
		h.calm()
	}
}

func (h *history) fault(what string, f fdbsim.Faults) {
	h.tell("%s", what)
	h.database().SetFaults(f)
}

// breakOne breaks a group's servers, one at a time: more than the redundancy tolerates
// is no fault of ours.
func (h *history) breakOne() {
	if len(h.w.Broken) > 0 || !h.database().EveryKeyOnAtLeast(2) {
		return
	}
	if g := h.anyGroup(); g != nil && h.w.Pods[g.PodName(h.w.Record)] != nil {
		h.tell("%s is broken", g.ProcessGroupID)
		h.w.Broken = map[string]bool{g.PodName(h.w.Record): true}
		h.w.KillServers(g.PodName(h.w.Record))
	}
}

func (h *history) anyGroup() *v1beta2.ProcessGroupStatus {
	groups := h.w.Record.Status.ProcessGroups
	if len(groups) == 0 {
		return nil
	}
	return groups[h.random.IntN(len(groups))]
}

// calm ends all troubles but a broken group, which has to be replaced.
func (h *history) calm() {
	h.w.LockHolder, h.w.Crash = "", 0
	h.database().SetFaults(fdbsim.Faults{})
	for pod := range h.w.Broken {
		if h.w.Pods[pod] == nil {
			h.w.Broken = nil
		}
	}
}

// converge ends all troubles and runs passes until nothing is left to do.
func (h *history) converge(most int) {
	h.tell("all troubles end")
	h.calm()
	h.w.Broken = nil
	for range most {
		done := h.pass()
		if done.Outcome == reconcile.Done && h.w.Record.Status.Generations.Reconciled == h.w.Record.Generation {
			h.settled()
			return
		}
		h.w.Tick(max(done.RetryAfter, 30*time.Second))
	}
	h.fail("not converged after %d passes", most)
}

// settled asks what has to hold of a cluster that is as its spec asks.
func (h *history) settled() {
	for _, g := range h.w.Record.Status.ProcessGroups {
		if g.IsMarkedForRemoval() {
			h.fail("%s is still marked for removal", g.ProcessGroupID)
		}
	}
	if !h.database().EveryKeyOnAtLeast(2) {
		h.fail("data has too few replicas: %v", h.database().Replicas())
	}
	before := len(h.w.Acted)
	h.w.Tick(time.Minute)
	if done := h.pass(); done.Outcome != reconcile.Done || len(h.w.Acted) != before {
		h.fail("a converged cluster gets writes: %v", h.w.Acted[before:])
	}
}
