package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// A dashboard that changes something must not be labeled read-only.
func TestTheDashboardHeaderShowsWhetherItIsReadOnly(t *testing.T) {
	tests := map[string]struct {
		options     Options
		want, never string
	}{
		"it only shows":            {Options{}, "READ-ONLY", "RECONCILES"},
		"passes run":               {Options{Passes: true}, "RECONCILES", "READ-ONLY"},
		"keys act":                 {Options{Actions: &acting{}}, "ACTIONS", "READ-ONLY"},
		"passes run, and keys act": {Options{Passes: true, Actions: &acting{}}, "RECONCILES  ACTIONS", "READ-ONLY"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			head, _, _ := strings.Cut(shown(t, 100, 24, tc.options, frames(1)...).View(), "\n")
			if !strings.Contains(head, tc.want) || strings.Contains(head, tc.never) {
				t.Errorf("want %q, and not %q: %s", tc.want, tc.never, head)
			}
		})
	}
}

// A user must see that operators skip the cluster, until when, and why.
func TestTheDashboardHeaderShowsPausedOperators(t *testing.T) {
	f := lost()
	f.Status.Summary = "Healthy"
	f.Status.Reconciliation.Pause = &inspect.PauseView{By: "me@here", Reason: "slow commits", Until: new(f.AsOf.Add(time.Hour))}
	view := shown(t, 120, 30, Options{}, entry(f)).View()
	if !strings.Contains(view, "OPERATORS PAUSED") || !strings.Contains(view, "more: slow commits") {
		t.Errorf("no pause in %s", view)
	}
	f.Status.Reconciliation.Pause = nil
	if view := shown(t, 120, 30, Options{}, entry(f)).View(); strings.Contains(view, "PAUSED") {
		t.Errorf("a pause in %s", view)
	}
}

// The holder of the lock is shown also during a recovery, whose state takes room.
func TestDashboardHeaderIsNotTruncatedDuringARecovery(t *testing.T) {
	f := lost()
	f.Status.Database.FullyRecovered, f.Status.Database.RecoveryState = new(false), "all_logs_recruited"
	head := strings.Join(strings.Split(shown(t, 80, 24, Options{}, entry(f)).View(), "\n")[4:6], " ")
	for _, want := range []string{"recovery ! at all logs recruited", "lock east 8m30s"} {
		if !strings.Contains(head, want) || strings.Contains(head, "…") {
			t.Errorf("no %q in %s", want, head)
		}
	}
	f.Status.Database.Available, f.Status.Database.RecoveryState = new(false), "reading_coordinated_state"
	if view := shown(t, 80, 24, Options{}, entry(f)).View(); !strings.Contains(view, "recovery ✗ at reading coordinated state") {
		t.Errorf("a recovery without a database: %s", view)
	}
}

// A truncated sentence has an ellipsis, wherever it is cut.
func TestASummaryTruncatedAtAnyLengthEndsWithAnEllipsis(t *testing.T) {
	for length := range 30 {
		f := lost()
		f.Status.Summary = strings.Repeat("word ", 25) + strings.Repeat("x", length) + " and the end of it"
		lines := strings.Split(shown(t, 80, 24, Options{}, entry(f)).View(), "\n")
		if whole := strings.Contains(lines[1]+lines[2], "the end of it"); !whole && !strings.HasSuffix(lines[2], "…") {
			t.Errorf("length %d: %q", length, lines[2])
		}
	}
}

// However little room there is, the last line shows what is omitted, help and quit.
func TestTheLastDashboardLineAlwaysShowsHelpAndQuit(t *testing.T) {
	f := lost()
	for i := range 30 {
		f.Groups.Items = append(f.Groups.Items, inspect.GroupView{ID: fmt.Sprintf("log-%d", 100+i), Class: "log"})
	}
	tests := map[string]struct {
		keys []string
		want string
	}{
		"rows that do not fit":           {want: "rows 1-"},
		"rows that do not fit, scrolled": {keys: []string{"G"}, want: fmt.Sprintf("-%d of %d", len(f.Groups.Items), len(f.Groups.Items))},
		"rows that fit":                  {keys: []string{"2"}, want: "o order"},
		"a text that does not fit":       {keys: []string{"?"}, want: "lines 1-"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 80, 24, Options{Actions: &acting{}}, entry(f)), tc.keys...).View()
			last := view[strings.LastIndex(view, "\n")+1:]
			if !strings.Contains(last, tc.want) || !strings.HasSuffix(last, "? help  q quit") {
				t.Errorf("want %q: %s", tc.want, last)
			}
		})
	}
}

