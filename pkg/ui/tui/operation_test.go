package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// moving is a replacement whose data moves.
func moving(id string) reconcile.Replacement {
	return reconcile.Replacement{
		ID: id, Since: ago(2 * time.Minute), LeftBytes: new(int64(375 << 20)), RateBytesPerSecond: new(4.8 * (1 << 20)), SoonestSeconds: new(50.0), LatestSeconds: new(167.0),
		Phases: []reconcile.Phase{
			{Name: reconcile.PhaseMarked, State: reconcile.PhaseDone},
			{Name: reconcile.PhaseCreated, State: reconcile.PhaseDone},
			{Name: reconcile.PhaseJoined, State: reconcile.PhaseDone},
			{Name: reconcile.PhaseDrained, State: reconcile.PhaseRunning},
			{Name: reconcile.PhaseDeleted, State: reconcile.PhasePending},
			{Name: reconcile.PhaseIncluded, State: reconcile.PhasePending},
		},
	}
}

// View 8 has the whole operation, whoever runs it, and the header its phases.
func TestTheDashboardShowsAnOperationAndThoseThatEnded(t *testing.T) {
	f := well()
	blocked := moving("storage-2")
	blocked.Phases[2].State, blocked.Phases[3].State = reconcile.PhaseRunning, reconcile.PhasePending
	blocked.Blocker = &reconcile.Blocker{Group: "storage-9", Code: "unscheduled", Message: "is Pending, no node fits: 0/5 nodes are available: 5 Insufficient cpu"}
	f.Operation = &inspect.OperationView{
		ID: "r7", Command: "replace sample storage-1 storage-2 --wait", Holder: "alice@laptop process 7", User: "alice@laptop", Since: ago(3 * time.Minute), Seen: ago(10 * time.Second), Active: true,
		Progress: reconcile.OperationProgress{Passes: 4, Actions: 9, Targets: 2, Replacements: []reconcile.Replacement{moving("storage-1")}, ReplacementsTotal: 1, FullyReplicated: new(true), Zones: new(1)},
	}
	f.Finished = []frame.FinishedRun{{ID: "r6", Run: inspect.Run{Command: "kubectl fdb restart sample --context lab", Typed: "kubectl fdb restart sample", User: "bob@desk", Reason: "CHG-41", Since: *ago(9 * time.Minute), Until: *ago(7 * time.Minute), Actions: 12}}}
	view := pressed(shown(t, 160, 40, Options{}, entry(f)), "8").View()
	for _, want := range []string{
		"operation for 3m: replace sample storage-1 storage-2 --wait · by alice@laptop · at least 50s left · 0 of 2 done · 9 actions in 4 passes · fully replicated",
		"storage-1  ✓ marked  ✓ created  ✓ joined  ▸ draining 375MiB left at 4.8MiB/s  ○ delete  ○ include",
		"storage-1      draining", "7m ago", "bob@desk", "kubectl fdb restart sample", "CHG-41",
	} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is missing in\n%s", want, view)
		}
	}
	f.Operation.Progress.Replacements = []reconcile.Replacement{blocked}
	view = pressed(shown(t, 160, 40, Options{}, entry(f)), "8").View()
	if want := "storage-2 joining 2m storage-9 is Pending, no node fits: 0/5 nodes"; !strings.Contains(strings.Join(strings.Fields(view), " "), strings.Join(strings.Fields(want), " ")) || strings.Contains(view, " left ·") {
		t.Errorf("%q is missing in\n%s", want, view)
	}
	f.Operation.Progress.Replacements = []reconcile.Replacement{moving("storage-1"), blocked}
	if view := shown(t, 160, 40, Options{}, entry(f)).View(); !strings.Contains(view, "storage-2  ✓ marked  ✓ created  ▸ joining") || strings.Contains(view, "storage-1  ✓ marked") {
		t.Errorf("the header has another one than that which is blocked:\n%s", view)
	}
	f.Operation = &inspect.OperationView{Progress: reconcile.OperationProgress{Replacements: []reconcile.Replacement{moving("storage-1")}, ReplacementsTotal: 1}}
	if view := shown(t, 160, 40, Options{}, entry(f)).View(); !strings.Contains(view, "replacement that no operation reports · ") {
		t.Errorf("without a run:\n%s", view)
	}
	for i := range f.Operation.Progress.Replacements[0].Phases {
		f.Operation.Progress.Replacements[0].Phases[i].State = reconcile.PhaseDone
	}
	f.Operation.Progress.Replacements[0].Phases[5].State = reconcile.PhaseRunning
	if view := shown(t, 160, 40, Options{}, entry(f)).View(); !strings.Contains(view, "only the inclusion of removed process groups remains") || strings.Contains(view, "no operation reports") {
		t.Errorf("after the run, which leaves the inclusion to a later one:\n%s", view)
	}
}
