package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

const (
	// longestMessage is how long the message of an Event may be, in bytes.
	longestMessage = 1024
	// maxSubjects is how many subjects of the same action an Event names.
	maxSubjects = 10
	// maxRemembered bounds how many of its Events a run that lasts for weeks remembers.
	maxRemembered = 200
)

// Events reports on the object of a cluster what was done to the cluster. Actions of the same
// kind are one Event, and an Event with the same message as an earlier one of the run increments
// that one's count.
type Events struct {
	Client client.Client
	// About is the object.
	About corev1.ObjectReference

	known map[string]*corev1.Event
	named int
}

// Write writes Events for entries.
func (e *Events) Write(ctx context.Context, entries []Entry) error {
	for _, alike := range bundles(entries) {
		if err := e.write(ctx, alike); err != nil {
			return fmt.Errorf("write an Event on %s %s: %w", e.About.Kind, e.About.Name, err)
		}
	}
	return nil
}

// bundles groups the entries by action and result, in the order in which each pair came first.
func bundles(entries []Entry) [][]Entry {
	var all [][]Entry
	at := map[[2]string]int{}
	for _, entry := range entries {
		key := [2]string{entry.Action, entry.Result}
		i, there := at[key]
		if !there {
			i, at[key] = len(all), len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], entry)
	}
	return all
}

func (e *Events) write(ctx context.Context, alike []Entry) error {
	did, by := message(alike)
	first, words := alike[0], did+by
	if known := e.known[words]; known != nil {
		err := e.countUp(ctx, known, first.Time)
		if !apierrors.IsNotFound(err) { // Events live for an hour
			return err
		}
	}
	event := e.event(first, words, annotations(alike))
	if err := e.Client.Create(ctx, event); err != nil {
		return err
	}
	if e.known == nil || len(e.known) >= maxRemembered {
		e.known = map[string]*corev1.Event{}
	}
	e.known[words] = event
	return nil
}

// event is a new Event. Its name is the cluster's with what is unique to it.
func (e *Events) event(first Entry, words string, annotations map[string]string) *corev1.Event {
	e.named++
	kind := corev1.EventTypeNormal
	if first.Result == inspect.ActionFailed {
		kind = corev1.EventTypeWarning
	}
	at := metav1.NewTime(first.Time)
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%s.%d", e.About.Name, first.RunID, e.named), Namespace: e.About.Namespace, Annotations: annotations},
		InvolvedObject: e.About, Type: kind, Reason: first.Action, Message: words,
		Source: corev1.EventSource{Component: inspect.EventComponent}, ReportingController: inspect.EventComponent, ReportingInstance: first.RunID,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

// annotations returns those of an Event: the record of its actions, and what they remove.
func annotations(alike []Entry) map[string]string {
	first := alike[0]
	did, _ := message(alike)
	record := inspect.EventRecord{Words: did, Who: first.Who, Command: shortened(first.Command, longestMessage/2), Typed: shortened(first.Typed, longestMessage/2), Reason: first.Reason, Plan: first.Plan, Stage: first.Stage, Actions: len(alike), Error: shortened(first.Error, longestMessage/2)}
	var names []string
	for i, entry := range alike {
		names = append(names, entry.Removes...)
		if i < maxSubjects {
			record.Subjects = append(record.Subjects, entry.Subject)
		}
	}
	text, err := json.Marshal(record)
	if err != nil { // a struct of texts and numbers always has a JSON form
		panic(err)
	}
	all := map[string]string{inspect.AnnotationRun: string(text)}
	if len(names) > 0 {
		all[AnnotationRemoves] = strings.Join(names, ",")
	}
	return all
}

// countUp increments the count of an Event.
func (e *Events) countUp(ctx context.Context, known *corev1.Event, at time.Time) error {
	count := known.Count + 1
	change, err := json.Marshal(map[string]any{"count": count, "lastTimestamp": metav1.NewTime(at)})
	if err != nil {
		return err
	}
	if err := e.Client.Patch(ctx, known.DeepCopy(), client.RawPatch(types.MergePatchType, change)); err != nil {
		return err
	}
	known.Count = count
	return nil
}

// message returns the text of an Event: what was done, then the command, the user and the run.
func message(alike []Entry) (did, by string) {
	first := alike[0]
	did = first.Words
	if first.Result == inspect.ActionFailed {
		did = "failed: " + did + ": " + first.Error
	}
	if more := alike[1:]; len(more) > 0 {
		did += fmt.Sprintf("; and %d more like it: %s", len(more), subjects(more))
	}
	by = first.Command
	if first.Reason != "" {
		by += "; " + first.Reason
	}
	by = fmt.Sprintf(" [%s; %s; run %s]", shortened(by, longestMessage/2), first.Who, first.RunID)
	return shortened(did, longestMessage-len(by)), by
}

func subjects(entries []Entry) string {
	var words []string
	for _, entry := range entries[:min(maxSubjects, len(entries))] {
		words = append(words, entry.Subject)
	}
	if len(entries) > maxSubjects {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// shortened limits a text to a number of bytes, without splitting characters.
func shortened(text string, most int) string {
	const end = "…"
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, most-len(end))], "") + end
}

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
		stable.Sort(run.Steps, func(a, b inspect.RunStep) int { return a.Time.Compare(b.Time) })
		if !run.Until.Before(in.After) {
			items = append(items, *run)
		}
	}
	stable.Sort(items, func(a, b inspect.Run) int {
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
