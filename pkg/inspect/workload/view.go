package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// View is the document of `top`: the load of a database and of its processes, and what makes it
// slow.
type View struct {
	inspect.Document
	// State is the worst of the causes; unknown where no cause is known and a figure that decides
	// is missing.
	State State `json:"state"`
	// Reason is why there are no figures, or not all; empty when there are.
	Reason  string      `json:"reason,omitempty"`
	Load    Load        `json:"load"`
	Classes []ClassLoad `json:"classes"`
	// Processes are ordered by process group.
	Processes []ProcessLoad `json:"processes"`
	// Causes are those that slow the database first.
	Causes  []Cause   `json:"causes"`
	Unknown []Unknown `json:"unknown"`
	// Trend is the change since an earlier document; null without one.
	Trend *Trend `json:"trend,omitempty"`
}

// State is whether something makes the database slow.
type State string

// The states, from the best to the worst.
const (
	// Fine is a database that nothing slows down.
	Fine State = "fine"
	// NearLimit is one with a figure close to a threshold.
	NearLimit State = "near-limit"
	// Slow is one that some cause slows down.
	Slow State = "slow"
	// StateUnknown cannot be determined.
	StateUnknown State = "unknown"
)

// Trend is how figures change per second, since an earlier document.
type Trend struct {
	// OverSeconds is the time between both documents.
	OverSeconds                float64  `json:"overSeconds"`
	StorageQueueBytesPerSecond *float64 `json:"storageQueueBytesPerSecond"`
	LogQueueBytesPerSecond     *float64 `json:"logQueueBytesPerSecond"`
	// DurabilityLagPerSecond is in seconds: at 1 the disks write nothing.
	DurabilityLagPerSecond *float64 `json:"durabilityLagPerSecond"`
	MovingBytesPerSecond   *float64 `json:"movingBytesPerSecond"`
}

// Input are the facts of a document.
type Input struct {
	inspect.Facts
	// Earlier is the document before this one; nil without one.
	Earlier *View
	inspect.Commands
}

// NewView makes the document.
func NewView(m inspect.Metadata, in Input) View {
	v := View{
		Document: inspect.NewDocument("Workload", m, in.Database.AsOf, inspect.SourceLive), State: StateUnknown,
		Classes: []ClassLoad{}, Processes: []ProcessLoad{}, Causes: []Cause{}, Unknown: []Unknown{},
	}
	v.Warnings = append(v.Warnings, in.Warnings...)
	v.Reason = unknownReason(in.Facts)
	s := in.Database.Status
	if s == nil || !s.Available() {
		return v
	}
	v.Load, v.Processes = loadOf(s), processesOf(s)
	v.Classes = classesOf(v.Processes)
	v.Trend = v.since(in.Earlier)
	v.judge(in.Commands)
	v.State = v.state()
	return v
}

// unknownReason returns why figures are missing.
func unknownReason(f inspect.Facts) string {
	s := f.Database.Status
	switch {
	case s == nil:
		return phrase.Or(f.Database.Why(), "the database was not read")
	case s.NeverConfigured():
		return "no database was created yet"
	case !s.Available():
		return "the database is unavailable"
	case s.Incomplete():
		return "the status document is incomplete"
	case !s.RolesKnown():
		return "the database does not report the roles of its processes"
	default:
		return ""
	}
}

func (v View) state() State {
	has := func(e Effect) bool { return slices.ContainsFunc(v.Causes, func(c Cause) bool { return c.Effect == e }) }
	decides := func(u Unknown) bool { return u.Decides }
	switch {
	case has(Slows):
		return Slow
	case v.Reason != "" || len(v.Processes) == 0 || slices.ContainsFunc(v.Unknown, decides):
		return StateUnknown
	case has(Near):
		return NearLimit
	default:
		return Fine
	}
}