// What a colleague runs is shown without an own pass: who, since when, and how far.
func TestTheDashboardHeaderShowsOperationsOfOtherUsers(t *testing.T) {
	operation := inspect.OperationView{
		ID: "r7", Command: "replace sample storage-1 --wait", Holder: "alice@laptop process 7", User: "alice@laptop", Since: ago(3 * time.Minute), Seen: ago(10 * time.Second), Active: true,
		Progress: reconcile.OperationProgress{Passes: 4, Actions: 9, Reached: 1, Targets: 3, WaitingFor: "data to move"},
	}
	tests := map[string]struct {
		change func(*inspect.OperationView)
		want   string
	}{
		"it goes on":                {func(*inspect.OperationView) {}, "operation for 3m: replace sample storage-1 --wait · by alice@laptop · 1 of 3 done · 9 actions in 4 passes · waiting: data to move"},
		"it is to end":              {func(o *inspect.OperationView) { o.Abort = &reconcile.OperationAbort{ID: "r7"} }, "operation to be aborted: replace sample"},
		"its user has not answered": {func(o *inspect.OperationView) { o.Progress.AskedAt = ago(6 * time.Minute) }, "operation waiting for an answer of alice@laptop for 6m: replace sample"},
		"its run does not report":   {func(o *inspect.OperationView) { o.Active, o.Seen = false, ago(10*time.Minute) }, "operation without a report for 10m: replace sample"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, o := well(), operation
			tc.change(&o)
			f.Status.Locks.Operation = &o
			if view := shown(t, 160, 30, Options{}, entry(f)).View(); !strings.Contains(view, tc.want) {
				t.Errorf("%q is missing in\n%s", tc.want, view)
			}
		})
	}
	if view := shown(t, 160, 30, Options{}, entry(well())).View(); strings.Contains(view, "operation") {
		t.Errorf("there is none, in\n%s", view)
	}
}

// Half a number is another number, and half an ID names nothing: at each width the lines of the header, of the summary and of the
// progress are whole, without their least important parts, or end after a whole word.
func TestNothingOfAnOperationIsCutWithinAWord(t *testing.T) {
	stuck := moving("storage-33641")
	stuck.Blocker = &reconcile.Blocker{Group: "storage-88609", Code: "unscheduled", Message: "is Pending, no node fits: 0/5 nodes are available: 5 Insufficient cpu, 2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }"}
	progress := reconcile.OperationProgress{
		Passes: 14, Actions: 1093, Reached: 1, Targets: 3, Replacements: []reconcile.Replacement{stuck}, ReplacementsTotal: 1, FullyReplicated: new(false), Zones: new(0),
		Rollout: &reconcile.Rollout{Kind: reconcile.RolloutUpgrade, From: "7.3.79", To: "7.4.6", Phases: []reconcile.RolloutPhase{{Name: reconcile.RolloutOfProcesses, Done: new(11), Total: 16}, {Name: reconcile.RolloutOfStorage, Done: new(0), Total: 8}}},
	}
	waiting := progress
	waiting.Replacements, waiting.ReplacementsTotal, waiting.WaitingFor = nil, 0, "RemovePods: storage-33641, storage-33642: their exclusion is in progress since 12:00:01"
	for name, p := range map[string]reconcile.OperationProgress{"a replacement": progress, "a pass that waits": waiting} {
		t.Run(name, func(t *testing.T) {
			f := lost()
			f.Operation = &inspect.OperationView{
				ID: "r7", Command: "replace sample storage-33641 storage-33642 storage-33643 --wait", Holder: "alice@laptop process 7", User: "alice@laptop", Since: ago(3 * time.Minute), Seen: ago(10 * time.Second), Active: true, Progress: p,
			}
			whole := words(pressed(shown(t, 1000, 60, Options{}, entry(f)), "8").View())
			for width := 60; width <= 200; width += 5 {
				for _, height := range []int{15, 24, 40} {
					m := pressed(shown(t, width, height, Options{}, entry(f)), "8")
					s := m.clusterView()
					lines := slices.Concat(m.workLines(s, maxWorkLines), m.page(s).head(width), s.rolloutLine(width), s.phasesLine(width))
					for _, l := range lines {
						if widthOf(l.Text()) > width {
							t.Errorf("at %d columns: %q is longer", width, l.Text())
						}
						for word := range words(l.Text()) {
							if !whole[word] && word != "…" {
								t.Errorf("at %dx%d %q is cut in %q", width, height, word, l.Text())
							}
						}
					}
					if text := linesOf(lines)[0]; !strings.Contains(strings.Join(linesOf(lines), " "), "not fully replicated") && p.ReplacementsTotal > 0 {
						t.Errorf("at %dx%d the danger is left out: %q", width, height, text)
					}
				}
			}
		})
	}
}

// words returns the words of a text.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}
