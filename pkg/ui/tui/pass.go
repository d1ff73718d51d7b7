package tui

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// pass is what a pass did so far, or did: the last one that was told of.
type pass struct {
	// number counts passes from 1; 0 before the first.
	number  int
	round   int
	preview bool
	started time.Time
	// stages are those of the pass in order; one that did not run has no outcome.
	stages []stage
	// refused are the gates that were answered with no before the first change.
	refused []plan.Check
	// running is the place of the stage that runs now, from 1; 0 between stages.
	running int
	// ended is when it ended; zero while it runs.
	ended   time.Time
	outcome string
	acted   int
	stopped string
	// failures are what went wrong.
	failures []string
	// resting says how the rest after it goes; null while there is none.
	resting *rest
}

// stage is one step of a pass.
type stage struct {
	name plan.StageName
	// round is the last one that it ran in; 0 before it did.
	round   int
	outcome string
	reason  string
	why     string
	// actions are what it did, in order.
	actions []action
	checks  []plan.Check
	// busy is what it does now: reading, locked, acting; empty when it does nothing.
	busy  string
	since time.Time
}

// action is one action of a stage.
type action struct {
	kind, subject string
	summary       string
	started       time.Time
	ended         time.Time
	failure       string
}

// rest is the time between two passes.
type rest struct {
	reason                 string
	notBefore, noLaterThan *time.Time
}

// passLine is any line that a pass writes: ReconcileEvents, and the ReconcileResult that
// closes a run.
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

// apply is the pass once a line was told. Lines of kinds that it does not know, which a
// later version may have written, change nothing.
func (p pass) apply(at time.Time, text json.RawMessage) pass {
	var l passLine
	if err := json.Unmarshal(text, &l); err != nil {
		return p
	}
	p.stages = slices.Clone(p.stages)
	switch l.Event {
	case "started":
		return p.start(at, l)
	case "gates":
		p.refused = slices.DeleteFunc(l.Checks, func(c plan.Check) bool { return c.OK })
	case "pass":
		p.running, p.ended, p.outcome, p.acted, p.stopped, p.failures = 0, at, l.Outcome, l.Acted, l.Stopped, l.Failures
	case "wait-started":
		p.resting = &rest{l.Reason, l.NotBefore, l.NoLaterThan}
	case "wait-ended":
		p.resting = nil
	default:
		p.inStage(at, l)
	}
	return p
}

// start is a new pass, or another round of one, in which what stages did stays visible.
func (p pass) start(at time.Time, l passLine) pass {
	if l.Round > 1 && p.number == l.Pass {
		p.round, p.running = l.Round, 0
		return p
	}
	n := pass{number: max(1, l.Pass), round: max(1, l.Round), preview: l.Preview, started: at}
	for _, name := range l.Stages {
		n.stages = append(n.stages, stage{name: name})
	}
	return n
}

// inStage takes over what a line says of its stage.
func (p *pass) inStage(at time.Time, l passLine) {
	i := p.current(l.Stage)
	if i < 0 {
		return
	}
	s := p.stages[i]
	if s.round < p.round { // in a later round only what it did stays
		s.round, s.outcome, s.reason = p.round, "", ""
	}
	s.actions = slices.Clone(s.actions)
	switch l.Event {
	case "observing":
		s.busy, s.since = "reading", at
	case "decided":
		s.busy, s.why, s.checks = "", l.Why, l.Checks
	case "leased":
		s.busy, s.since = "has the lease", at
	case "locked":
		s.busy, s.since = "has the lock", at
	case "acting":
		s.busy, s.since = "acting", at
		s.actions = append(s.actions, action{kind: l.Action.Kind, subject: l.Action.Subject, summary: l.Action.Summary, started: at})
	case "acted":
		s.busy = ""
		s.actions = ended(s.actions, at, l)
	case "stage":
		s.busy, s.outcome, s.reason = "", l.Outcome, l.Reason
	default:
		return
	}
	p.running = i + 1
	if l.Event == "stage" {
		p.running = 0
	}
	p.stages[i] = s
}

// current is the stage of a name that a line is about: a pass can have one twice, and then
// the second begins once the first has ended. -1 for none.
func (p *pass) current(name plan.StageName) int {
	found := -1
	for i, s := range p.stages {
		if s.name != name {
			continue
		}
		found = i
		if s.round < p.round || s.outcome == "" {
			break
		}
	}
	return found
}

// now is the stage that runs.
func (p pass) now() (stage, bool) {
	if p.running == 0 {
		return stage{}, false
	}
	return p.stages[p.running-1], true
}

// ended notes how the last action of a kind on a subject ended.
func ended(actions []action, at time.Time, l passLine) []action {
	for i := len(actions) - 1; i >= 0; i-- {
		if actions[i].kind == l.Action.Kind && actions[i].subject == l.Action.Subject && actions[i].ended.IsZero() {
			actions[i].ended, actions[i].failure = at, l.Error
			return actions
		}
	}
	return append(actions, action{kind: l.Action.Kind, subject: l.Action.Subject, summary: l.Action.Summary, started: at, ended: at, failure: l.Error})
}
