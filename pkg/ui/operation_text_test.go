package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
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
