package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
)

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// every returns documents, one every two seconds until noon, the oldest first.
func every(n int, load func(i int) workload.Load) []*workload.View {
	documents := make([]*workload.View, n)
	for i := range documents {
		at := noon.Add(time.Duration(i-n+1) * 2 * time.Second)
		documents[i] = &workload.View{Document: inspect.Document{AsOf: &at}, Load: load(i)}
	}
	return documents
}

// idle is the load of a database without clients.
func idle(int) workload.Load {
	return workload.Load{
		Transactions: workload.TransactionLoad{StartedPerSecond: new(5.0), CommittedPerSecond: new(0.4), ConflictedPerSecond: new(0.0)},
		Operations:   workload.OperationLoad{ReadsPerSecond: new(12.0), WritesPerSecond: new(0.4)},
		Latency:      workload.Latency{StartSeconds: new(0.0004), ReadSeconds: new(0.0003), CommitSeconds: new(0.002)},
		Ratekeeper:   workload.Ratekeeper{LimitPerSecond: new(1e6)},
		Queues:       workload.Queues{StorageBytes: new(int64(200)), LogBytes: new(int64(200))},
		Lag:          workload.Lags{DurabilitySeconds: new(5.0)},
		Data:         workload.Data{InFlightBytes: new(int64(0))},
	}
}

// A database without clients has low lines only: what never changes is not a wall.
func TestAnIdleDatabaseLooksIdle(t *testing.T) {
	for _, c := range coursesOf(every(300, idle)) {
		if low := strings.Repeat("▁", courseCells); !strings.HasPrefix(c.Cells[CourseCell], low) || !strings.HasPrefix(c.Tall.Lines[1], low) {
			t.Errorf("%s: %q, %q", c.Key, c.Cells[CourseCell], c.Tall)
		}
	}
}

func TestFiguresThatCountTheSameHaveOneScale(t *testing.T) {
	load := func(int) workload.Load {
		l := idle(0)
		l.Transactions.StartedPerSecond, l.Operations.ReadsPerSecond = new(4000.0), new(70_000.0)
		l.Ratekeeper.LimitPerSecond = new(20_000.0)
		l.Latency.CommitSeconds = new(0.4)
		l.Data.InFlightBytes = new(int64(5 << 30))
		return l
	}
	limits := map[string][2]string{}
	for _, c := range coursesOf(every(3, load)) {
		limits[c.Key] = [2]string{c.Cells[CourseCell+1], c.Cells[CourseCell+2]}
	}
	want := map[string][2]string{
		"started": {"20k/s", "20k/s"}, "committed": {"-", "20k/s"}, "conflicted": {"-", "20k/s"},
		"reads": {"-", "100k/s"}, "writes": {"-", "100k/s"},
		"time to start": {"100ms", "500ms"}, "time to read": {"100ms", "500ms"}, "time to commit": {"250ms", "500ms"},
		"storage queue": {"858MiB", "1.9GiB"}, "log queue": {"1.9GiB", "1.9GiB"},
		"durability lag": {"4m10s", "4m10s"}, "moving": {"-", "8.0GiB"},
	}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Error(diff)
	}
}

func TestGraphsAreDrawnOnTheirScale(t *testing.T) {
	values := func(of ...float64) []*float64 {
		all := make([]*float64, len(of))
		for i, n := range of {
			if n >= 0 {
				all[i] = new(n)
			}
		}
		return all
	}
	tests := map[string]struct {
		values []*float64
		limit  *float64
		low    string
		tall   [2]string
		scale  [2]string
	}{
		"up to the top":               {values(0, 25, 50, 75, 100), nil, "▁▂▄▆█│", [2]string{"   ▄█│", "▁▄███│"}, [2]string{"100/s", "0"}},
		"above it":                    {values(200), nil, "█│", [2]string{"█│", "█│"}, [2]string{"100/s", "0"}},
		"an unknown value":            {values(100, -1, 100), nil, "█ █│", [2]string{"█ █│", "█ █│"}, [2]string{"100/s", "0"}},
		"a limit in the upper half":   {values(0, 90), new(80.0), "▁▇┤", [2]string{"╌▆┤", "▁█│"}, [2]string{"80/s", "0"}},
		"a limit in the lower half":   {values(0, 90), new(40.0), "▁▇┤", [2]string{" ▆│", "▁█┤"}, [2]string{"100/s", "40/s"}},
		"a limit above the scale":     {values(0, 90), new(400.0), "▁▇│", [2]string{" ▆│", "▁█│"}, [2]string{"100/s", "0"}},
		"an unknown value at a limit": {values(-1), new(100.0), " ┤", [2]string{"╌┤", " │"}, [2]string{"100/s", "0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := graph{axis: axis{unit: workload.PerSecond, top: 100}, values: tc.values, limit: tc.limit}
			if diff := cmp.Diff(tc.low, g.line(0, halfHeight)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(Tall{tc.tall, tc.scale}, g.tall()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A cell is 20 seconds and has their highest value; the last one is now.
func TestACourseShowsTheLastTenMinutes(t *testing.T) {
	load := func(i int) workload.Load {
		l := idle(i)
		if i == 395 {
			l.Operations.ReadsPerSecond = new(1000.0)
		}
		return l
	}
	course := func(documents []*workload.View) string { return coursesOf(documents)[3].Cells[CourseCell] }
	documents := every(400, load)
	if got, want := course(documents), strings.Repeat("▁", courseCells-1)+"█│"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := course(documents[380:]), strings.Repeat(" ", courseCells-2)+"▁█│"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	documents[398], documents[399].AsOf = nil, new(noon.Add(time.Minute))
	if got, want := course(documents[390:]), strings.Repeat(" ", courseCells-4)+"█  ▁│"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if rows := coursesOf(append(documents, nil)); rows != nil {
		t.Errorf("rows of an unknown document: %+v", rows)
	}
}

// coursesOf returns the rows of the last of some documents.
func coursesOf(documents []*workload.View) []Course {
	var before []*Sample
	var last *Sample
	for _, v := range documents {
		last = NewSample(v, last)
		before = append(before, last)
	}
	return Courses(before, documents[len(documents)-1])
}
