package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Course is a row of the dashboard: a figure of the database, or a process, now and in the documents
// before.
type Course struct {
	// Key identifies the row in all documents; Group is the process group, empty for none.
	Key, Group string
	// Cells are the subject, its figure now, its course, and the disk, queue and lag of a process.
	Cells []string
	// DiskBusy is the share of time in which the disk of the process was busy; nil when unknown, and
	// for what keeps no data.
	DiskBusy *float64
	// Unknown is true where the figure, or the CPU of the process, is not reported.
	Unknown bool
	// Effect is that of the worst cause about it; empty for none.
	Effect workload.Effect
	// Causes are those about it.
	Causes []workload.Cause
}

// CourseColumns are the titles of the cells.
func CourseColumns() []string { return []string{"SUBJECT", "NOW", "COURSE", "DISK", "QUEUE", "LAG"} }

// courseCells is the width of a course.
const courseCells = 24

// figure is one of the database as a whole, with the causes that are about it.
type figure struct {
	name  string
	unit  workload.Unit
	value func(workload.Load) *float64
	codes []workload.Code
}

func figures() []figure {
	bytes := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		return new(float64(*n))
	}
	return []figure{
		{"started", workload.PerSecond, func(l workload.Load) *float64 { return l.Transactions.StartedPerSecond }, []workload.Code{workload.RatekeeperLimit, workload.BatchLimit, workload.ThrottledTags, workload.RejectedStarts}},
		{"committed", workload.PerSecond, func(l workload.Load) *float64 { return l.Transactions.CommittedPerSecond }, []workload.Code{workload.CommitProxies, workload.Resolvers}},
		{"conflicted", workload.PerSecond, func(l workload.Load) *float64 { return l.Transactions.ConflictedPerSecond }, []workload.Code{workload.Conflicts}},
		{"reads", workload.PerSecond, func(l workload.Load) *float64 { return l.Operations.ReadsPerSecond }, nil},
		{"writes", workload.PerSecond, func(l workload.Load) *float64 { return l.Operations.WritesPerSecond }, nil},
		{"time to start", workload.Seconds, func(l workload.Load) *float64 { return l.Latency.StartSeconds }, []workload.Code{workload.StartLatency, workload.GRVProxies}},
		{"time to read", workload.Seconds, func(l workload.Load) *float64 { return l.Latency.ReadSeconds }, []workload.Code{workload.ReadLatency}},
		{"time to commit", workload.Seconds, func(l workload.Load) *float64 { return l.Latency.CommitSeconds }, []workload.Code{workload.CommitLatency}},
		{"storage queue", workload.Bytes, func(l workload.Load) *float64 { return bytes(l.Queues.StorageBytes) }, []workload.Code{workload.StorageQueue, workload.StorageQueueGrows}},
		{"log queue", workload.Bytes, func(l workload.Load) *float64 { return bytes(l.Queues.LogBytes) }, []workload.Code{workload.LogQueue}},
		{"durability lag", workload.Seconds, func(l workload.Load) *float64 { return l.Lag.DurabilitySeconds }, []workload.Code{workload.DurabilityLag}},
		{"moving", workload.Bytes, func(l workload.Load) *float64 { return bytes(l.Data.InFlightBytes) }, []workload.Code{workload.DataMovement}},
	}
}

// Courses returns the rows of the last of some documents, the oldest first; those that are unknown
// are nil. The processes with the most CPU come first.
func Courses(documents []*workload.View) []Course {
	if len(documents) == 0 || documents[len(documents)-1] == nil {
		return nil
	}
	last := *documents[len(documents)-1]
	var rows []Course
	for _, f := range figures() {
		c := Course{Key: f.name, Unknown: f.value(last.Load) == nil, Cells: []string{f.name, in(f.unit, f.value(last.Load), phrase.UnknownCell), course(documents, func(v workload.View) *float64 { return f.value(v.Load) }), "", "", ""}}
		c.about(last, func(cause workload.Cause) bool { return slices.Contains(f.codes, cause.Code) })
		rows = append(rows, c)
	}
	processes := slices.Clone(last.Processes)
	workload.Sort(processes, workload.ByCPU)
	for _, p := range processes {
		rows = append(rows, processCourse(documents, last, p))
	}
	return rows
}

func processCourse(documents []*workload.View, last workload.View, p workload.ProcessLoad) Course {
	busy := func(v workload.View) *float64 {
		i := slices.IndexFunc(v.Processes, func(o workload.ProcessLoad) bool { return o.Subject() == p.Subject() })
		if i < 0 {
			return nil
		}
		return v.Processes[i].Busy()
	}
	disk, diskBusy := phrase.Nothing, (*float64)(nil)
	if p.Has(fdb.RoleStorage) || p.Has(fdb.RoleLog) {
		diskBusy = p.DiskBusy
		disk = strings.TrimSpace(percent(p.DiskBusy))
	}
	c := Course{Key: p.Address, Group: p.Group, Unknown: p.Busy() == nil, DiskBusy: diskBusy, Cells: []string{
		p.Subject(), "cpu " + strings.TrimSpace(percent(p.Busy())), shareCourse(documents, busy), disk, phrase.BytesOr(p.QueueBytes, phrase.Nothing), orNothing(lag(p.Lag()), p.Lag()),
	}}
	c.about(last, func(cause workload.Cause) bool { return slices.Contains(cause.Subjects, p.Subject()) })
	return c
}

// about adds the causes that match, the worst effect first, as all causes are ordered.
func (c *Course) about(v workload.View, match func(workload.Cause) bool) {
	for _, cause := range v.Causes {
		if match(cause) {
			c.Causes = append(c.Causes, cause)
		}
	}
	if len(c.Causes) > 0 {
		c.Effect = c.Causes[0].Effect
	}
}

// course draws a figure in the last documents, up to its largest value.
func course(documents []*workload.View, value func(workload.View) *float64) string {
	values := valuesOf(documents, value)
	largest := 0.0
	for _, n := range values {
		if n != nil {
			largest = max(largest, *n)
		}
	}
	return Sparkline(values, largest)
}

// shareCourse draws a share, up to all of it.
func shareCourse(documents []*workload.View, value func(workload.View) *float64) string {
	return Sparkline(valuesOf(documents, value), 1)
}

func valuesOf(documents []*workload.View, value func(workload.View) *float64) []*float64 {
	documents = documents[max(0, len(documents)-courseCells):]
	values := make([]*float64, len(documents))
	for i, v := range documents {
		if v != nil {
			values[i] = value(*v)
		}
	}
	return values
}

// Sparkline draws values as bars of up to full height at top; unknown values are blank.
func Sparkline(values []*float64, top float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range values {
		switch {
		case n == nil:
			b.WriteRune(' ')
		case top <= 0:
			b.WriteRune(bars[0])
		default:
			b.WriteRune(bars[int(max(0, min(1, *n/top))*float64(len(bars)-1)+0.5)])
		}
	}
	return fmt.Sprintf("%-*s", courseCells, b.String())
}
