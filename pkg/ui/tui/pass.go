package tui

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// pass is the progress of the running pass, or the result of the last one.
type pass struct {
	// number counts passes from 1; 0 before the first.
	number  int
	round   int
	preview bool
	started time.Time
	// stages are those of the pass in order; one that did not run has no outcome.
	stages []stage
	// refused are the gates that refused before the first change.
	refused []plan.Check
	// running is the position of the running stage, from 1; 0 between stages.
	running int
	// ended is when it ended; zero while it runs.
	ended   time.Time
	outcome string
	acted   int
	stopped string
	// failures are its errors.
	failures []string
	// wait is the wait after it; nil for none.
	wait *passWait
}

// stage is one stage of a pass.
type stage struct {
	name plan.StageName
	// round is the last one in which it ran; 0 for none.
	round   int
	outcome string
	reason  string
	why     string
	// actions are what it did, in order.
	actions []action
	checks  []plan.Check
	// busy is what it does now: reading, acting; empty for nothing.
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

// passWait is the wait between two passes.
type passWait struct {
	reason                 string
	notBefore, noLaterThan *time.Time
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

// apply returns the pass after a line. Lines of unknown kinds, which a later version may have
// written, change nothing.
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
		p.wait = &passWait{l.Reason, l.NotBefore, l.NoLaterThan}
	case "wait-ended":
		p.wait = nil
	default:
		p.inStage(at, l)
	}
	return p
}

// start returns a new pass, or another round of one, which keeps the actions of its stages.
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

// inStage applies a line to its stage.
func (p *pass) inStage(at time.Time, l passLine) {
	i := p.current(l.Stage)
	if i < 0 {
		return
	}
	s := p.stages[i]
	if s.round < p.round { // a later round keeps only the actions
		s.round, s.outcome, s.reason = p.round, "", ""
	}
	s.actions = slices.Clone(s.actions)
	switch l.Event {
	case "observing":
		s.busy, s.since = "reading", at
	case "decided":
		s.busy, s.why, s.checks = "", l.Why, l.Checks
	case "leased":
		s.busy, s.since = "holds the Lease", at
	case "locked":
		s.busy, s.since = "holds the lock", at
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

// current returns the stage of a name to which a line applies: a pass can have one twice, and
// then the second begins after the first has ended. -1 for none.
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

// now returns the running stage.
func (p pass) now() (stage, bool) {
	if p.running == 0 {
		return stage{}, false
	}
	return p.stages[p.running-1], true
}

// ended records the end of the last action of a kind on a subject.
func ended(actions []action, at time.Time, l passLine) []action {
	for i := len(actions) - 1; i >= 0; i-- {
		if actions[i].kind == l.Action.Kind && actions[i].subject == l.Action.Subject && actions[i].ended.IsZero() {
			actions[i].ended, actions[i].failure = at, l.Error
			return actions
		}
	}
	return append(actions, action{kind: l.Action.Kind, subject: l.Action.Subject, summary: l.Action.Summary, started: at, ended: at, failure: l.Error})
}
