package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
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
		fmt.Fprintf(&b, "# %dx%d\n%s", size[0], size[1], kept(pressed(shown(t, size[0], size[1], Options{}, underLoad(30)...), "0").View()))
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
	course := func(m model) string { return strings.TrimSpace(loadPage(m.clusterView()).rows[0].cells[3].Text) }
	m := shown(t, 120, 40, Options{}, underLoad(4)...)
	if now, before := course(m), course(pressed(m, "[")); len([]rune(now)) != 4 || len([]rune(before)) != 3 {
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
	if len(rows) == 0 || !strings.HasPrefix(rows[0].cells[3].Text, " █") {
		t.Errorf("%+v", rows)
	}
}

func TestDisksHaveBarsOnAWideTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		width int
		bars  bool
	}{"a wide terminal": {200, true}, "a narrow one": {120, false}} {
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
