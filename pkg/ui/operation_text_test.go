package ui

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func TestAnOperationInWords(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 10, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
	for name, c := range map[string]struct {
		v        inspect.OperationView
		absolute bool
		want     string
	}{
		"active":            {inspect.OperationView{Since: ago(2 * time.Minute), Seen: ago(time.Second), Active: true}, false, "replace sample storage-1, by ann@laptop, for 2m"},
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
