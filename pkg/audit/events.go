package audit

import (
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