// since returns the change from an earlier document, which must be older.
func (v View) since(earlier *View) *Trend {
	if earlier == nil || earlier.AsOf == nil || v.AsOf == nil || !v.AsOf.After(*earlier.AsOf) {
		return nil
	}
	over := v.AsOf.Sub(*earlier.AsOf).Seconds()
	change := func(now, before *float64) *float64 {
		if now == nil || before == nil {
			return nil
		}
		return new((*now - *before) / over)
	}
	a, b := v.Load, earlier.Load
	return &Trend{
		OverSeconds:                over,
		StorageQueueBytesPerSecond: change(numberOf(a.Queues.LimitingStorageBytes), numberOf(b.Queues.LimitingStorageBytes)),
		LogQueueBytesPerSecond:     change(numberOf(a.Queues.LogBytes), numberOf(b.Queues.LogBytes)),
		DurabilityLagPerSecond:     change(a.Lag.LimitingDurabilitySeconds, b.Lag.LimitingDurabilitySeconds),
		MovingBytesPerSecond:       change(a.Data.moving(), b.Data.moving()),
	}
}

// growthReading returns how much of what is left to ratekeeper's limit the storage queue fills
// within 10 minutes at its present growth. There is no reading without an earlier document, while it
// does not grow, and at the limit.
func (v View) growthReading() []reading {
	const within = 10 * time.Minute
	queue := v.Load.Queues.LimitingStorageBytes
	if v.Trend == nil || v.Trend.StorageQueueBytesPerSecond == nil || queue == nil {
		return nil
	}
	left := storageQueueTarget - float64(*queue)
	if *v.Trend.StorageQueueBytesPerSecond <= 0 || left <= 0 {
		return nil
	}
	return []reading{{v.largestQueue(ProcessLoad.stores), new(*v.Trend.StorageQueueBytesPerSecond * within.Seconds() / left)}}
}

// order compares figures, the largest first and unknown ones last.
func order(a, b *float64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return cmp.Compare(*b, *a)
	}
}

// Report is the document of `why --performance`: what makes a database slow.
type Report struct {
	inspect.Document
	// State is the worst of the items'; unknown where no cause is known and a figure that decides
	// is missing.
	State State `json:"state"`
	// Summary is the worst cause in one line.
	Summary string `json:"summary"`
	// Next are complete commands for it.
	Next []string `json:"next"`
	// Items are the causes, those that slow the database first.
	Items []Cause `json:"items"`
	// Unknown are the figures that the database does not report.
	Unknown []Unknown `json:"unknown"`
	Load    Load      `json:"load"`
}

// NewReport makes the document out of that of `top`.
func NewReport(v View, c inspect.Commands) Report {
	r := Report{Document: v.Document, State: v.State, Summary: v.Headline(), Next: []string{}, Items: v.Causes, Unknown: v.Unknown, Load: v.Load}
	r.Kind = "PerformanceReport"
	switch {
	case len(v.Causes) > 0:
		r.Next = append(r.Next, v.Causes[0].Next)
	case v.State == StateUnknown:
		r.Next = append(r.Next, c.FDB("why", v.Metadata.Cluster))
	}
	return r
}

// Headline returns the state in one line: the worst cause, or why it is unknown.
func (v View) Headline() string {
	var worst string
	if len(v.Causes) > 0 {
		worst = v.Causes[0].Text()
	}
	switch v.State {
	case Slow:
		return "slow: " + worst
	case NearLimit:
		return "nothing slows the database, but " + worst
	case Fine:
		return "nothing slows the database"
	case StateUnknown:
		return "cannot determine what slows the database: " + v.doubt()
	}
	return ""
}

// doubt returns why the state is unknown.
func (v View) doubt() string {
	if v.Reason != "" {
		return v.Reason
	}
	var missing []string
	for _, u := range v.Unknown {
		if u.Decides {
			missing = append(missing, u.Text())
		}
	}
	return strings.Join(missing, "; ")
}

// Text returns the cause with its subjects.
func (c Cause) Text() string {
	if len(c.Subjects) == 1 && c.Subjects[0] == Database {
		return c.Summary
	}
	return fmt.Sprintf("%s: %s", phrase.Some(c.Subjects, inspect.MostNamed), c.Summary)
}

// Text returns which figure is missing, and of what.
func (u Unknown) Text() string {
	title := string(u.Code)
	for _, r := range Rules() {
		if r.Code == u.Code {
			title = r.Title
		}
	}
	return fmt.Sprintf("%s: unknown for %s", title, phrase.Some(u.Subjects, inspect.MostNamed))
}
