package ui

import (
	"encoding/json"
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// JSON returns a reporter that writes one JSON object per event and line. The
// fields are documented in docs/events.md and only ever added to. Given to several
// passes in a row, it counts them.
func JSON(w io.Writer) func(reconcile.Event) { return JSONOf(w, "") }

// JSONOf is JSON for passes over one of several resources, which every line names.
func JSONOf(w io.Writer, resource string) func(reconcile.Event) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	pass := 0
	return func(e reconcile.Event) {
		if started, ok := e.(reconcile.PassStarted); ok && started.Round == 1 {
			pass++
		}
		// These types always encode. A reader that went away ends the process.
		_ = encoder.Encode(record(e, pass, resource))
	}
}

// line is what every event begins with.
type line struct {
	Event string `json:"event"`
	// Pass counts the passes of one run of the program, over one resource, from 1.
	Pass int `json:"pass"`
	// Resource is what the pass is about, where a run is about several: a cluster by its
	// name, fdbbackup/NAME or fdbrestore/NAME.
	Resource string `json:"resource,omitempty"`
}

// ActionRecord is an action as documents show it.
type ActionRecord struct {
	// Kind is the action's type: "CreatePod".
	Kind string `json:"kind"`
	// Subject is what it changes.
	Subject string `json:"subject"`
	// Groups are the process groups that it is about; absent for none.
	Groups []string `json:"groups,omitempty"`
	// Summary is the action in one line.
	Summary string `json:"summary"`
	// Impact is what it does to a running database.
	Impact plan.Impact `json:"impact"`
	// Locked is true for an action that runs under the cluster lock only.
	Locked bool `json:"locked"`
	// Details are the action's own fields; they differ by kind. Recordings have none: they may
	// contain secrets.
	Details plan.Action `json:"details,omitempty"`
}

func recordAction(a plan.Action) ActionRecord {
	effect := plan.EffectOf(a)
	return ActionRecord{Kind: plan.KindOf(a), Subject: a.Subject(), Groups: groupsOf(a), Summary: a.Describe(), Impact: effect.Impact, Locked: effect.Locked, Details: a}
}

func groupsOf(a plan.Action) []string {
	ids := plan.GroupsOf(a)
	if len(ids) == 0 {
		return nil
	}
	return phrase.Strings(ids)
}

// HoldRecord is a hold as documents show it.
type HoldRecord struct {
	// Code is the stable reason.
	Code plan.HoldCode `json:"code,omitempty"`
	// Subjects are the process groups, pods, nodes or zones that it is about.
	Subjects []string `json:"subjects,omitempty"`
	// Reason is the text for the user.
	Reason string `json:"reason"`
	// Brief is the reason without the check that refused.
	Brief string `json:"-"`
	// RetryAfterSeconds is null when unknown.
	RetryAfterSeconds *float64 `json:"retryAfterSeconds"`
	// ManualIntervention is true when time alone will not clear it.
	ManualIntervention bool `json:"manualIntervention"`
	// Follows is true when it ends by itself once what other stages do or wait for is over.
	Follows bool `json:"follows,omitempty"`
}

func recordHold(h *plan.Hold) *HoldRecord {
	if h == nil {
		return nil
	}
	return &HoldRecord{Code: h.Code, Subjects: h.Subjects, Reason: h.Text(), Brief: h.Reason, RetryAfterSeconds: inSeconds(h.RetryAfter), ManualIntervention: h.Human, Follows: h.Follows}
}

// inSeconds is a duration for a document, nil when there is none.
func inSeconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

type (
	passStarted struct {
		line
		Preview bool             `json:"preview"`
		Round   int              `json:"round"`
		Stages  []plan.StageName `json:"stages"`
	}
	observing struct {
		line
		Stage  plan.StageName `json:"stage"`
		Facets []string       `json:"facets"`
	}
	observed struct {
		line
		Facets []string   `json:"facets"`
		AsOf   *time.Time `json:"asOf"`
		// ResourceVersion is the one of the custom resource.
		ResourceVersion string `json:"resourceVersion,omitempty"`
		// DatabaseAvailable is null when the database status was not read, or the database did not
		// answer.
		DatabaseAvailable *bool `json:"databaseAvailable"`
	}
	gatesChecked struct {
		line
		Checks []plan.Check `json:"checks"`
	}
	stageDecided struct {
		line
		Stage   plan.StageName `json:"stage"`
		Why     string         `json:"why,omitempty"`
		Actions []ActionRecord `json:"actions"`
		Checks  []plan.Check   `json:"checks"`
		Hold    *HoldRecord    `json:"hold"`
		// Housekeeping is what the stage leaves to a later pass; null for nothing.
		Housekeeping *HousekeepingRecord `json:"housekeeping,omitempty"`
		Provisional  []plan.StageName    `json:"provisional,omitempty"`
	}
	taken struct {
		line
		Stage plan.StageName `json:"stage"`
	}
	actionStarted struct {
		line
		Stage  plan.StageName `json:"stage"`
		Action ActionRecord   `json:"action"`
	}
	actionDone struct {
		line
		Stage  plan.StageName `json:"stage"`
		Action ActionRecord   `json:"action"`
		Error  string         `json:"error,omitempty"`
	}
	stageDone struct {
		line
		Stage   plan.StageName    `json:"stage"`
		Outcome reconcile.Outcome `json:"outcome"`
		Reason  string            `json:"reason,omitempty"`
	}
	passDone struct {
		line
		PassRecord
	}
)

