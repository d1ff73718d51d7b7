package inspect

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// HistoryView is the document of `history`.
type HistoryView struct {
	Document
	Items []Run `json:"items"`
}

// Run is one run of a command that changed a cluster, of any user.
type Run struct {
	RunID string `json:"runId"`
	// UID is the UID of the cluster; absent for a run of an earlier release, which recorded none: it
	// changed a cluster of this name, which may be another one.
	UID types.UID `json:"uid,omitempty"`
	// Who is the user, the machine and the process; User is without the process.
	Who     string `json:"who"`
	User    string `json:"user"`
	Command string `json:"command"`
	// Typed is Command without the flags that select the API server, the user and the namespace; absent where that was
	// not recorded.
	Typed  string `json:"typed,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Plan is the digest of the plan file that was applied; absent without one.
	Plan string `json:"plan,omitempty"`
	// Since is when the first action began, or, from Events, ended; Until is when the last one ended.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Actions counts the actions, Failed those of them that failed.
	Actions int `json:"actions"`
	Failed  int `json:"failed"`
	// Active is true for the operation that goes on.
	Active bool      `json:"active"`
	Source RunSource `json:"source"`
	// Steps are the actions in their order; those of the same kind that ended together are one. Frames have none.
	Steps []RunStep `json:"steps,omitempty"`
}

// RunSource is where the record of a run is from.
type RunSource string

// The sources. The file has each action with its duration, and only the user's own runs; Events
// have those of all users, and API servers delete them, after an hour by default.
const (
	RunFromFile   RunSource = "file"
	RunFromEvents RunSource = "events"
)

// RunStep is one action, or several of the same kind.
type RunStep struct {
	Time     time.Time      `json:"time"`
	Stage    plan.StageName `json:"stage"`
	Action   string         `json:"action"`
	Subjects []string       `json:"subjects"`
	// Count is how many actions these are; Subjects may have fewer.
	Count int `json:"count"`
	// Result is done or failed.
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
	// TookSeconds is how long they took; null where that is unknown.
	TookSeconds *float64 `json:"tookSeconds"`
}

// Results of an action.
const (
	ActionDone   = "done"
	ActionFailed = "failed"
)

// List returns the runs with their columns.
func (v HistoryView) List() list.Table { return list.Of(RunColumns, v.Items) }

// RunColumns are the columns of runs.
var RunColumns = []list.Column[Run]{
	{Title: "ENDED", Meaning: "Age of the end of the run, or active", Typical: 12, Cell: func(at list.At, r Run) list.Cell { return r.endedCell(at) }},
	{Title: "TOOK", Meaning: "Time from its first to its last action", Typical: 7, Drop: 3, Cell: func(_ list.At, r Run) list.Cell { return list.Text(phrase.Duration(r.Until.Sub(r.Since))) }},
	{Title: "USER", Meaning: "User and host of the run", Drop: 5, Min: 8, Cell: func(_ list.At, r Run) list.Cell { return list.Text(r.User) }},
	{Title: "COMMAND", Meaning: "Command, without the flags that select the API server, the user and the namespace", Min: 16, Cell: func(_ list.At, r Run) list.Cell { return list.Text(cmp.Or(r.Typed, r.Command)) }},
	{Title: "ACTIONS", Meaning: "Number of actions", Typical: 7, Drop: 4, Cell: func(_ list.At, r Run) list.Cell { return list.Count(r.Actions) }},
	{Title: "RESULT", Meaning: "done, failed, or how many actions failed", Typical: 9, Cell: func(_ list.At, r Run) list.Cell { return list.Text(r.result()) }},
	{Title: "REASON", Meaning: "Reason that the user gave", Drop: 2, Min: 8, Cell: func(_ list.At, r Run) list.Cell { return list.Text(r.Reason) }},
	{Title: "RUN", Meaning: "ID of the run", Typical: 10, Drop: 1, Cell: func(_ list.At, r Run) list.Cell { return list.Text(r.RunID) }},
}

func (r Run) endedCell(at list.At) list.Cell {
	switch {
	case r.Active:
		return list.Text("active")
	case at.Absolute:
		return list.Text(at.Age(&r.Until))
	default:
		return list.Text(at.Age(&r.Until) + " ago")
	}
}

func (r Run) result() string {
	switch r.Failed {
	case 0:
		return ActionDone
	case r.Actions:
		return ActionFailed
	default:
		return fmt.Sprintf("%d failed", r.Failed)
	}
}

// Tone is whether all of its actions were done.
func (r Run) Tone() list.Tone {
	if r.Failed > 0 {
		return list.Bad
	}
	return list.Good
}

// List returns the actions of a run with their columns.
func (r Run) List() list.Table { return list.Of(runStepColumns, r.Steps) }

var runStepColumns = []list.Column[RunStep]{
	{Title: "TIME", Meaning: "When the action ended", Cell: func(_ list.At, s RunStep) list.Cell { return list.Text(s.Time.Format(time.RFC3339)) }},
	{Title: "STAGE", Meaning: "Stage of the pass", Drop: 2, Cell: func(_ list.At, s RunStep) list.Cell { return list.Text(s.Stage) }},
	{Title: "ACTION", Meaning: "Kind of the action", Cell: func(_ list.At, s RunStep) list.Cell { return list.Text(s.Action) }},
	{Title: "COUNT", Meaning: "Number of actions of this kind that ended together", Drop: 3, Cell: func(_ list.At, s RunStep) list.Cell { return list.Count(s.Count) }},
	{Title: "RESULT", Meaning: "done or failed", Cell: func(_ list.At, s RunStep) list.Cell { return list.Text(s.Result) }},
	{Title: "TOOK", Meaning: "Duration; ? where it was not recorded", Drop: 1, Cell: func(_ list.At, s RunStep) list.Cell { return list.Known(list.At{}.Lasting(s.TookSeconds)) }},
	{Title: "SUBJECTS", Meaning: "What was changed, and the error of a failed action", Min: 16, Cell: func(_ list.At, s RunStep) list.Cell { return list.Text(s.subjects()) }},
}

func (s RunStep) subjects() string {
	words := strings.Join(s.Subjects, ", ")
	if s.Error != "" {
		words += ": " + s.Error
	}
	return words
}
