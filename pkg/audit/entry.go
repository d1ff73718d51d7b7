// Package audit keeps what was done to clusters: a line per action in a file of the
// user's, and Events on the cluster's object. It knows actions by their words alone, so
// that no content of an object gets into it, and it never decides anything: what cannot
// be kept stops nobody.
package audit

import (
	"regexp"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Results of an action.
const (
	Done   = "done"
	Failed = "failed"
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
	// Command is the command line that does the same again.
	Command string `json:"command"`
	// Reason is what --reason said; empty when nothing did.
	Reason string `json:"reason,omitempty"`
	// Plan is the digest of the approved plan that is carried out; empty without one.
	Plan string `json:"plan,omitempty"`
}

// Entry is one action that ran.
type Entry struct {
	// Time is when the action ended.
	Time time.Time `json:"time"`
	Run
	// Stage is the step that wanted the action.
	Stage plan.StageName `json:"stage"`
	// Action is the action's kind, Subject what it changed, Words what it did in one line.
	Action  string `json:"action"`
	Subject string `json:"subject"`
	Words   string `json:"words"`
	// Result is Done or Failed. What became of a failed action is not always known.
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
		Time: ended.UTC(), Run: r, Stage: stage, Action: plan.KindOf(a), Subject: a.Subject(), Words: withoutID(a.Describe()),
		Result: Done, TookSeconds: ended.Sub(began).Round(time.Millisecond).Seconds(),
	}
	if err != nil {
		e.Result, e.Error = Failed, withoutID(err.Error())
	}
	return e
}

// connectionStringID is the ID in a connection string, DESCRIPTION:ID@ADDRESSES. Whoever
// knows it may talk to a database that does not use TLS.
var connectionStringID = regexp.MustCompile(`\b(\w+):\w+@`)

func withoutID(text string) string { return connectionStringID.ReplaceAllString(text, "$1:…@") }