// PassRecord is how a pass ended.
type PassRecord struct {
	Outcome reconcile.Outcome `json:"outcome"`
	// RetryAfterSeconds is the longest wait that a stage asked for; null when none did.
	RetryAfterSeconds *float64 `json:"retryAfterSeconds"`
	Acted             int      `json:"acted"`
	Planned           int      `json:"planned"`
	Failures          []string `json:"failures"`
	// Housekeeping is what a later pass completes; it is part of no outcome.
	Housekeeping []HousekeepingRecord `json:"housekeeping,omitempty"`
	// Stopped is what ended the pass early; empty when nothing did.
	Stopped string `json:"stopped,omitempty"`
}

// RecordPass is how a pass ended, for a document.
func RecordPass(p reconcile.PassDone) PassRecord {
	r := PassRecord{
		Outcome: p.Outcome, RetryAfterSeconds: inSeconds(p.RetryAfter),
		Acted: p.Acted, Planned: p.Planned, Failures: make([]string, len(p.Failures)),
		Housekeeping: recordAllHousekeeping(p.Housekeeping),
	}
	for i, err := range p.Failures {
		r.Failures[i] = oneLine(err.Error())
	}
	if p.Stopped != nil {
		r.Stopped = oneLine(p.Stopped.Error())
	}
	return r
}

func record(e reconcile.Event, pass int, resource string) any {
	head := func(event string) line { return line{event, pass, resource} }
	switch e := e.(type) {
	case reconcile.PassStarted:
		return passStarted{head("started"), e.Preview, e.Round, e.Stages}
	case reconcile.Observing:
		return observing{head("observing"), e.Stage, e.Facets.Names()}
	case reconcile.Observed:
		return recordObserved(head("observed"), e)
	case reconcile.GatesChecked:
		return gatesChecked{head("gates"), orEmpty(e.Checks)}
	case reconcile.StageDecided:
		return stageDecided{head("decided"), e.Stage, e.Why, recordActions(e.Actions), orEmpty(e.Checks), recordHold(e.Hold), recordHousekeeping(e.Housekeeping), e.Provisional}
	case reconcile.LeaseTaken:
		return taken{head("leased"), e.Stage}
	case reconcile.LockTaken:
		return taken{head("locked"), e.Stage}
	case reconcile.ActionStarted:
		return actionStarted{head("acting"), e.Stage, recordAction(e.Action)}
	case reconcile.ActionDone:
		done := actionDone{line: head("acted"), Stage: e.Stage, Action: recordAction(e.Action)}
		if e.Err != nil {
			done.Error = oneLine(e.Err.Error())
		}
		return done
	case reconcile.StageDone:
		return stageDone{head("stage"), e.Stage, e.Outcome, oneLine(e.Reason)}
	case reconcile.PassDone:
		return passDone{head("pass"), RecordPass(e)}
	}
	return nil
}

func recordObserved(head line, e reconcile.Observed) observed {
	o := observed{line: head, Facets: e.Facets.Names(), AsOf: known(e.Snapshot.Now)}
	if of := recordOf(e.Snapshot); of != nil {
		o.ResourceVersion = of.GetResourceVersion()
	}
	if e.Snapshot.Database.Status != nil {
		available := e.Snapshot.Database.Available()
		o.DatabaseAvailable = &available
	}
	return o
}

func recordActions(actions []plan.Action) []ActionRecord {
	records := make([]ActionRecord, len(actions))
	for i, a := range actions {
		records[i] = recordAction(a)
	}
	return records
}

// orEmpty makes a list that JSON shows as one even when there is nothing in it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
