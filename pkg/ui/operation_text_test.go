package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

func TestOperationsAreRenderedAsText(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 10, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
	for name, c := range map[string]struct {
		v        inspect.OperationView
		absolute bool
		want     string
	}{
		"active":            {inspect.OperationView{Since: ago(2 * time.Minute), Seen: ago(time.Second), Active: true}, false, "replace sample storage-1, by ann@laptop, for 2m"},
		"with its ID":       {inspect.OperationView{ID: "run7", Since: ago(2 * time.Minute), Active: true}, false, "run7: replace sample storage-1, by ann@laptop, for 2m"},
		"at a time":         {inspect.OperationView{Since: ago(2 * time.Minute), Active: true}, true, "replace sample storage-1, by ann@laptop, since 2026-01-01T12:08:00Z"},
		"without its start": {inspect.OperationView{Active: true}, false, "replace sample storage-1, by ann@laptop, at an unknown time"},
		"ended": {
			inspect.OperationView{Since: ago(20 * time.Minute), Seen: ago(5 * time.Minute)},
			false,
			"replace sample storage-1, by ann@laptop, for 20m; it ended without a report: last seen 5m ago",
		},
	} {
		c.v.Command, c.v.Holder = "replace sample storage-1", "ann@laptop"
		if got := (StatusOptions{Now: now, Absolute: c.absolute}).operation(c.v); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLeftoversArePrintedWithCompleteAndRevertCommands(t *testing.T) {
	tests := map[string]struct {
		v    lists.Leftovers
		want string
	}{
		"nothing": {want: "nothing is half done\n"},
		"nothing that could be read": {
			v:    lists.Leftovers{Unknown: []lists.LeftoverKind{lists.LeftExcluded, lists.LeftMaintenance}},
			want: "nothing is half done (unknown: exclusions, zones under maintenance)\n",
		},
		"a group and a node": {
			v: lists.Leftovers{Items: []lists.Leftover{
				{Kind: lists.LeftMarked, Subjects: []string{"log-1"}, Complete: "kubectl fdb reconcile c --wait", Revert: "kubectl fdb replace c log-1 --undo --wait"},
				{Kind: lists.LeftCordoned, Subjects: []string{"node-1"}, Revert: "kubectl fdb uncordon c node-1"},
			}},
			want: "half done, whichever run began it:\n" +
				"  log-1 is marked for removal, and not excluded\n    complete: kubectl fdb reconcile c --wait\n    revert:   kubectl fdb replace c log-1 --undo --wait\n" +
				"  node node-1 is cordoned\n    revert:   kubectl fdb uncordon c node-1\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := WriteLeftovers(&b, tc.v); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// phases are the phases of a replacement, by the initial of each state.
func phases(states string) []reconcile.Phase {
	of := map[rune]reconcile.PhaseState{'d': reconcile.PhaseDone, 'r': reconcile.PhaseRunning, 'p': reconcile.PhasePending, 's': reconcile.PhaseSkipped, 'u': reconcile.PhaseUnknown}
	names := []reconcile.PhaseName{reconcile.PhaseMarked, reconcile.PhaseCreated, reconcile.PhaseJoined, reconcile.PhaseDrained, reconcile.PhaseDeleted, reconcile.PhaseIncluded}
	var all []reconcile.Phase
	for i, state := range states {
		all = append(all, reconcile.Phase{Name: names[i], State: of[state]})
	}
	return all
}

// A replacement from the mark to its end, as every view shows it: at its whole length, and in 80 cells.
func TestAnOperationIsShownFromItsMarkToItsEnd(t *testing.T) {
	now := inspecttest.Noon
	left, moved := int64(375<<20), int64(215<<20)
	moving := func(r reconcile.Replacement) reconcile.Replacement {
		r.LeftBytes, r.MovedBytes = &left, &moved
		return r
	}
	measured := func(r reconcile.Replacement) reconcile.Replacement {
		r = moving(r)
		r.RateBytesPerSecond, r.SoonestSeconds, r.LatestSeconds = new(4.8*(1<<20)), new(50.0), new(167.0)
		return r
	}
	replaced := func(states string) reconcile.Replacement {
		return reconcile.Replacement{ID: "storage-33641", Phases: phases(states)}
	}
	blocked := replaced("ddrppp")
	blocked.Blocker = &reconcile.Blocker{Group: "storage-88609", Code: "unscheduled", Message: "is Pending, no node fits: 0/5 nodes are available: 5 Insufficient cpu"}
	stalled := measured(replaced("dddrpp"))
	stalled.StalledSeconds, stalled.SoonestSeconds, stalled.LatestSeconds = new(240.0), nil, nil
	asked, expected := now.Add(-6*time.Minute), now.Add(33*time.Second)
	one := func(r reconcile.Replacement) reconcile.OperationProgress {
		return reconcile.OperationProgress{Passes: 5, Actions: 10, Targets: 1, Replacements: []reconcile.Replacement{r}, ReplacementsTotal: 1, FullyReplicated: new(true), Zones: new(1)}
	}
	with := func(p reconcile.OperationProgress, change func(*reconcile.OperationProgress)) reconcile.OperationProgress {
		change(&p)
		return p
	}
	rolling := func(processes, pods int) reconcile.OperationProgress {
		return reconcile.OperationProgress{Passes: 12, Actions: 30, Rollout: &reconcile.Rollout{Kind: reconcile.RolloutUpgrade, From: "7.3.79", To: "7.4.6", Phases: []reconcile.RolloutPhase{
			{Name: reconcile.RolloutOfProcesses, Done: &processes, Total: 16}, {Name: reconcile.RolloutOfTransaction, Done: &pods, Total: 8}, {Name: reconcile.RolloutOfStorage, Done: new(0), Total: 8},
		}}}
	}
	var b strings.Builder
	for _, scene := range []struct {
		about string
		p     reconcile.OperationProgress
	}{
		{"the first pass runs", reconcile.OperationProgress{}},
		{"marked", with(one(replaced("dppppp")), func(p *reconcile.OperationProgress) { p.ExpectedAt = &expected })},
		{"a pod is created", one(replaced("drpppp"))},
		{"no node fits it", one(blocked)},
		{"its user has to answer", with(one(blocked), func(p *reconcile.OperationProgress) { p.AskedAt = &asked })},
		{"the first read while data moves", with(one(moving(replaced("dddrpp"))), func(p *reconcile.OperationProgress) { p.ExpectedAt = &expected })},
		{"data moves", with(one(measured(replaced("dddrpp"))), func(p *reconcile.OperationProgress) {
			p.ExpectedAt, p.WaitingFor = &expected, "RemovePods: storage-33641: its exclusion is in progress"
		})},
		{"data moves, and another one follows", with(one(measured(replaced("dddrpp"))), func(p *reconcile.OperationProgress) { p.Targets = 2 })},
		{"nothing moves", one(stalled)},
		{"the database does not answer", with(one(replaced("ddurpp")), func(p *reconcile.OperationProgress) { p.FullyReplicated, p.Zones = nil, nil })},
		{"another zone was lost", with(one(measured(replaced("dddrpp"))), func(p *reconcile.OperationProgress) { p.FullyReplicated, p.Zones = new(false), new(0) })},
		{"drained", one(replaced("ddddrp"))},
		{"its exclusion remains", one(replaced("dddddr"))},
		{"nothing takes its place", one(replaced("dssrpp"))},
		{"12 of 14 at once", with(one(measured(replaced("dddrpp"))), func(p *reconcile.OperationProgress) { p.Targets, p.Reached, p.ReplacementsTotal = 14, 2, 12 })},
		{"an upgrade before the common restart", rolling(0, 0)},
		{"an upgrade whose pods are recreated", rolling(16, 5)},
		{"an upgrade while the database does not answer", with(rolling(16, 5), func(p *reconcile.OperationProgress) { p.Rollout.Phases[0].Done = nil })},
		{"all are removed", reconcile.OperationProgress{Passes: 9, Actions: 21, Reached: 1, Targets: 1}},
	} {
		v := inspect.OperationView{Command: "replace sample-cluster storage-33641 --wait", Holder: "ann@laptop", Progress: scene.p}
		fmt.Fprintf(&b, "%s\n  %s\n", scene.about, OperationWords(v, now))
		for _, cells := range []int{0, 80} {
			for _, line := range OperationLines(scene.p, now, cells) {
				fmt.Fprintf(&b, "%4d  %s\n", cells, Joined(line))
			}
		}
	}
	golden.RequireEqual(t, []byte(b.String()))
}

// The reason for which nothing goes on is shown beside phases that have not begun, and not beside one that runs.
func TestAReplacementShowsWhatItWaitsForBeforeAPhaseBegins(t *testing.T) {
	const reason = "exclusion waits: last recovery 1m28s ago, 2m0s required"
	drain := func(state reconcile.PhaseState) []reconcile.Replacement {
		return []reconcile.Replacement{{ID: "storage-1", Phases: []reconcile.Phase{{Name: reconcile.PhaseMarked, State: reconcile.PhaseDone}, {Name: reconcile.PhaseDrained, State: state}}}}
	}
	blocked := drain(reconcile.PhasePending)
	blocked[0].Blocker = &reconcile.Blocker{Group: "storage-2"}
	for name, tt := range map[string]struct {
		replacements []reconcile.Replacement
		shown        bool
	}{
		"no replacement":                {shown: true},
		"a phase that has not begun":    {replacements: drain(reconcile.PhasePending), shown: true},
		"a phase that runs":             {replacements: drain(reconcile.PhaseRunning)},
		"a successor that cannot start": {replacements: blocked},
	} {
		t.Run(name, func(t *testing.T) {
			p := reconcile.OperationProgress{WaitingFor: reason, Replacements: tt.replacements, ReplacementsTotal: len(tt.replacements)}
			if text := Joined(FitLine(OperationClauses(p, time.Time{}), Between, 0)); strings.Contains(text, reason) != tt.shown {
				t.Errorf("%q, want the reason: %t", text, tt.shown)
			}
		})
	}
}
