package workload

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteTop prints the load of a database: its state in a line, its figures, a row per class, and the
// causes that slow it down.
func WriteTop(w io.Writer, v workload.View, o ui.ListOptions) error {
	if err := writeFigures(w, v); err != nil {
		return err
	}
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: classColumns(o)}
	for _, c := range v.Classes {
		t.Rows = append(t.Rows, classRow(c, o))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if len(v.Causes) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return writeCauses(w, v.Causes, o)
}

func writeFigures(w io.Writer, v workload.View) error {
	const label = "%-14s"
	lines := []Section{{"State", v.Headline()}}
	lines = append(lines, Sections(v.Load)...)
	if t := v.Trend; t != nil {
		lines = append(lines, Section{"Trend", trend(*t)})
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, layout.Labeled(fmt.Sprintf(label, l.Name+":"), l.Text, layout.Width(w))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

func trend(t workload.Trend) string {
	change := func(n *float64, text func(float64) string) string {
		switch {
		case n == nil:
			return phrase.UnknownCell
		case *n < 0:
			return "-" + text(-*n)
		default:
			return "+" + text(*n)
		}
	}
	queue := workload.BytesRate.Text
	return fmt.Sprintf("over %s: storage queue %s, log queue %s, moving %s", phrase.Seconds(t.OverSeconds),
		change(t.StorageQueueBytesPerSecond, queue), change(t.LogQueueBytesPerSecond, queue), change(t.MovingBytesPerSecond, queue))
}

func classColumns(o ui.ListOptions) []layout.Column {
	columns := []layout.Column{
		{Name: "CLASS"},
		{Name: "PROCESSES", Drop: 5},
		{Name: "CPU"},
		{Name: "DISK-BUSY"},
		{Name: "SPACE", Drop: 3},
		{Name: "QUEUE", Drop: 2},
		{Name: "LAG", Drop: 1},
		{Name: "BUSIEST", Drop: 4},
	}
	if o.Wide {
		columns = append(columns, named("CPU-MEAN", "DURABILITY-LAG", "RECEIVED", "SENT", "QUERIES", "MUTATIONS")...)
	}
	return columns
}

func named(names ...string) []layout.Column {
	columns := make([]layout.Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

func classRow(c workload.ClassLoad, o ui.ListOptions) []string {
	processes := strconv.Itoa(c.Processes)
	if c.Reporting < c.Processes {
		processes = fmt.Sprintf("%d of %d", c.Reporting, c.Processes)
	}
	row := []string{
		phrase.Or(c.Class, phrase.UnknownCell), processes, Bar(c.WorstBusy), Bar(c.WorstDiskBusy), orNothing(percent(c.WorstSpaceUsed), c.WorstSpaceUsed),
		phrase.BytesOr(c.WorstQueueBytes, phrase.Nothing), orNothing(lag(c.WorstLagSeconds), c.WorstLagSeconds), phrase.Or(c.BusiestProcess, phrase.UnknownCell),
	}
	if o.Wide {
		row = append(row, strings.TrimSpace(percent(c.MeanBusy)), orNothing(lag(c.DurabilityLagSeconds), c.DurabilityLagSeconds), megabits(c.ReceivedMegabits), megabits(c.SentMegabits),
			in(workload.PerSecond, c.QueriesPerSecond, phrase.Nothing), in(workload.PerSecond, c.MutationsPerSecond, phrase.Nothing))
	}
	return row
}

// orNothing returns a text, and the mark of what does not exist where there is no figure.
func orNothing(text string, n *float64) string {
	if n == nil {
		return phrase.Nothing
	}
	return strings.TrimSpace(text)
}

func megabits(n *float64) string {
	if n == nil {
		return phrase.UnknownCell
	}
	return fmt.Sprintf("%.1fMbit/s", *n)
}

// WriteProcesses prints a row per process.
func WriteProcesses(w io.Writer, l workload.ProcessList, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "PROCESS", Min: 14},
		{Name: "CLASS", Drop: 7},
		{Name: "CPU"},
		{Name: "DISK-BUSY"},
		{Name: "SPACE", Drop: 3},
		{Name: "MEMORY", Drop: 5},
		{Name: "QUEUE", Drop: 2},
		{Name: "LAG", Drop: 1},
		{Name: "ROLES", Drop: 6, Min: 12},
	}}
	if o.Wide {
		t.Columns = append(t.Columns, named("ADDRESS", "CORES", "RUN-LOOP", "DURABILITY-LAG", "RECEIVED", "SENT", "QUERIES", "MUTATIONS", "STORED", "DISK-FREE", "MEMORY-LIMIT")...)
	}
	for _, p := range l.Items {
		t.Rows = append(t.Rows, processRow(p, o))
	}
	return t.Write(w)
}

func processRow(p workload.ProcessLoad, o ui.ListOptions) []string {
	roles := phrase.UnknownCell
	if p.Roles != nil {
		roles = phrase.Or(strings.Join(p.Roles, ","), phrase.Nothing)
	}
	row := []string{
		p.Subject(), phrase.Or(p.Class, phrase.UnknownCell), Bar(p.Busy()), Bar(p.DiskBusy), orNothing(percent(p.SpaceUsed), p.SpaceUsed),
		phrase.BytesOr(p.MemoryBytes, phrase.UnknownCell), phrase.BytesOr(p.QueueBytes, phrase.Nothing), orNothing(lag(p.DataLagSeconds), p.DataLagSeconds), roles,
	}
	if o.Wide {
		row = append(row, p.Address, cores(p.CPUCores), strings.TrimSpace(percent(p.RunLoopBusy)), orNothing(lag(p.DurabilityLagSeconds), p.DurabilityLagSeconds),
			megabits(p.ReceivedMegabits), megabits(p.SentMegabits), in(workload.PerSecond, p.QueriesPerSecond, phrase.Nothing), in(workload.PerSecond, p.MutationsPerSecond, phrase.Nothing),
			phrase.BytesOr(p.StoredBytes, phrase.Nothing), phrase.BytesOr(p.DiskFreeBytes, phrase.UnknownCell), phrase.BytesOr(p.MemoryLimitBytes, phrase.UnknownCell))
	}
	return row
}

func cores(n *float64) string {
	if n == nil {
		return phrase.UnknownCell
	}
	return fmt.Sprintf("%.2f", *n)
}

// writeCauses prints a row per cause, in wide tables with its summary and its command.
func writeCauses(w io.Writer, causes []workload.Cause, o ui.ListOptions) error {
	t := ui.Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "CAUSE"},
		{Name: "EFFECT"},
		{Name: "SUBJECT", Min: 16},
		{Name: "VALUE"},
		{Name: "THRESHOLD", Drop: 1},
	}}
	if o.Wide {
		t.Columns = append(t.Columns, layout.Column{Name: "SUMMARY", Below: true}, layout.Column{Name: "NEXT", Below: true})
	}
	for _, c := range causes {
		row := []string{string(c.Code), string(c.Effect), phrase.Some(c.Subjects, maxNamed), c.Threshold.Unit.Text(c.Value), c.Threshold.Unit.Text(c.Threshold.Value)}
		if o.Wide {
			row = append(row, c.Summary, c.Next)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}

// maxNamed is how many subjects a row names before it only counts them.
const maxNamed = 2

// Section is one line about the database as a whole.
type Section struct{ Name, Text string }

// Sections returns the figures of the database in words, a line each.
func Sections(l workload.Load) []Section {
	t, o, q := l.Transactions, l.Operations, l.Queues
	return []Section{
		{"Transactions", fmt.Sprintf("%s started, %s committed, %s conflicted", rate(t.StartedPerSecond), rate(t.CommittedPerSecond), rate(t.ConflictedPerSecond))},
		{"Operations", fmt.Sprintf("%s reads (%s), %s writes (%s)", rate(o.ReadsPerSecond), bytesRate(o.ReadBytesPerSecond), rate(o.WritesPerSecond), bytesRate(o.WrittenBytesPerSecond))},
		{"Latency", fmt.Sprintf("start %s, read %s, commit %s", seconds(l.Latency.StartSeconds), seconds(l.Latency.ReadSeconds), seconds(l.Latency.CommitSeconds))},
		{"Ratekeeper", ratekeeper(l.Ratekeeper)},
		{"Queues", fmt.Sprintf("storage %s, log %s", phrase.BytesOr(q.StorageBytes, phrase.UnknownCell), phrase.BytesOr(q.LogBytes, phrase.UnknownCell))},
		{"Lag", fmt.Sprintf("data %s, durability %s", lag(l.Lag.DataSeconds), lag(l.Lag.DurabilitySeconds))},
		{"Data", fmt.Sprintf("%s stored, %s in flight, %s queued", phrase.BytesOr(l.Data.StoredBytes, phrase.UnknownCell), phrase.BytesOr(l.Data.InFlightBytes, phrase.UnknownCell), phrase.BytesOr(l.Data.QueuedBytes, phrase.UnknownCell))},
	}
}

func ratekeeper(r workload.Ratekeeper) string {
	limit := phrase.UnknownCell
	if r.LimitedBy != nil {
		limit = r.LimitedBy.Code
		if r.LimitedBy.Process != "" {
			limit += " of " + r.LimitedBy.Process
		}
	}
	return fmt.Sprintf("%s of at most %s started, limited by %s", rate(r.ReleasedPerSecond), rate(r.LimitPerSecond), limit)
}

func rate(n *float64) string { return in(workload.PerSecond, n, phrase.UnknownCell) }

func bytesRate(n *float64) string { return in(workload.BytesRate, n, phrase.UnknownCell) }

func seconds(n *float64) string { return in(workload.Seconds, n, phrase.UnknownCell) }

// in returns a figure in words, and absent where it is unknown.
func in(u workload.Unit, n *float64, absent string) string {
	if n == nil {
		return absent
	}
	return u.Text(*n)
}

// lag returns a lag in words. Milliseconds do not matter there.
func lag(n *float64) string {
	if n != nil && *n < 1 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", *n), ".0") + "s"
	}
	return seconds(n)
}

// barCells is the width of a bar.
const barCells = 6

// Bar returns a share as a percentage with a short bar of eighths of a cell before it, so that rows
// are compared at once.
func Bar(share *float64) string {
	if share == nil {
		return phrase.UnknownCell
	}
	return bar(*share) + " " + percent(share)
}

// percent returns a share in words of one width.
func percent(share *float64) string {
	if share == nil {
		return phrase.UnknownCell
	}
	return fmt.Sprintf("%3.0f%%", 100**share)
}

func bar(share float64) string {
	const parts = 8
	eighths := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	n := int(max(0, min(1, share))*barCells*parts + 0.5)
	text := strings.Repeat("█", n/parts) + eighths[n%parts]
	return text + strings.Repeat("·", barCells-(n+parts-1)/parts)
}
