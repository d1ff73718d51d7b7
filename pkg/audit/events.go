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
)

// component is who Events say they are from.
const component = "kubectl-fdb"

const (
	// longestMessage is how long the message of an Event may be, in bytes.
	longestMessage = 1024
	// mostSubjects is how many things an Event names that the same was done to.
	mostSubjects = 10
	// mostRemembered bounds what a run that lasts for weeks remembers of its Events.
	mostRemembered = 200
)

// Events tells on the object of a cluster what was done to the cluster. Alike actions are
// one Event, and an Event that says the same as an earlier one of the run counts that
// one up.
type Events struct {
	Client client.Client
	// About is the object.
	About corev1.ObjectReference

	told  map[string]*corev1.Event
	named int
}

// Tell writes Events of some entries.
func (e *Events) Tell(ctx context.Context, entries []Entry) error {
	for _, alike := range bundles(entries) {
		if err := e.tell(ctx, alike); err != nil {
			return fmt.Errorf("writing an Event on %s %s: %w", e.About.Kind, e.About.Name, err)
		}
	}
	return nil
}

// bundles are the entries with the same action and result together, in the order in
// which each kind came first.
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

func (e *Events) tell(ctx context.Context, alike []Entry) error {
	first, words := alike[0], message(alike)
	if known := e.told[words]; known != nil {
		err := e.countUp(ctx, known, first.Time)
		if !apierrors.IsNotFound(err) { // Events live for an hour
			return err
		}
	}
	event := e.event(first, words)
	if err := e.Client.Create(ctx, event); err != nil {
		return err
	}
	if e.told == nil || len(e.told) >= mostRemembered {
		e.told = map[string]*corev1.Event{}
	}
	e.told[words] = event
	return nil
}

// event is a new Event. Its name is the cluster's with what is unique to it.
func (e *Events) event(first Entry, words string) *corev1.Event {
	e.named++
	kind := corev1.EventTypeNormal
	if first.Result == Failed {
		kind = corev1.EventTypeWarning
	}
	at := metav1.NewTime(first.Time)
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%s.%d", e.About.Name, first.RunID, e.named), Namespace: e.About.Namespace},
		InvolvedObject: e.About, Type: kind, Reason: first.Action, Message: words,
		Source: corev1.EventSource{Component: component}, ReportingController: component, ReportingInstance: first.RunID,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

// countUp says of an Event that the same was done once more.
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

// message is what an Event says: what was done, then by whom and with which command.
func message(alike []Entry) string {
	first := alike[0]
	did := first.Words
	if first.Result == Failed {
		did = "failed: " + did + ": " + first.Error
	}
	if more := alike[1:]; len(more) > 0 {
		did += fmt.Sprintf("; and %d more like it: %s", len(more), subjects(more))
	}
	by := first.Command
	if first.Reason != "" {
		by += "; " + first.Reason
	}
	by = fmt.Sprintf(" [%s; %s; run %s]", shortened(by, longestMessage/2), first.Who, first.RunID)
	return shortened(did, longestMessage-len(by)) + by
}

func subjects(entries []Entry) string {
	var words []string
	for _, entry := range entries[:min(mostSubjects, len(entries))] {
		words = append(words, entry.Subject)
	}
	if len(entries) > mostSubjects {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// shortened keeps a text below a number of bytes, and its characters whole.
func shortened(text string, most int) string {
	const end = "…"
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, most-len(end))], "") + end
}
