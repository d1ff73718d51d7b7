package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	ui "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// underLoad returns frames of a database whose storage queue fills, every two seconds until noon.
func underLoad(frames int) []Entry {
	var entries []Entry
	for i := range frames {
		at := noon.Add(time.Duration(i-frames+1) * 2 * time.Second)
		n := float64(i+1) / float64(frames)
		f := well()
		f.AsOf = &at
		v := workload.View{Document: f.Document, State: workload.Fine}
		v.Load = workload.Load{
			Transactions: workload.TransactionLoad{StartedPerSecond: new(4000 * n), CommittedPerSecond: new(3000 * n), ConflictedPerSecond: new(0.0)},
			Operations:   workload.OperationLoad{ReadsPerSecond: new(10_000.0), WritesPerSecond: new(30_000 * n)},
			Latency:      workload.Latency{StartSeconds: new(0.02 * n), ReadSeconds: new(0.0004)},
			Queues:       workload.Queues{StorageBytes: new(int64(900e6 * n)), LogBytes: new(int64(600e6 * n))},
			Lag:          workload.Lags{DurabilitySeconds: new(150 * n)},
			Data:         workload.Data{InFlightBytes: new(int64(0))},
		}
		v.Processes = []workload.ProcessLoad{
			{Address: "10.0.0.1:4501", Group: "storage-1", Class: "storage", Roles: []string{"storage"}, CPUCores: new(n), DiskBusy: new(n * n), QueueBytes: new(int64(900e6 * n)), DurabilityLagSeconds: new(150 * n)},
			{Address: "10.0.1.2:4501", Group: "stateless-2", Class: "stateless", Roles: []string{}, CPUCores: new(0.1)},
			{Address: "10.0.1.3:4501", Group: "log-3", Class: "log", Roles: []string{}},
		}
		if i == frames-1 {
			v.State = workload.Slow
			v.Causes = []workload.Cause{
				{Code: workload.StorageQueue, Effect: workload.Slows, Subjects: []string{"storage-1"}, Summary: "a storage server has 858MiB in memory that are not on disk yet, limit 858MiB"},
				{Code: workload.StartLatency, Effect: workload.Near, Subjects: []string{workload.Database}, Summary: "it takes 20ms to start a transaction, usually up to 1.0ms"},
			}
		}
		f.Workload = &v
		entries = append(entries, Entry{At: at, Cluster: "sample", Frame: f})
	}
	return entries
}

func TestTheLoadViewShowsLoadOverTime(t *testing.T) {
	var b strings.Builder
	for _, size := range sizes {
		fmt.Fprintf(&b, "# %dx%d\n%s", size[0], size[1], kept(pressed(shown(t, size[0], size[1], Options{}, underLoad(300)...), "0").View()))
	}
	golden.RequireEqual(t, []byte(b.String()))
}

func TestProcessLoadDetailsShowTheCauses(t *testing.T) {
	m := shown(t, 120, 40, Options{}, underLoad(3)...)
	s := m.clusterView()
	var details string
	for _, r := range loadPage(s).rows {
		if r.group == "storage-1" {
			for _, l := range r.more(s) {
				details += l.Text() + "\n"
			}
		}
	}
	for _, want := range []string{"Load of storage-1", "cpu 100%", "storage-queue", "kubectl fdb why sample --performance"} {
		if !strings.Contains(details, want) {
			t.Errorf("no %q in:\n%s", want, details)
		}
	}
}

// A step back in time shows the course up to then.
func TestLoadHistoryEndsAtTheDisplayedTime(t *testing.T) {
	course := func(m model) string {
		return strings.Trim(loadPage(m.clusterView()).rows[0].cells[1+ui.CourseCell].Text, " │")
	}
	m := shown(t, 120, 39, Options{}, underLoad(25)...) // of 20 seconds each
	if now, before := course(m), course(pressed(m, strings.Repeat("[", 12))); now != "▁▄▆" || before != "▁▃" {
		t.Errorf("now %q, before %q", now, before)
	}
}

func TestTheLoadViewIsEmptyWithoutWorkloadData(t *testing.T) {
	f := well()
	m := shown(t, 80, 24, Options{}, entry(f))
	if p := loadPage(m.clusterView()); len(p.rows) != 0 || p.empty == "" {
		t.Errorf("%+v", p)
	}
	after := *f
	after.Workload = underLoad(1)[0].Frame.Workload
	rows := loadPage(shown(t, 80, 24, Options{}, entry(f), Entry{At: noon.Add(time.Second), Cluster: "sample", Frame: &after}).clusterView()).rows
	if len(rows) == 0 || !strings.HasSuffix(rows[0].cells[1+ui.CourseCell].Text, " ▆│") {
		t.Errorf("%+v", rows)
	}
}

func TestDisksHaveBarsOnAWideTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		width int
		bars  bool
	}{"a wide terminal": {260, true}, "a narrow one": {120, false}} {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, tt.width, 40, Options{}, underLoad(3)...), "0").View()
			if strings.Contains(view, "DISK-BUSY") != tt.bars || strings.Contains(view, strings.Repeat("█", 9)) != tt.bars {
				t.Errorf("bars of disks, want %t:\n%s", tt.bars, view)
			}
			if n := strings.Count(view, "░"); n > 0 {
				t.Errorf("%d cells of bars for disks that are not reported", n)
			}
		})
	}
}

// From 120x40 on a graph has two lines, and the keys move from row to row.
func TestGraphsHaveTwoLinesOnALargeTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		width, height int
		lines         int
	}{"a large terminal": {120, 40, 2}, "a narrow one": {119, 40, 1}, "a low one": {120, 39, 1}} {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(pressed(shown(t, tt.width, tt.height, Options{}, underLoad(300)...), "0", "j").View(), "\n")
			at := func(text string) int {
				return slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
			}
			if n := at("❯✓  committed") - at("✓  started"); n != tt.lines {
				t.Errorf("%d lines per row, want %d in\n%s", n, tt.lines, strings.Join(lines, "\n"))
			}
		})
	}
}

// However far the cursor is, its row is visible with both of its lines.
func TestTheSelectedProcessIsVisibleAmongTallRows(t *testing.T) {
	entries := underLoad(3)
	for _, e := range entries {
		for i := range 60 {
			e.Frame.Workload.Processes = append(e.Frame.Workload.Processes, workload.ProcessLoad{Address: fmt.Sprintf("10.0.2.%d:4501", i), Group: fmt.Sprintf("storage-%d", 100+i), CPUCores: new(0.1)})
		}
	}
	m := pressed(shown(t, 120, 40, Options{}, entries...), "0")
	for range 80 {
		m = pressed(m, "j")
		if view := m.View(); !strings.Contains(view, markChosen+"✓") && !strings.Contains(view, markChosen+"!") && !strings.Contains(view, markChosen+"✗") && !strings.Contains(view, markChosen+"?") {
			t.Fatalf("no selected row in\n%s", view)
		}
	}
}
