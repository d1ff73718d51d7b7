package audit

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// Records are what was recorded about a cluster: in the audit file of the user, and as Events of all users.
type Records struct {
	// UID is the UID of the cluster: Events on another object of its name are left out. Entries are
	// those that Read returns for the cluster.
	UID       types.UID
	Entries   []Entry
	Events    []corev1.Event
	Operation *reconcile.Operation
	// After leaves out runs that ended before; zero for none.
	After time.Time
}

// Runs returns the runs, the newest first. A run that both records have is the file's.
func (in Records) Runs() []inspect.Run {
	runs := map[string]*inspect.Run{}
	for _, e := range in.Entries {
		addEntry(runs, e)
	}
	for _, e := range in.Events {
		if about := e.InvolvedObject.UID; about == in.UID || about == "" {
			addEvent(runs, e)
		}
	}
	items := []inspect.Run{}
	for _, run := range runs {
		run.User = reconcile.UserOf(run.Who)
		run.Active = in.Operation != nil && in.Operation.ID == run.RunID
		slices.SortStableFunc(run.Steps, func(a, b inspect.RunStep) int { return a.Time.Compare(b.Time) })
		if !run.Until.Before(in.After) {
			items = append(items, *run)
		}
	}
	slices.SortFunc(items, func(a, b inspect.Run) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.RunID, b.RunID))
	})
	return items
}

// runOf returns the run of an ID, which begins with its first record.
func runOf(runs map[string]*inspect.Run, begin inspect.Run) *inspect.Run {
	if runs[begin.RunID] == nil {
		runs[begin.RunID] = &begin
	}
	return runs[begin.RunID]
}

// addStep adds a step to a run.
func addStep(i *inspect.Run, began time.Time, s inspect.RunStep) {
	if began.Before(i.Since) {
		i.Since = began
	}
	if s.Time.After(i.Until) {
		i.Until = s.Time
	}
	i.Actions += s.Count
	if s.Result != inspect.ActionDone {
		i.Failed += s.Count
	}
	i.Steps = append(i.Steps, s)
}

func addEntry(runs map[string]*inspect.Run, e Entry) {
	began := e.Time.Add(-time.Duration(e.TookSeconds * float64(time.Second)))
	run := runOf(runs, inspect.Run{RunID: e.RunID, UID: e.UID, Who: e.Who, Command: e.Command, Typed: e.Typed, Reason: e.Reason, Plan: e.Plan, Since: began, Until: e.Time, Source: inspect.RunFromFile})
	if n := len(run.Steps); n > 0 && takes(run.Steps[n-1], e) {
		last := &run.Steps[n-1]
		last.Subjects, last.Count = append(last.Subjects, e.Subject), last.Count+1
		run.Actions++
		if e.Result != inspect.ActionDone {
			run.Failed++
		}
		return
	}
	took := e.TookSeconds
	addStep(run, began, inspect.RunStep{Time: e.Time, Stage: e.Stage, Action: e.Action, Subjects: []string{e.Subject}, Count: 1, Result: e.Result, Error: e.Error, TookSeconds: &took})
}

// takes reports whether an action ended together with the step: actions that run together end with
// the same time and duration.
func takes(s inspect.RunStep, e Entry) bool {
	return s.Time.Equal(e.Time) && s.Stage == e.Stage && s.Action == e.Action && s.Result == e.Result && s.Error == e.Error && *s.TookSeconds == e.TookSeconds
}

func addEvent(runs map[string]*inspect.Run, e corev1.Event) {
	record, ours := inspect.EventRecordOf(&e)
	if !ours {
		return
	}
	first, last := e.FirstTimestamp.Time, e.LastTimestamp.Time
	run := runOf(runs, inspect.Run{RunID: e.ReportingInstance, UID: e.InvolvedObject.UID, Who: record.Who, Command: record.Command, Typed: record.Typed, Reason: record.Reason, Plan: record.Plan, Since: first, Until: last, Source: inspect.RunFromEvents})
	if run.Source == inspect.RunFromFile {
		return
	}
	result := inspect.ActionDone
	if e.Type != corev1.EventTypeNormal {
		result = inspect.ActionFailed
	}
	addStep(run, first, inspect.RunStep{Time: last, Stage: record.Stage, Action: e.Reason, Subjects: record.Subjects, Count: record.Actions * int(max(1, e.Count)), Result: result, Error: record.Error})
}
