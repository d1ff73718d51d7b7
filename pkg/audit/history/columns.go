package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// List returns the runs with their columns.
func (v View) List() list.Table { return list.Of(Columns, v.Items) }

// Columns are the columns of runs.
var Columns = []list.Column[Item]{
	{Title: "ENDED", Meaning: "Age of the end of the run, or active", Cell: func(at list.At, i Item) list.Cell { return i.endedCell(at) }},
	{Title: "TOOK", Meaning: "Time from its first to its last action", Drop: 3, Cell: func(_ list.At, i Item) list.Cell { return list.Text(phrase.Duration(i.Until.Sub(i.Since))) }},
	{Title: "USER", Meaning: "User and host of the run", Drop: 5, Min: 8, Cell: func(_ list.At, i Item) list.Cell { return list.Text(i.User) }},
	{Title: "COMMAND", Meaning: "Command, without the flags that select the API server, the user and the namespace", Min: 16, Cell: func(_ list.At, i Item) list.Cell { return list.Text(cmp.Or(i.typed, i.Command)) }},
	{Title: "ACTIONS", Meaning: "Number of actions", Drop: 4, Cell: func(_ list.At, i Item) list.Cell { return list.Count(i.Actions) }},
	{Title: "RESULT", Meaning: "done, failed, or how many actions failed", Cell: func(_ list.At, i Item) list.Cell { return list.Text(i.result()) }},
	{Title: "REASON", Meaning: "Reason that the user gave", Drop: 2, Min: 8, Cell: func(_ list.At, i Item) list.Cell { return list.Text(i.Reason) }},
	{Title: "RUN", Meaning: "ID of the run", Drop: 1, Cell: func(_ list.At, i Item) list.Cell { return list.Text(i.RunID) }},
}

func (i Item) endedCell(at list.At) list.Cell {
	switch {
	case i.Active:
		return list.Text("active")
	case at.Absolute:
		return list.Text(at.Age(&i.Until))
	default:
		return list.Text(at.Age(&i.Until) + " ago")
	}
}

func (i Item) result() string {
	switch i.Failed {
	case 0:
		return audit.Done
	case i.Actions:
		return audit.Failed
	default:
		return fmt.Sprintf("%d failed", i.Failed)
	}
}

// List returns the actions of a run with their columns.
func (i Item) List() list.Table { return list.Of(StepColumns, i.Steps) }

// StepColumns are the columns of the actions of a run.
var StepColumns = []list.Column[Step]{
	{Title: "TIME", Meaning: "When the action ended", Cell: func(_ list.At, s Step) list.Cell { return list.Text(s.Time.Format(time.RFC3339)) }},
	{Title: "STAGE", Meaning: "Stage of the pass", Drop: 2, Cell: func(_ list.At, s Step) list.Cell { return list.Text(s.Stage) }},
	{Title: "ACTION", Meaning: "Kind of the action", Cell: func(_ list.At, s Step) list.Cell { return list.Text(s.Action) }},
	{Title: "COUNT", Meaning: "Number of actions of this kind that ended together", Drop: 3, Cell: func(_ list.At, s Step) list.Cell { return list.Count(s.Count) }},
	{Title: "RESULT", Meaning: "done or failed", Cell: func(_ list.At, s Step) list.Cell { return list.Text(s.Result) }},
	{Title: "TOOK", Meaning: "Duration; ? where it was not recorded", Drop: 1, Cell: func(_ list.At, s Step) list.Cell { return list.Known(list.At{}.Lasting(s.TookSeconds)) }},
	{Title: "SUBJECTS", Meaning: "What was changed, and the error of a failed action", Min: 16, Cell: func(_ list.At, s Step) list.Cell { return list.Text(s.subjects()) }},
}

func (s Step) subjects() string {
	words := strings.Join(s.Subjects, ", ")
	if s.Error != "" {
		words += ": " + s.Error
	}
	return words
}
