// Package passes is the progress of passes, from the lines that they write.
package passes

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Pass is the progress of the running pass, or the result of the last one.
type Pass struct {
	// Number counts passes from 1; 0 before the first.
	Number  int
	Round   int
	Preview bool
	Started time.Time
	// Stages are those of the pass in order; one that did not run has no outcome.
	Stages []Stage
	// Refused are the gates that refused before the first change.
	Refused []plan.Check
	// Running is the position of the running stage, from 1; 0 between stages.
	Running int
	// Ended is when it ended; zero while it runs.
	Ended   time.Time
	Outcome string
	Acted   int
	Stopped string
	// Failures are its errors.
	Failures []string
	// Wait is the wait after it; nil for none.
	Wait *Wait
}

// Stage is one stage of a pass.
type Stage struct {
	Name plan.StageName
	// Round is the last one in which it ran; 0 for none.
	Round   int
	Outcome string
	Reason  string
	Why     string
	// Actions are what it did, in order.
	Actions []Action
	Checks  []plan.Check
	// Busy is what it does now: reading, acting; empty for nothing.
	Busy  string
	Since time.Time
}

// Action is one action of a stage.
type Action struct {
	Kind, Subject string
	Summary       string
	Started       time.Time
	Ended         time.Time
	Failure       string
}

// Wait is the wait between two passes.
type Wait struct {
	Reason                 string
	NotBefore, NoLaterThan *time.Time
}

// passLine is any line that a pass writes: ReconcileEvents, and the ReconcileResult at the end
// of a run.
type passLine struct {
	Event   string           `json:"event"`
	Kind    string           `json:"kind"`
	Pass    int              `json:"pass"`
	Round   int              `json:"round"`
	Preview bool             `json:"preview"`
	Stages  []plan.StageName `json:"stages"`
	Stage   plan.StageName   `json:"stage"`
	Facets  []string         `json:"facets"`
	Why     string           `json:"why"`
	Outcome string           `json:"outcome"`
	Reason  string           `json:"reason"`
	Error   string           `json:"error"`
	Stopped string           `json:"stopped"`
	Acted   int              `json:"acted"`
	Action  struct {
		Kind    string `json:"kind"`
		Subject string `json:"subject"`
		Summary string `json:"summary"`
	} `json:"action"`
	Checks      []plan.Check `json:"checks"`
	Failures    []string     `json:"failures"`
	NotBefore   *time.Time   `json:"notBefore"`
	NoLaterThan *time.Time   `json:"noLaterThan"`
}

// Apply returns the pass after a line. Lines of unknown kinds, which a later version may have
// written, change nothing.
func (p Pass) Apply(at time.Time, text json.RawMessage) Pass {
	var l passLine
	if err := json.Unmarshal(text, &l); err != nil {
		return p
	}
	p.Stages = slices.Clone(p.Stages)
	switch l.Event {
	case "started":
		return p.start(at, l)
	case "gates":
		p.Refused = slices.DeleteFunc(l.Checks, func(c plan.Check) bool { return c.OK })
	case "pass":
		p.Running, p.Ended, p.Outcome, p.Acted, p.Stopped, p.Failures = 0, at, l.Outcome, l.Acted, l.Stopped, l.Failures
	case "wait-started":
		p.Wait = &Wait{l.Reason, l.NotBefore, l.NoLaterThan}
	case "wait-ended":
		p.Wait = nil
	default:
		p.inStage(at, l)
	}
	return p
}

// start returns a new pass, or another round of one, which keeps the actions of its stages.
func (p Pass) start(at time.Time, l passLine) Pass {
	if l.Round > 1 && p.Number == l.Pass {
		p.Round, p.Running = l.Round, 0
		return p
	}
	n := Pass{Number: max(1, l.Pass), Round: max(1, l.Round), Preview: l.Preview, Started: at}
	for _, name := range l.Stages {
		n.Stages = append(n.Stages, Stage{Name: name})
	}
	return n
}

// inStage applies a line to its stage.
func (p *Pass) inStage(at time.Time, l passLine) {
	i := p.current(l.Stage)
	if i < 0 {
		return
	}
	s := p.Stages[i]
	if s.Round < p.Round { // a later round keeps only the actions
		s.Round, s.Outcome, s.Reason = p.Round, "", ""
	}
	s.Actions = slices.Clone(s.Actions)
	switch l.Event {
	case "observing":
		s.Busy, s.Since = "reading", at
	case "decided":
		s.Busy, s.Why, s.Checks = "", l.Why, l.Checks
	case "leased":
		s.Busy, s.Since = "holds the Lease", at
	case "locked":
		s.Busy, s.Since = "holds the lock", at
	case "acting":
		s.Busy, s.Since = "acting", at
		s.Actions = append(s.Actions, Action{Kind: l.Action.Kind, Subject: l.Action.Subject, Summary: l.Action.Summary, Started: at})
	case "acted":
		s.Busy = ""
		s.Actions = ended(s.Actions, at, l)
	case "stage":
		s.Busy, s.Outcome, s.Reason = "", l.Outcome, l.Reason
	default:
		return
	}
	p.Running = i + 1
	if l.Event == "stage" {
		p.Running = 0
	}
	p.Stages[i] = s
}

// current returns the stage of a name to which a line applies: a pass can have one twice, and
// then the second begins after the first has ended. -1 for none.
func (p *Pass) current(name plan.StageName) int {
	found := -1
	for i, s := range p.Stages {
		if s.Name != name {
			continue
		}
		found = i
		if s.Round < p.Round || s.Outcome == "" {
			break
		}
	}
	return found
}

// Now returns the running stage.
func (p Pass) Now() (Stage, bool) {
	if p.Running == 0 {
		return Stage{}, false
	}
	return p.Stages[p.Running-1], true
}

// ended records the end of the last action of a kind on a subject.
func ended(actions []Action, at time.Time, l passLine) []Action {
	for i := len(actions) - 1; i >= 0; i-- {
		if actions[i].Kind == l.Action.Kind && actions[i].Subject == l.Action.Subject && actions[i].Ended.IsZero() {
			actions[i].Ended, actions[i].Failure = at, l.Error
			return actions
		}
	}
	return append(actions, Action{Kind: l.Action.Kind, Subject: l.Action.Subject, Summary: l.Action.Summary, Started: at, Ended: at, Failure: l.Error})
}
