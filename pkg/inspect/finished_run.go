package inspect

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// FinishedRun is a run that changed a cluster and has ended, of any user.
type FinishedRun struct {
	// ID is the ID of the run, as in its output and in its audit lines.
	ID      string `json:"id"`
	Command string `json:"command"`
	// User is the user and host of the run.
	User   string `json:"user"`
	Reason string `json:"reason,omitempty"`
	// Since is when its first action ended, Until when its last one did.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Actions counts its actions, Failed those of them that failed.
	Actions int `json:"actions"`
	Failed  int `json:"failed"`
}

// FinishedColumns are the columns of runs that have ended.
var FinishedColumns = []list.Column[FinishedRun]{
	{Title: "ENDED", Meaning: "Age of its last action", Cell: func(at list.At, r FinishedRun) list.Cell { return list.Text(at.Age(&r.Until)) }},
	{Title: "TOOK", Meaning: "Time from its first to its last action", Drop: 3, Cell: func(_ list.At, r FinishedRun) list.Cell { return list.Text(phrase.Duration(r.Until.Sub(r.Since))) }},
	{Title: "USER", Meaning: "User and host of the run", Drop: 4, Min: 8, Cell: func(_ list.At, r FinishedRun) list.Cell { return list.Text(r.User) }},
	{Title: "COMMAND", Meaning: "Command with the flags that affect what it does", Min: 16, Cell: func(_ list.At, r FinishedRun) list.Cell { return list.Text(r.Command) }},
	{Title: "ACTIONS", Meaning: "Number of actions", Drop: 2, Cell: func(_ list.At, r FinishedRun) list.Cell { return list.Count(r.Actions) }},
	{Title: "REASON", Meaning: "Reason that the user gave", Drop: 1, Min: 8, Cell: func(_ list.At, r FinishedRun) list.Cell { return list.Text(r.Reason) }},
}

// Tone is whether all of its actions were done.
func (r FinishedRun) Tone() list.Tone {
	if r.Failed > 0 {
		return list.Bad
	}
	return list.Good
}
