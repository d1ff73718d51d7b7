// Package audit stores what was done to clusters: a line per action in a file of the user, and
// Events on the cluster's object. It has only the descriptions of actions, so that it contains
// no content of an object. A run that cannot record changes nothing, and one that has begun goes on.
package audit

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// Run is what all actions of one run of a command have in common.
type Run struct {
	// RunID is the runId of the documents of the same run.
	RunID string `json:"runId"`
	// Who is the user, the machine and the process, as in the Lease.
	Who string `json:"who"`
	// Context is the kubeconfig context; empty without one.
	Context   string `json:"context"`
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// UID is the UID of the resource: another one of the same name has another UID. Empty in records of
	// earlier releases.
	UID types.UID `json:"uid,omitempty"`
	// Command is the command line that repeats the run.
	Command string `json:"command"`
	// Typed is Command without the flags that select the API server, the user and the namespace; empty in records
	// of earlier releases.
	Typed string `json:"typed,omitempty"`
	// Reason is the value of --reason; empty without one.
	Reason string `json:"reason,omitempty"`
	// Plan is the digest of the approved plan of the run; empty without one.
	Plan string `json:"plan,omitempty"`
}

// Match is whether a record is about a resource.
type Match int

// The matches. A record without a UID is about a resource of this name, which may be another one: it
// proves nothing.
const (
	MatchNone Match = iota
	MatchName
	MatchUID
)

// Match returns whether the actions of a run were about the resource of another one. Contexts do not
// identify API servers, so names alone never do more than match.
func (r Run) Match(of Run) Match {
	switch {
	case r.UID != "" && of.UID != "":
		if r.UID == of.UID {
			return MatchUID
		}
	case r.Context == of.Context && r.Namespace == of.Namespace && r.Cluster == of.Cluster:
		return MatchName
	}
	return MatchNone
}

// Entry is one action that ran.
type Entry struct {
	// Time is when the action ended.
	Time time.Time `json:"time"`
	Run
	// Stage is the stage that decided on the action.
	Stage plan.StageName `json:"stage"`
	// Action is the action's kind, Subject what it changed, Words its description in one line.
	Action  string `json:"action"`
	Subject string `json:"subject"`
	Words   string `json:"words"`
	// Removes are the names of process groups, and of their pods, that the action removes.
	Removes []string `json:"removes,omitempty"`
	// Result is inspect.ActionDone or inspect.ActionFailed. The effect of a failed action may be unknown.
	Result string `json:"result"`
	// Error is why the action failed.
	Error string `json:"error,omitempty"`
	// TookSeconds is how long the action took; for actions that ran together, how long
	// all of them took.
	TookSeconds float64 `json:"tookSeconds"`
}

// NewEntry is the entry of an action that began and ended at these times.
func NewEntry(r Run, stage plan.StageName, a plan.Action, err error, began, ended time.Time) Entry {
	e := Entry{
		Time: ended.UTC(), Run: r, Stage: stage, Action: plan.KindOf(a), Subject: a.Subject(), Words: Kept(a.Describe()),
		Removes: removedBy(a), Result: inspect.ActionDone, TookSeconds: ended.Sub(began).Round(time.Millisecond).Seconds(),
	}
	return e.ended(err)
}

// NewStepEntry is the entry of a step that no stage decided; stage names the change that it belongs to.
func NewStepEntry(r Run, stage plan.StageName, s reconcile.Step, err error, began, ended time.Time) Entry {
	return Entry{
		Time: ended.UTC(), Run: r, Stage: stage, Action: s.Kind, Subject: s.Subject, Words: Kept(s.Words),
		Result: inspect.ActionDone, TookSeconds: ended.Sub(began).Round(time.Millisecond).Seconds(),
	}.ended(err)
}

// ended returns the entry with the error of what it records; nil for none.
func (e Entry) ended(err error) Entry {
	if err != nil {
		e.Result, e.Error = inspect.ActionFailed, Kept(err.Error())
	}
	return e
}

// Kept returns a text as the audit and Events have it: without secrets, and with its control characters shown.
func Kept(text string) string { return phrase.Visible(redact.Kept(text)) }

// Removals are the names of process groups and of their pods in removals that were recorded. A
// name among them that no status has any more was removed; of any other name it is unknown
// whether such a process group ever existed.
type Removals map[string]bool

// AnnotationRemoves is on an Event about removals: the names that Entry.Removes has of all its
// actions, separated by commas.
const AnnotationRemoves = "kubectl-fdb/removes"

// removedBy returns the names of process groups, and of their pods, that an action removes.
func removedBy(a plan.Action) []string {
	switch a := a.(type) { //nolint:gochecksumtype // no other action removes process groups
	case plan.MarkForRemoval:
		return phrase.Strings(a.Groups)
	case plan.IncludeAndForget:
		return phrase.Strings(a.Groups)
	case plan.DeleteGroupObjects:
		if a.Pod == "" {
			return []string{string(a.Group)}
		}
		return []string{string(a.Group), a.Pod}
	default:
		return nil
	}
}

// AddFile adds what the audit file at path has about the cluster of a run, by its UID, and nothing
// without a file.
func (r Removals) AddFile(path string, of Run) error {
	entries, _, err := ReadFile(path, of)
	for _, e := range entries {
		if e.Match(of) == MatchUID {
			r.add(e.Result, e.Removes)
		}
	}
	return err
}

// AddEvents adds what Events of this program on the cluster's object report.
func (r Removals) AddEvents(events []corev1.Event, cluster types.UID) {
	for _, e := range events {
		if cluster == "" || e.InvolvedObject.UID != cluster || e.ReportingController != inspect.EventComponent {
			continue
		}
		result := inspect.ActionDone
		if e.Type != corev1.EventTypeNormal {
			result = inspect.ActionFailed
		}
		if names := e.Annotations[AnnotationRemoves]; names != "" {
			r.add(result, strings.Split(names, ","))
		}
	}
}

func (r Removals) add(result string, names []string) {
	if result != inspect.ActionDone {
		return
	}
	for _, name := range names {
		r[name] = true
	}
}
