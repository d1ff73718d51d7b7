package inspect

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestWhatProcessGroupsReportedLastIsKeptWithItsTime(t *testing.T) {
	h := &ReportHistory{}
	known, silent := healthy(t), healthy(t)
	known.Database.AsOf, silent.Database = noon.Add(-time.Minute), plan.DatabaseFacts{Unreachable: "a timeout"}
	first := NewGroupListView(meta, silent)
	h.Recall(&first, time.Time{})
	if first.Items[0].LastReport != nil {
		t.Errorf("before any report: %+v", first.Items[0].LastReport)
	}
	v := NewGroupListView(meta, known)
	h.Recall(&v, known.Database.AsOf)
	if v.Items[0].LastReport != nil {
		t.Error("a report of now is shown as the last known one")
	}
	for range 2 { // it stays
		v = NewGroupListView(meta, silent)
		h.Recall(&v, time.Time{})
		for _, g := range v.Items {
			if g.LastReport == nil || !g.LastReport.AsOf.Equal(noon.Add(-time.Minute)) || g.LastReport.UptimeSeconds == nil || g.Roles != nil {
				t.Fatalf("%s: %+v", g.ID, g.LastReport)
			}
		}
	}
}
