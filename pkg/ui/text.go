package ui

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TextOptions is how a pass is told in lines.
type TextOptions struct {
	Paint
	// Verbose also tells of stages that have nothing to do, of checks that
	// passed, and of what is being read.
	Verbose bool
}

// Text returns a reporter that writes one line per noteworthy event, as it
// happens: the stage, a word, and what it is about. Given to several passes in a
// row, it says once why a stage cannot go on, and again only when that changes.
func Text(w io.Writer, o TextOptions) func(reconcile.Event) {
	t := &text{w: w, o: o, said: map[string]string{}}
	return t.report
}

type text struct {
	w io.Writer
	o TextOptions
	// said is what was last said by stage and word, for lines that would repeat.
	said map[string]string
	// left are the exclusions that a later pass ends, as last reported.
	left []string
}

func (t *text) report(e reconcile.Event) {
	switch e := e.(type) {
	case reconcile.PassStarted:
		if e.Round > 1 {
			t.line("", "again", fmt.Sprintf("from the first stage, round %d: later facts rest on what was just done", e.Round))
		}
	case reconcile.Observing:
		t.verbose(e.Stage, "reading", e.Facets.String())
	case reconcile.Observed: // what was read shows in what is decided
	case reconcile.GatesChecked:
		t.checks("", e.Checks)
	case reconcile.StageDecided:
		t.decided(e)
	case reconcile.LeaseTaken:
		t.verbose(e.Stage, "lease", "taken; deciding again on fresh facts")
	case reconcile.LockTaken:
		t.line(e.Stage, "locked", "deciding again on fresh facts")
	case reconcile.ActionStarted:
		t.verbose(e.Stage, "doing", e.Action.Describe())
	case reconcile.ActionDone:
		t.acted(e)
	case reconcile.StageDone:
		t.done(e)
	case reconcile.PassDone: // the command sums up, since it knows what comes next
		if e.Outcome <= reconcile.Changed {
			clear(t.said) // what was in the way is gone: should it come back, that is news
		}
		if len(e.Housekeeping) == 0 {
			t.left = nil
		}
	}
}

func (t *text) decided(e reconcile.StageDecided) {
	t.checks(e.Stage, e.Checks)
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
	t.line(stage, "later", h.Words())
}

// checks tells what was refused, and what passed to those who want to know.
func (t *text) checks(stage plan.StageName, checks []plan.Check) {
	for _, c := range checks {
		if c.OK {
			t.verbose(stage, "checked", checkWords(c))
		} else {
			t.once(stage, "refused", c.Key(), checkWords(c))
		}
	}
}

func (t *text) acted(e reconcile.ActionDone) {
	if e.Err != nil {
		t.once(e.Stage, "failed", e.Action.Describe(), e.Action.Describe()+": "+oneLine(e.Err.Error()))
		return
	}
	t.line(e.Stage, "did", e.Action.Describe())
}

// done tells how a stage ended, unless its actions told already.
func (t *text) done(e reconcile.StageDone) {
	switch e.Outcome {
	case reconcile.Done:
		t.verbose(e.Stage, "done", "nothing to do")
	case reconcile.Changed: // its actions told
	case reconcile.Waiting, reconcile.Blocked, reconcile.Failed:
		t.once(e.Stage, e.Outcome.String(), "", oneLine(e.Reason))
	}
}

// once writes a line unless the last one about the same was the same but for times.
func (t *text) once(stage plan.StageName, word, about, what string) {
	key := string(stage) + " " + word + " " + about
	if t.said[key] == Gist(what) && !t.o.Verbose {
		return
	}
	t.said[key] = Gist(what)
	t.line(stage, word, what)
}

func (t *text) verbose(stage plan.StageName, word, what string) {
	if t.o.Verbose {
		t.line(stage, word, what)
	}
}

// The widths fit the longest stage name and the longest word.
func (t *text) line(stage plan.StageName, word, what string) {
	padding := strings.Repeat(" ", max(0, len("refused")-len(word)))
	fmt.Fprintf(t.w, "%-27s  %s%s  %s\n", stage, t.o.in(colorOf(word), word), padding, what)
}

func colorOf(word string) string {
	switch word {
	case "did", "healthy", "done", "changed":
		return green
	case "refused", "failed", "blocked", "unavailable":
		return red
	case "waiting", "degraded":
		return yellow
	default:
		return faint
	}
}

// checkWords is a check in one line: its code, the question, the evidence.
func checkWords(c plan.Check) string {
	if c.Gate == "" {
		return c.Words()
	}
	return string(c.Gate) + ": " + c.Words()
}

// oneLine keeps an error that holds several in one line.
func oneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }

var spans = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?s\b`)

// Gist is a sentence without its durations: that time passes is no news.
func Gist(text string) string { return spans.ReplaceAllString(text, "…") }
