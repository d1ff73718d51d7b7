package inspect

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

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

// RecordAction returns an action as part of a document.
func RecordAction(a plan.Action) ActionRecord {
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

// Key identifies a hold: its code, and what it is about.
func (h HoldRecord) Key() string { return string(h.Code) + " " + strings.Join(h.Subjects, ",") }

// RecordHold returns a hold as part of a document; nil for nil.
func RecordHold(h *plan.Hold) *HoldRecord {
	if h == nil {
		return nil
	}
	return &HoldRecord{Code: h.Code, Subjects: h.Subjects, Reason: h.Text(), Brief: h.Reason, RetryAfterSeconds: InSeconds(h.RetryAfter), ManualIntervention: h.Manual, Follows: h.Follows}
}

// InSeconds is a duration for a document, nil when there is none.
func InSeconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

// PassRecord is how a pass ended.
type PassRecord struct {
	Outcome reconcile.Outcome `json:"outcome"`
	// RetryAfterSeconds is the longest wait that a stage requested; null when none did.
	RetryAfterSeconds *float64 `json:"retryAfterSeconds"`
	Acted             int      `json:"acted"`
	Planned           int      `json:"planned"`
	Failures          []string `json:"failures"`
	// Housekeeping is what a later pass completes; it is part of no outcome.
	Housekeeping []HousekeepingRecord `json:"housekeeping,omitempty"`
	// Stopped is what ended the pass early; empty when nothing did.
	Stopped string `json:"stopped,omitempty"`
	// refusals are the keys of the checks that the failures are refusals of; empty for others.
	refusals []string
	// stopFailed is true if what ended the pass is among the failures, with its stage or without.
	stopFailed bool
}

// FailuresBeside returns the failures that are not the refusal of one of these checks.
func (r PassRecord) FailuresBeside(checks []plan.Check) []string {
	var others []string
	for i, failure := range r.Failures {
		if i >= len(r.refusals) || !slices.ContainsFunc(checks, func(c plan.Check) bool { return c.Key() == r.refusals[i] }) {
			others = append(others, failure)
		}
	}
	return others
}

// StoppedBeside returns what ended the pass; empty if that is among the failures, or nothing did.
func (r PassRecord) StoppedBeside() string {
	if r.stopFailed {
		return ""
	}
	return r.Stopped
}

// RecordPass is how a pass ended, for a document.
func RecordPass(p reconcile.PassDone) PassRecord {
	r := PassRecord{
		Outcome: p.Outcome, RetryAfterSeconds: InSeconds(p.RetryAfter),
		Acted: p.Acted, Planned: p.Planned, Failures: make([]string, len(p.Failures)),
		Housekeeping: recordAllHousekeeping(p.Housekeeping),
	}
	for i, err := range p.Failures {
		r.Failures[i] = OneLine(err.Error())
		r.refusals = append(r.refusals, refusalOf(err))
		r.stopFailed = r.stopFailed || (p.Stopped != nil && errors.Is(err, p.Stopped))
	}
	if p.Stopped != nil {
		r.Stopped = OneLine(p.Stopped.Error())
	}
	return r
}

// refusalOf returns the key of the check whose refusal an error is; empty for others. What a stage
// adds to a refusal is its own failure.
func refusalOf(err error) string {
	if refused, is := errors.AsType[*reconcile.RefusedError](err); is && errors.Unwrap(err) == nil {
		return refused.Check.Key()
	}
	return ""
}

// RecordActions returns actions as part of a document; never nil.
func RecordActions(actions []plan.Action) []ActionRecord {
	records := make([]ActionRecord, len(actions))
	for i, a := range actions {
		records[i] = RecordAction(a)
	}
	return records
}

// OrEmpty makes a list that JSON shows as one even when there is nothing in it.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ReconcileResult is the last line of `reconcile -o json`.
type ReconcileResult struct {
	Document
	// Outcome is how the last pass ended.
	Outcome reconcile.Outcome `json:"outcome"`
	// Passes is how many passes ran.
	Passes int `json:"passes"`
	// Acted counts the actions of all passes that ran without an error.
	Acted int `json:"acted"`
	// Reason is why the cluster does not match its spec; empty when every stage that ran is
	// done.
	Reason string `json:"reason,omitempty"`
	// ExitCode is what the program ends with.
	ExitCode int        `json:"exitCode"`
	Last     PassRecord `json:"lastPass"`
}

// ChangeResult is the last line of `-o json` of a command that changes something about
// targets of its own.
type ChangeResult struct {
	ReconcileResult
	// Command is the command's name: "replace".
	Command string `json:"command"`
	// Reached is true when all targets have their desired state.
	Reached bool     `json:"reached"`
	Targets []Target `json:"targets"`
}

// WithoutSecrets leaves out an action's own fields, and hides secrets in its summary.
func (r ActionRecord) WithoutSecrets() ActionRecord {
	r.Details, r.Summary = nil, redact.Kept(r.Summary)
	return r
}

// ReconcileResultList is the last line of `reconcile -o json` over several resources: the results of a cluster, its backups
// and its restores, or of the sites of one database, in the order of their passes.
type ReconcileResultList struct {
	Document
	// Outcome is the worst of all.
	Outcome reconcile.Outcome `json:"outcome"`
	// Acted counts the actions over all resources that ran without an error.
	Acted int `json:"acted"`
	// ExitCode is what the program ends with: the most important of all.
	ExitCode  int                 `json:"exitCode"`
	Resources []ResourceReconcile `json:"resources"`
}

// ResourceReconcile is the result of one of them.
type ResourceReconcile struct {
	// Resource is a cluster's name, fdbbackup/NAME or fdbrestore/NAME.
	Resource string `json:"resource"`
	// Site is the site of the resource; absent where the command is not about several.
	Site    string            `json:"site,omitempty"`
	Outcome reconcile.Outcome `json:"outcome"`
	// Passes is how many passes ran; 0 where it was not its turn.
	Passes int `json:"passes"`
	Acted  int `json:"acted"`
	// Reason is why it does not match its spec; empty when it does.
	Reason   string `json:"reason,omitempty"`
	ExitCode int    `json:"exitCode"`
}

// HousekeepingRecord is what a later pass completes, as documents show it: the process groups
// are removed, and their exclusions end once the database has been stable for long enough.
type HousekeepingRecord struct {
	plan.Housekeeping
	// RetryAfterSeconds is how long that takes at least; null when unknown.
	RetryAfterSeconds *float64 `json:"retryAfterSeconds"`
	// Due is when that is over; null when unknown.
	Due *time.Time `json:"due"`
}

// RecordHousekeeping returns what a later pass does as part of a document; nil for nil.
func RecordHousekeeping(h *plan.Housekeeping) *HousekeepingRecord {
	if h == nil {
		return nil
	}
	shown := *h
	shown.Groups, shown.Exclusions, shown.Requires = OrEmpty(h.Groups), OrEmpty(h.Exclusions), OrEmpty(h.Requires)
	return &HousekeepingRecord{Housekeeping: shown, RetryAfterSeconds: InSeconds(h.RetryAfter), Due: Known(h.Due)}
}

func recordAllHousekeeping(all []plan.Housekeeping) []HousekeepingRecord {
	records := make([]HousekeepingRecord, len(all))
	for i := range all {
		records[i] = *RecordHousekeeping(&all[i])
	}
	return records
}

// EventHead is what every event begins with.
type EventHead struct {
	Event string `json:"event"`
	// Pass counts the passes of one run of the program, over one resource, from 1.
	Pass int `json:"pass"`
	// Resource is what the pass is about, where a run is about several: a cluster by its
	// name, fdbbackup/NAME or fdbrestore/NAME.
	Resource string `json:"resource,omitempty"`
	// Site is the site of the resource, where a run is about several.
	Site string `json:"site,omitempty"`
}

// WaitStarted is the line of a watch that rests after a pass.
type WaitStarted struct {
	EventHead
	// Ending is how the pass ended, as far as the wait depends on that.
	Ending string `json:"ending"`
	// Reason is what the pass left undone; empty when it did all.
	Reason string `json:"reason,omitempty"`
	// NotBefore is when the next pass may begin at the earliest, unless the resource
	// itself is changed; NoLaterThan is when it begins if nothing changes.
	NotBefore   *time.Time `json:"notBefore"`
	NoLaterThan *time.Time `json:"noLaterThan"`
}

var endings = map[pace.Ending]string{
	pace.Settled: "settled", pace.Unfinished: "unfinished", pace.Waiting: "waiting",
	pace.Held: "held", pace.Blocked: "blocked", pace.Failed: "failed",
}

// NewWaitStarted returns the line of a wait that begins now.
func NewWaitStarted(pass int, e pace.Ending, reason string, r pace.Wait, now time.Time) WaitStarted {
	return WaitStarted{
		EventHead: EventHead{Event: "wait-started", Pass: pass}, Ending: endings[e], Reason: OneLine(reason),
		NotBefore: Known(now.Add(r.AtLeast)), NoLaterThan: Known(now.Add(r.AtMost)),
	}
}

// WaitEnded is the line of a watch whose rest is over.
type WaitEnded struct {
	EventHead
	// Changed is true when a change ended the wait early.
	Changed bool `json:"changed"`
	// Facets are the parts of the cluster state that changed since the pass began.
	Facets []string `json:"facets"`
}

// NewWaitEnded returns the line of the end of a wait.
func NewWaitEnded(pass int, changed bool, facets plan.Facet) WaitEnded {
	return WaitEnded{EventHead: EventHead{Event: "wait-ended", Pass: pass}, Changed: changed, Facets: OrEmpty(facets.Names())}
}
