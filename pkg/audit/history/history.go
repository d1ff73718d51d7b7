// Package history joins the records of what was done to a cluster: the audit file of the user, and
// the Events of all users. It is pure.
package history

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Source is where the record of a run is from.
type Source string

// The sources. The file has each action with its duration, and only the user's own runs; Events
// have those of all users, and API servers delete them, after an hour by default.
const (
	SourceFile   Source = "file"
	SourceEvents Source = "events"
)

// View is the document of `history`.
type View struct {
	inspect.Document
	Items []Item `json:"items"`
}

// Item is one run of a command that changed the cluster.
type Item struct {
	RunID string `json:"runId"`
	// UID is the UID of the cluster; absent for a run of an earlier release, which recorded none: it
	// changed a cluster of this name, which may be another one.
	UID types.UID `json:"uid,omitempty"`
	// Who is the user, the machine and the process; User is without the process.
	Who     string `json:"who"`
	User    string `json:"user"`
	Command string `json:"command"`
	Reason  string `json:"reason,omitempty"`
	// Plan is the digest of the plan file that was applied; absent without one.
	Plan string `json:"plan,omitempty"`
	// Since is when the first action began, or, from Events, ended; Until is when the last one ended.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Actions counts the actions, Failed those of them that failed.
	Actions int `json:"actions"`
	Failed  int `json:"failed"`
	// Active is true for the operation that goes on.
	Active bool   `json:"active"`
	Source Source `json:"source"`
	// Steps are the actions in their order; those of the same kind that ended together are one.
	Steps []Step `json:"steps"`

	// typed is the command without what the runs on one cluster have in common; empty where that was not recorded.
	typed string
}

// Step is one action, or several of the same kind.
type Step struct {
	Time     time.Time      `json:"time"`
	Stage    plan.StageName `json:"stage"`
	Action   string         `json:"action"`
	Subjects []string       `json:"subjects"`
	// Count is how many actions these are; Subjects may have fewer.
	Count  int    `json:"count"`
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
	// TookSeconds is how long they took; null where that is unknown.
	TookSeconds *float64 `json:"tookSeconds"`
}

// Input are the records to join.
type Input struct {
	// UID is the UID of the cluster: Events on another object of its name are left out. Entries are
	// those that audit.Read returns for the cluster.
	UID       types.UID
	Entries   []audit.Entry
	Events    []corev1.Event
	Operation *reconcile.Operation
	// After leaves out runs that ended before; zero for none.
	After time.Time
}

// Join returns the runs, the newest first. A run that both records have is the file's.
func Join(in Input) []Item {
	runs := map[string]*Item{}
	for _, e := range in.Entries {
		addEntry(runs, e)
	}
	for _, e := range in.Events {
		if about := e.InvolvedObject.UID; about == in.UID || about == "" {
			addEvent(runs, e)
		}
	}
	items := []Item{}
	for _, run := range runs {
		run.User = reconcile.UserOf(run.Who)
		run.Active = in.Operation != nil && in.Operation.ID == run.RunID
		slices.SortStableFunc(run.Steps, func(a, b Step) int { return a.Time.Compare(b.Time) })
		if !run.Until.Before(in.After) {
			items = append(items, *run)
		}
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.RunID, b.RunID))
	})
	return items
}

// of returns the run of an ID, which begins with its first record.
func of(runs map[string]*Item, begin Item) *Item {
	if runs[begin.RunID] == nil {
		runs[begin.RunID] = &begin
	}
	return runs[begin.RunID]
}

func (i *Item) add(began time.Time, s Step) {
	if began.Before(i.Since) {
		i.Since = began
	}
	if s.Time.After(i.Until) {
		i.Until = s.Time
	}
	i.Actions += s.Count
	if s.Result != audit.Done {
		i.Failed += s.Count
	}
	i.Steps = append(i.Steps, s)
}

func addEntry(runs map[string]*Item, e audit.Entry) {
	began := e.Time.Add(-time.Duration(e.TookSeconds * float64(time.Second)))
	run := of(runs, Item{RunID: e.RunID, UID: e.UID, Who: e.Who, Command: e.Command, typed: e.Typed, Reason: e.Reason, Plan: e.Plan, Since: began, Until: e.Time, Source: SourceFile})
	if n := len(run.Steps); n > 0 && run.Steps[n-1].takes(e) {
		last := &run.Steps[n-1]
		last.Subjects, last.Count = append(last.Subjects, e.Subject), last.Count+1
		run.Actions++
		if e.Result != audit.Done {
			run.Failed++
		}
		return
	}
	took := e.TookSeconds
	run.add(began, Step{Time: e.Time, Stage: e.Stage, Action: e.Action, Subjects: []string{e.Subject}, Count: 1, Result: e.Result, Error: e.Error, TookSeconds: &took})
}

// takes reports whether an action ended together with the step: actions that run together end with
// the same time and duration.
func (s *Step) takes(e audit.Entry) bool {
	return s.Time.Equal(e.Time) && s.Stage == e.Stage && s.Action == e.Action && s.Result == e.Result && s.Error == e.Error && *s.TookSeconds == e.TookSeconds
}

func addEvent(runs map[string]*Item, e corev1.Event) {
	record, ours := inspect.EventRecordOf(&e)
	if !ours {
		return
	}
	first, last := e.FirstTimestamp.Time, e.LastTimestamp.Time
	run := of(runs, Item{RunID: e.ReportingInstance, UID: e.InvolvedObject.UID, Who: record.Who, Command: record.Command, typed: record.Typed, Reason: record.Reason, Plan: record.Plan, Since: first, Until: last, Source: SourceEvents})
	if run.Source == SourceFile {
		return
	}
	result := audit.Done
	if e.Type != corev1.EventTypeNormal {
		result = audit.Failed
	}
	run.add(first, Step{Time: last, Stage: record.Stage, Action: e.Reason, Subjects: record.Subjects, Count: record.Actions * int(max(1, e.Count)), Result: result, Error: record.Error})
}
