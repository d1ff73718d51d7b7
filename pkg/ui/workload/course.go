package workload

import (
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
	// Cells are the subject, its figure now, its course, the limit and the scale of that, and the disk, queue and lag of a
	// process.
	Cells []string
	// Tall is the course in two lines, which stand in for the course, the limit and the scale.
	Tall Tall
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

// Tall is a course in two lines, the upper one first.
type Tall struct {
	Lines, Scale [2]string
}

// The indexes of the course, its limit and its scale among the cells.
const (
	CourseCell = 2 + iota
	LimitCell
	ScaleCell
)

// CourseColumns are the titles of the cells.
func CourseColumns() []string {
	return []string{"SUBJECT", "NOW", "LAST-10M", "LIMIT", "SCALE", "DISK", "QUEUE", "LAG"}
}

// figure is one of the database as a whole.
type figure struct {
	name  string
	axis  *axis
	value func(workload.Load) *float64
	// limit is the value that slows the database down; nil where none is known.
	limit func(workload.Load) *float64
	// codes are the causes that are about it.
	codes []workload.Code
}

func figures() []figure {
	bytes := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		return new(float64(*n))
	}
	none := func(workload.Load) *float64 { return nil }
	slow := func(code workload.Code) func(workload.Load) *float64 {
		return func(workload.Load) *float64 { return new(workload.RuleOf(code).Slow) }
	}
	transactions, operations := &axis{unit: workload.PerSecond, least: 1000}, &axis{unit: workload.PerSecond, least: 1000}
	latency, lag := &axis{unit: workload.Seconds}, &axis{unit: workload.Seconds}
	queue, moved := &axis{unit: workload.Bytes}, &axis{unit: workload.Bytes, least: workload.RuleOf(workload.DataMovement).Near}
	return []figure{
		{"started", transactions, func(l workload.Load) *float64 { return l.Transactions.StartedPerSecond }, func(l workload.Load) *float64 { return l.Ratekeeper.LimitPerSecond }, []workload.Code{workload.RatekeeperLimit, workload.BatchLimit, workload.ThrottledTags, workload.RejectedStarts}},
		{"committed", transactions, func(l workload.Load) *float64 { return l.Transactions.CommittedPerSecond }, none, []workload.Code{workload.CommitProxies, workload.Resolvers}},
		{"conflicted", transactions, func(l workload.Load) *float64 { return l.Transactions.ConflictedPerSecond }, none, []workload.Code{workload.Conflicts}},
		{"reads", operations, func(l workload.Load) *float64 { return l.Operations.ReadsPerSecond }, none, nil},
		{"writes", operations, func(l workload.Load) *float64 { return l.Operations.WritesPerSecond }, none, nil},
		{"time to start", latency, func(l workload.Load) *float64 { return l.Latency.StartSeconds }, slow(workload.StartLatency), []workload.Code{workload.StartLatency, workload.GRVProxies}},
		{"time to read", latency, func(l workload.Load) *float64 { return l.Latency.ReadSeconds }, slow(workload.ReadLatency), []workload.Code{workload.ReadLatency}},
		{"time to commit", latency, func(l workload.Load) *float64 { return l.Latency.CommitSeconds }, slow(workload.CommitLatency), []workload.Code{workload.CommitLatency}},
		{"storage queue", queue, func(l workload.Load) *float64 { return bytes(l.Queues.StorageBytes) }, slow(workload.StorageQueue), []workload.Code{workload.StorageQueue, workload.StorageQueueGrows}},
		{"log queue", queue, func(l workload.Load) *float64 { return bytes(l.Queues.LogBytes) }, slow(workload.LogQueue), []workload.Code{workload.LogQueue}},
		{"durability lag", lag, func(l workload.Load) *float64 { return l.Lag.DurabilitySeconds }, slow(workload.DurabilityLag), []workload.Code{workload.DurabilityLag}},
		{"moving", moved, func(l workload.Load) *float64 { return bytes(l.Data.InFlightBytes) }, none, []workload.Code{workload.DataMovement}},
	}
}

// Courses returns the rows of a document, and what was sampled before it; those that are unknown are nil. The processes with the
// most CPU come first.
func Courses(before []*Sample, of *workload.View) []Course {
	if of == nil {
		return nil
	}
	last, all := *of, lately(before, NewSample(of, nil))
	rows, drawn := []Course{}, figures()
	courses := make([][]*float64, len(drawn))
	for i, f := range drawn {
		courses[i] = highestOf(all, f.value)
		f.axis.cover(courses[i], f.limit(last.Load))
	}
	for i, f := range drawn {
		now := f.value(last.Load)
		g := graph{axis: *f.axis, values: courses[i], limit: f.limit(last.Load)}
		c := Course{Key: f.name, Unknown: now == nil, Cells: append(append([]string{f.name, in(f.axis.unit, now, phrase.UnknownCell)}, g.cells()...), "", "", ""), Tall: g.tall()}
		c.about(last, func(cause workload.Cause) bool { return slices.Contains(f.codes, cause.Code) })
		rows = append(rows, c)
	}
	return append(rows, processCourses(all, last)...)
}

func processCourses(all []moment, last workload.View) []Course {
	processes, busy := slices.Clone(last.Processes), busiest(all)
	workload.Sort(processes, workload.ByCPU)
	rows := make([]Course, len(processes))
	for i, p := range processes {
		rows[i] = processCourse(busy[p.Subject()], last, p)
	}
	return rows
}

func processCourse(busy []*float64, last workload.View, p workload.ProcessLoad) Course {
	disk, diskBusy := phrase.Nothing, (*float64)(nil)
	if p.Has(fdb.RoleStorage) || p.Has(fdb.RoleLog) {
		diskBusy = p.DiskBusy
		disk = strings.TrimSpace(percent(p.DiskBusy))
	}
	g := graph{axis: axis{unit: workload.Share, top: 1}, values: busy, limit: new(workload.RuleOf(workload.ProcessCPU).Slow)}
	c := Course{Key: p.Address, Group: p.Group, Unknown: p.Busy() == nil, DiskBusy: diskBusy, Tall: g.tall(), Cells: append(append([]string{
		p.Subject(), "cpu " + strings.TrimSpace(percent(p.Busy())),
	}, g.cells()...), disk, phrase.BytesOr(p.QueueBytes, phrase.Nothing), orNothing(lag(p.Lag()), p.Lag()))}
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
