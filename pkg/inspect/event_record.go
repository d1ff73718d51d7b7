package inspect

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// EventComponent is the source of the Events that this program writes.
const EventComponent = "kubectl-fdb"

// AnnotationRun is on every Event of this program: the facts of its message as JSON, see EventRecord.
const AnnotationRun = "kubectl-fdb/run"

// EventRecord is what an Event stores of the actions that it stands for.
type EventRecord struct {
	Who     string `json:"who"`
	Command string `json:"command"`
	// Typed is Command without the flags that select the API server, the user and the namespace; empty in Events of
	// earlier releases.
	Typed  string `json:"typed,omitempty"`
	Reason string `json:"reason,omitempty"`
	Plan   string `json:"plan,omitempty"`
	// Words are the message without command, user and run; empty in Events of earlier releases.
	Words string `json:"words,omitempty"`
	// Stage is the stage that decided on the actions.
	Stage plan.StageName `json:"stage"`
	// Subjects are some of what the actions changed; Actions counts them all.
	Subjects []string `json:"subjects"`
	Actions  int      `json:"actions"`
	// Error is why the first of them failed.
	Error string `json:"error,omitempty"`
}

// EventRecordOf returns the record in an Event of this program; false for others, and for those of
// releases that stored none.
func EventRecordOf(e *corev1.Event) (EventRecord, bool) {
	var r EventRecord
	text, has := e.Annotations[AnnotationRun]
	return r, has && e.ReportingController == EventComponent && json.Unmarshal([]byte(text), &r) == nil
}

// by returns the command, the reason, the user and the run of an Event.
func (r EventRecord) by(runID string) string {
	words := []string{r.Command, r.Who, "run " + runID}
	if r.Reason != "" {
		words = []string{r.Command, r.Reason, r.Who, "run " + runID}
	}
	return OneLine(strings.Join(words, "; "))
}
