package ui

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// JSON returns a reporter that writes one JSON object per event and line. The
// fields are documented in docs/events.md and only ever added to. Given to several
// passes in a row, it counts them.
func JSON(w io.Writer) func(reconcile.Event) { return JSONOf(w, inspect.Metadata{}) }

// JSONOf is JSON for passes over one of several resources, which every line names.
func JSONOf(w io.Writer, resource inspect.Metadata) func(reconcile.Event) {
	pass := 0
	return func(e reconcile.Event) {
		if started, ok := e.(reconcile.PassStarted); ok && started.Round == 1 {
			pass++
		}
		// These types always encode. A reader that went away ends the process.
		_ = WriteJSON(w, record(e, pass, resource))
	}
}

type (
	passStarted struct {
		inspect.EventHead
		Preview bool             `json:"preview"`
		Round   int              `json:"round"`
		Stages  []plan.StageName `json:"stages"`
	}
	observing struct {
		inspect.EventHead
		Stage  plan.StageName `json:"stage"`
		Facets []string       `json:"facets"`
	}
	observed struct {
		inspect.EventHead
		Facets []string   `json:"facets"`
		AsOf   *time.Time `json:"asOf"`
		// ResourceVersion is the one of the custom resource.
		ResourceVersion string `json:"resourceVersion,omitempty"`
		// DatabaseAvailable is null when the database status was not read, or the database did not
		// answer.
		DatabaseAvailable *bool `json:"databaseAvailable"`
	}
	gatesChecked struct {
		inspect.EventHead
		Checks []plan.Check `json:"checks"`
	}
	stageDecided struct {
		inspect.EventHead
		Stage   plan.StageName         `json:"stage"`
		Why     string                 `json:"why,omitempty"`
		Actions []inspect.ActionRecord `json:"actions"`
		Checks  []plan.Check           `json:"checks"`
		Hold    *inspect.HoldRecord    `json:"hold"`
		// Housekeeping is what the stage leaves to a later pass; null for nothing.
		Housekeeping *inspect.HousekeepingRecord `json:"housekeeping,omitempty"`
		Provisional  []plan.StageName            `json:"provisional,omitempty"`
	}
	taken struct {
		inspect.EventHead
		Stage plan.StageName `json:"stage"`
	}
	actionStarted struct {
		inspect.EventHead
		Stage  plan.StageName       `json:"stage"`
		Action inspect.ActionRecord `json:"action"`
	}
	actionDone struct {
		inspect.EventHead
		Stage  plan.StageName       `json:"stage"`
		Action inspect.ActionRecord `json:"action"`
		Error  string               `json:"error,omitempty"`
	}
	stageDone struct {
		inspect.EventHead
		Stage   plan.StageName    `json:"stage"`
		Outcome reconcile.Outcome `json:"outcome"`
		Reason  string            `json:"reason,omitempty"`
	}
	passDone struct {
		inspect.EventHead
		inspect.PassRecord
	}
)

func record(e reconcile.Event, pass int, of inspect.Metadata) any {
	head := func(event string) inspect.EventHead {
		return inspect.EventHead{Event: event, Pass: pass, Resource: of.Cluster, Site: of.Site}
	}
	switch e := e.(type) {
	case reconcile.PassStarted:
		return passStarted{head("started"), e.Preview, e.Round, e.Stages}
	case reconcile.Observing:
		return observing{head("observing"), e.Stage, e.Facets.Names()}
	case reconcile.Observed:
		return recordObserved(head("observed"), e)
	case reconcile.GatesChecked:
		return gatesChecked{head("gates"), inspect.OrEmpty(e.Checks)}
	case reconcile.StageDecided:
		return stageDecided{head("decided"), e.Stage, e.Why, inspect.RecordActions(e.Actions), inspect.OrEmpty(e.Checks), inspect.RecordHold(e.Hold), inspect.RecordHousekeeping(e.Housekeeping), e.Provisional}
	case reconcile.LeaseTaken:
		return taken{head("leased"), e.Stage}
	case reconcile.LockTaken:
		return taken{head("locked"), e.Stage}
	case reconcile.ActionStarted:
		return actionStarted{head("acting"), e.Stage, inspect.RecordAction(e.Action)}
	case reconcile.ActionDone:
		done := actionDone{EventHead: head("acted"), Stage: e.Stage, Action: inspect.RecordAction(e.Action)}
		if e.Err != nil {
			done.Error = inspect.OneLine(e.Err.Error())
		}
		return done
	case reconcile.StageDone:
		return stageDone{head("stage"), e.Stage, e.Outcome, inspect.OneLine(e.Reason)}
	case reconcile.PassDone:
		return passDone{head("pass"), inspect.RecordPass(e)}
	}
	return nil
}

func recordObserved(head inspect.EventHead, e reconcile.Observed) observed {
	o := observed{EventHead: head, Facets: e.Facets.Names(), AsOf: inspect.Known(e.Snapshot.Now)}
	if of := planned.ResourceOf(e.Snapshot); of != nil {
		o.ResourceVersion = of.GetResourceVersion()
	}
	if e.Snapshot.Database.Status != nil {
		available := e.Snapshot.Database.Available()
		o.DatabaseAvailable = &available
	}
	return o
}

// Lines returns a reporter that passes on the lines of JSON one by one, to show or record them:
// without what may contain secrets.
func Lines(receive func(json.RawMessage)) func(reconcile.Event) {
	pass := 0
	return func(e reconcile.Event) {
		if started, ok := e.(reconcile.PassStarted); ok && started.Round == 1 {
			pass++
		}
		receive(Line(discreet(record(e, pass, inspect.Metadata{}))))
	}
}

// Line returns a document as one line of JSON with secrets of connection strings hidden.
func Line(document any) json.RawMessage {
	var text bytes.Buffer
	if err := WriteJSON(&text, document); err != nil {
		panic(err) // documents always encode
	}
	return json.RawMessage(redact.Kept(string(bytes.TrimSpace(text.Bytes()))))
}

// discreet leaves the fields of actions out of a line.
func discreet(line any) any {
	switch l := line.(type) {
	case stageDecided:
		for i := range l.Actions {
			l.Actions[i] = l.Actions[i].WithoutSecrets()
		}
		return l
	case actionStarted:
		l.Action = l.Action.WithoutSecrets()
		return l
	case actionDone:
		l.Action = l.Action.WithoutSecrets()
		return l
	default:
		return line
	}
}
