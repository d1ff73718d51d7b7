package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// TextOptions is how a pass is printed in lines.
type TextOptions struct {
	Paint
	// Verbose also prints stages that have nothing to do, checks that passed, and
	// what is being read.
	Verbose bool
	// Live leaves out what ends by itself, since a Progress shows it while it lasts, and what passes
	// only observe and record.
	Live bool
	// Clock returns the current time, with which lines begin; nil for lines without it.
	Clock func() time.Time
}

// Text returns a reporter that writes one line per noteworthy event, as it
// happens: the stage, a word, and what it is about. Actions of a stage that differ in their object
// alone are one line, once the stage has carried them out; Verbose prints each as it is done. Given to several passes in a
// row, it prints the reason of a wait once, and again only when the reason changes.
func Text(w io.Writer, o TextOptions) func(reconcile.Event) {
	t := &text{w: w, o: o, printed: map[string]string{}, holds: map[plan.StageName]string{}}
	return t.report
}

type text struct {
	w io.Writer
	o TextOptions
	// printed identifies the last reason by stage, word and subject, for lines that would repeat.
	printed map[string]string
	// holds identifies the hold that each stage last decided on.
	holds map[plan.StageName]string
	// together are the actions that were carried out and are not printed yet.
	together repeated
	// left are the exclusions that a later pass ends, as last reported.
	left []string
}

func (t *text) report(e reconcile.Event) {
	switch e := e.(type) {
	case reconcile.PassStarted:
		if e.Round > 1 {
			t.line("", "again", fmt.Sprintf("round %d from the first stage: these changes affect earlier stages", e.Round))
		}
	case reconcile.Observing:
		t.verbose(e.Stage, "reading", e.Facets.String())
	case reconcile.Observed: // what was read shows in what is decided
	case reconcile.GatesChecked:
		t.checks("", e.Checks, func(c plan.Check) plan.Nature { return c.Nature() })
	case reconcile.StageDecided:
		t.decided(e)
	case reconcile.LeaseTaken:
		t.lease(e)
	case reconcile.LockTaken:
		t.line(e.Stage, "locked", "reading the cluster again")
	case reconcile.ActionStarted:
		t.verbose(e.Stage, "doing", e.Action.Describe())
	case reconcile.ActionDone:
		t.acted(e)
	case reconcile.StageDone:
		t.done(e)
	case reconcile.PassDone: // the command prints the summary, since it knows what comes next
		t.flush()
		if e.Outcome <= reconcile.Changed {
			clear(t.printed) // nothing is waited for any more: a later wait is a new one
		}
		if len(e.Housekeeping) == 0 {
			t.left = nil
		}
	}
}

func (t *text) lease(e reconcile.LeaseTaken) {
	words := "acquired; reading the cluster again"
	if e.Early {
		words = "acquired before the first stage"
	}
	t.verbose(e.Stage, "lease", words)
}

func (t *text) decided(e reconcile.StageDecided) {
	t.holds[e.Stage] = HoldKey(e.Hold)
	t.checks(e.Stage, e.Checks, func(c plan.Check) plan.Nature {
		if e.Hold == nil { // the stage goes on, so the check itself decides
			return c.Nature()
		}
		return e.Nature()
	})
	if e.Why != "" {
		t.verbose(e.Stage, "wants", phrase.Count(len(e.Actions), "action")+": "+e.Why)
	}
	if e.Housekeeping != nil {
		t.later(e.Stage, *e.Housekeeping)
	}
}

// later reports housekeeping once, for as long as it is about the same exclusions.
func (t *text) later(stage plan.StageName, h plan.Housekeeping) {
	if slices.Equal(t.left, h.Exclusions) && !t.o.Verbose {
		return
	}
	t.left = h.Exclusions
	t.line(stage, "later", h.Text())
}

// checks prints what was refused or does not hold yet and, if verbose, what passed.
func (t *text) checks(stage plan.StageName, checks []plan.Check, nature func(plan.Check) plan.Nature) {
	for _, c := range checks {
		switch {
		case c.OK:
			t.verbose(stage, "checked", inspect.CheckWords(c))
		case nature(c) == plan.Problem:
			t.once(stage, "refused", c.Key(), "", inspect.CheckWords(c))
		case t.o.Live:
		default:
			t.once(stage, "not yet", c.Key(), "", inspect.CheckWords(c))
		}
	}
}

