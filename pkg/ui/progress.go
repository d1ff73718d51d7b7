package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Progress shows in the footer of a terminal what passes do at the moment, or wait for, and for how
// long they have run. A nil one shows nothing. It is safe for concurrent use.
type Progress struct {
	footer *layout.Footer
	clock  clock.WithTicker

	mu      sync.Mutex
	started time.Time
	// operation is how far all of it was after the last pass.
	operation reconcile.OperationProgress
	passes    int
	acted     int
	stage     plan.StageName
	what      string // what is done or waited for
	done      int    // of all actions of the stage
	all       int    // 0 while no action runs
	since     time.Time
	begun     bool
	ended     bool
	stop      chan struct{}
	stopped   chan struct{}
}

// NewProgress returns a progress that is not shown yet.
func NewProgress(f *layout.Footer, c clock.WithTicker) *Progress {
	return &Progress{footer: f, clock: c, stop: make(chan struct{}), stopped: make(chan struct{})}
}

// Begin shows the progress of passes that begin now, until End.
func (p *Progress) Begin() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started, p.begun = p.clock.Now(), true
	p.since = p.started
	go p.tick()
}

// Operation shows how far the operation is after a pass.
func (p *Progress) Operation(v reconcile.OperationProgress) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.operation = v
	p.draw()
}

// Report takes an event of a pass.
func (p *Progress) Report(e reconcile.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case reconcile.PassStarted:
		if e.Round == 1 {
			p.passes++
		}
	case reconcile.Observing:
		p.set(e.Stage, "reading "+readWords(e.Facets), 0)
	case reconcile.StageDecided:
		p.set(e.Stage, "", len(e.Actions))
	case reconcile.ActionStarted:
		p.begin(e.Stage, e.Action)
	case reconcile.ActionDone:
		p.done++
		if e.Err == nil {
			p.acted++
		}
	case reconcile.StageDone:
		p.set(e.Stage, inspect.OneLine(e.Reason), 0)
	case reconcile.Observed, reconcile.GatesChecked, reconcile.LeaseTaken, reconcile.LockTaken, reconcile.PassDone:
		return // the line of before still holds
	}
	p.draw()
}

// readWords names what is read, unless it is nearly everything.
func readWords(f plan.Facet) string {
	const few = 3
	if len(f.Names()) > few {
		return "the cluster state"
	}
	return f.String()
}

// begin shows the action that begins; several of a kind by their number.
func (p *Progress) begin(stage plan.StageName, a plan.Action) {
	p.stage, p.what = stage, inspect.OneLine(a.Describe())
	if r, is := a.(plan.Repeated); is && p.all > 1 {
		p.what = r.Together(p.all)
	}
}

func (p *Progress) set(stage plan.StageName, what string, actions int) {
	p.stage, p.what, p.done, p.all, p.since = stage, what, 0, actions, p.clock.Now()
}

// Wait shows what the next pass waits for.
func (p *Progress) Wait(reason string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set("", "waiting: "+inspect.OneLine(reason), 0)
	p.draw()
}

// Hide removes the footer until the next event: a question needs the terminal.
func (p *Progress) Hide() {
	if p != nil {
		p.footer.Show()
	}
}

// End removes the footer for good.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	running := p.begun && !p.ended
	p.ended = true
	p.mu.Unlock()
	if running {
		close(p.stop)
		<-p.stopped
	}
	p.footer.Show()
}

// tick keeps the times of a shown footer current.
func (p *Progress) tick() {
	defer close(p.stopped)
	ticker := p.clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C():
			if p.footer.Shown() {
				p.mu.Lock()
				p.draw()
				p.mu.Unlock()
			}
		}
	}
}

// draw shows what happens, how far a rollout and each replacement are, and how far all of it is.
func (p *Progress) draw() {
	if p.ended || !p.begun {
		return
	}
	what := p.what
	if p.all > 1 {
		what = fmt.Sprintf("%s %d/%d  %s", bar(p.done, p.all), p.done, p.all, what)
	}
	if p.stage != "" && what != "" {
		what = string(p.stage) + "  " + what
	}
	now := p.clock.Now()
	if d := now.Sub(p.since).Round(time.Second); d >= 2*time.Second {
		what += fmt.Sprintf(" (%s)", phrase.Duration(d))
	}
	lines := []string{what}
	if p.operation.Rollout != nil {
		lines = append(lines, Joined(RolloutLine(*p.operation.Rollout, p.footer.Width())))
	}
	for i, r := range p.operation.Replacements {
		if i == mostReplacements {
			lines = append(lines, phrase.Count(p.operation.ReplacementsTotal-i, "more process group"))
			break
		}
		lines = append(lines, Joined(ReplacementLine(r, p.footer.Width())))
	}
	p.footer.Show(append(lines, p.soFar(now))...)
}

// mostReplacements is how many replacements the footer shows: the rest of the terminal is for what was done.
const mostReplacements = 3

// soFar returns how long all of it still takes, what was done, and how safe the database is meanwhile.
func (p *Progress) soFar(now time.Time) string {
	passes := fmt.Sprintf("pass %d, %s, %s so far", max(1, p.passes), phrase.Count(p.acted, "action"), phrase.Duration(now.Sub(p.started).Round(time.Second)))
	clauses := []Clause{clause(3, list.Plain, inspect.TimeLeftWords(p.operation, now)), clause(9, list.Plain, passes), clause(4, list.Plain, inspect.CountWords(p.operation))}
	clauses = slices.DeleteFunc(append(clauses, SafetyClauses(p.operation)...), func(c Clause) bool { return c.Pieces[0].Text == "" })
	return Joined(FitLine(clauses, Between, p.footer.Width()))
}

// barCells is the width of a progress bar.
const barCells = 20

func bar(done, all int) string {
	full := min(barCells, barCells*done/max(1, all))
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full)
}

// WriteProgress prints a line for each target that has changed, after the time of at, where that is
// not zero.
func WriteProgress(w io.Writer, at time.Time, before, now []inspect.Target) {
	for _, t := range now {
		if !slices.Contains(before, t) {
			label := fmt.Sprintf("%-27s  %-7s  ", t.ID, t.Phase)
			if t.Note == "" {
				label = strings.TrimRight(label, " ")
			}
			layout.Entry(w, stamp(at)+label, t.Note)
		}
	}
}

// stamp returns how a line begins that is written at a time, so that logs of several programs can be
// read side by side; nothing for the zero time.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("15:04:05Z") + "  "
}