func (t *text) acted(e reconcile.ActionDone) {
	if e.Err != nil {
		failure := inspect.OneLine(e.Err.Error())
		t.once(e.Stage, EndWord(reconcile.Failed, reconcile.NatureOf(e.Err)), plan.KindOf(e.Action)+" "+e.Action.Subject(), failure, e.Action.Describe()+": "+failure)
		return
	}
	if t.o.Live && plan.Records(e.Action) {
		return // what passes observe is no change of the user
	}
	action, is := e.Action.(plan.Repeated)
	if !is || t.o.Verbose {
		t.line(e.Stage, "did", e.Action.Describe())
		return
	}
	if !t.together.add(e.Stage, action) {
		t.flush()
		t.together.add(e.Stage, action)
	}
}

// maxNamed is how many objects of actions that are one line are named.
const maxNamed = 4

// flush prints the actions that are one line.
func (t *text) flush() {
	all := t.together
	t.together = repeated{}
	switch len(all.actions) {
	case 0:
	case 1:
		t.line(all.stage, "did", all.actions[0].Describe())
	default:
		var objects []string
		for _, a := range all.actions {
			objects = append(objects, a.Each())
		}
		slices.Sort(objects)
		t.line(all.stage, "did", all.actions[0].Together(len(objects))+": "+phrase.Some(objects, maxNamed))
	}
}

// repeated are actions of one stage that differ in their object alone.
type repeated struct {
	stage   plan.StageName
	actions []plan.Repeated
}

// add adds an action; false if it is another one.
func (r *repeated) add(stage plan.StageName, a plan.Repeated) bool {
	if len(r.actions) > 0 {
		first := r.actions[0]
		if r.stage != stage || plan.KindOf(first) != plan.KindOf(a) || first.What() != a.What() {
			return false
		}
	}
	r.stage, r.actions = stage, append(r.actions, a)
	return true
}

// done prints how a stage ended, unless its actions show it.
func (t *text) done(e reconcile.StageDone) {
	t.flush()
	switch e.Outcome {
	case reconcile.Done:
		t.verbose(e.Stage, "done", "nothing to do")
	case reconcile.Changed: // its actions were printed
	case reconcile.Waiting, reconcile.Blocked:
		if t.o.Live && e.Nature == plan.Ordinary {
			return
		}
		t.once(e.Stage, EndWord(e.Outcome, e.Nature), "", t.holds[e.Stage], inspect.OneLine(e.Reason))
	case reconcile.Failed:
		t.once(e.Stage, e.Outcome.String(), "", e.Reason, inspect.OneLine(e.Reason))
	}
}

// EndWord returns the word for how a stage or an action that is not done ended. What ends by itself is
// waiting, and what the user has to approve is pending; other words are for problems only.
func EndWord(o reconcile.Outcome, n plan.Nature) string {
	switch n {
	case plan.Approval:
		return "pending"
	case plan.Ordinary:
		return reconcile.Waiting.String()
	default:
		return o.String()
	}
}

// once writes a line unless the last one about the same had the same reason.
func (t *text) once(stage plan.StageName, word, about, reason, what string) {
	key := string(stage) + " " + word + " " + about
	if last, printed := t.printed[key]; printed && last == reason && !t.o.Verbose {
		return
	}
	t.printed[key] = reason
	t.line(stage, word, what)
}

// HoldKey identifies why a stage holds, whatever the words and numbers of its reason; empty
// where it does not hold.
func HoldKey(h *plan.Hold) string {
	if h == nil {
		return ""
	}
	return inspect.RecordHold(h).Key()
}

func (t *text) verbose(stage plan.StageName, word, what string) {
	if t.o.Verbose {
		t.line(stage, word, what)
	}
}

// The widths fit the longest stage name and the longest word.
func (t *text) line(stage plan.StageName, word, what string) {
	t.flush()
	padding := strings.Repeat(" ", max(0, len("refused")-len(word)))
	var at time.Time
	if t.o.Clock != nil {
		at = t.o.Clock()
	}
	layout.Entry(t.w, stamp(at)+fmt.Sprintf("%-27s  %s%s  ", stage, t.o.in(colorOf(word), word), padding), what)
}

func colorOf(word string) string {
	switch word {
	case "did", "healthy", "done", "changed":
		return green
	case "refused", "failed", "blocked", "unavailable":
		return red
	case "waiting", "pending", "not yet", "degraded":
		return yellow
	default:
		return faint
	}
}
