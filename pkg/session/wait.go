package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// ProgressInterval is the time without output after which a wait is reported. Without other output it
// doubles after each report, up to maxProgressInterval.
const (
	ProgressInterval    = 10 * time.Second
	maxProgressInterval = 5 * time.Minute
)

// WithTimeout ends the context after d, with the cause [exit.ErrTimeout]; 0 means no limit.
func WithTimeout(ctx context.Context, c clock.Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() { cancel(context.Canceled) }
	if d <= 0 {
		return ctx, stop
	}
	timer := c.NewTimer(d)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			cancel(exit.ErrTimeout)
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// Pause waits for d. After ten seconds without output it prints what it waits for, and again at growing
// intervals; if that is empty it prints nothing.
func (e Waiting) Pause(ctx context.Context, d time.Duration, waitingFor string) error {
	end := e.Clock.Now().Add(d)
	return e.PauseUntil(ctx, Wakeup{Due: func() time.Time { return end }}, waitingFor)
}

// Wakeup ends a wait.
type Wakeup struct {
	// Due is when the wait ends, as far as is known when it is called.
	Due func() time.Time
	// News receives a value when something happened that may change Due; nil if nothing does.
	News <-chan struct{}
	// It runs after every value of News.
	OnNews func()
	// Poll looks for news that nothing reports, and returns when to do so again; 0 ends it. It is called
	// PollInterval after the wait began; nil for nothing.
	Poll func(ctx context.Context) (after time.Duration)
}

// PollInterval is the minimum time between two polls of a wait.
const PollInterval = 2 * time.Second

// PauseUntil waits until w is due, and prints what Pause prints.
func (e Waiting) PauseUntil(ctx context.Context, w Wakeup, waitingFor string) error {
	polls := polling{w.Poll, e.Clock.Now().Add(PollInterval)}
	for {
		if err := ctx.Err(); err != nil { // also where its timer has ended at the same moment
			return exit.CauseOf(ctx, err)
		}
		now := e.Clock.Now()
		left := w.Due().Sub(now)
		if left <= 0 {
			return nil
		}
		if polls.due(now) {
			polls.run(ctx, e.Clock)
			select {
			case <-w.News: // of the poll
				w.OnNews()
			default:
			}
			continue
		}
		left = polls.within(left, now)
		if waitingFor != "" {
			if e.untilReport(now) <= 0 {
				e.stillWaiting(waitingFor)
			}
			left = min(left, e.untilReport(now), ProgressInterval) // a clock that is set is noticed
		}
		timer := e.Clock.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return exit.CauseOf(ctx, ctx.Err())
		case <-w.News:
			w.OnNews()
		case <-timer.C():
		}
		timer.Stop()
	}
}

// polling calls the poll of a wait when it is due.
type polling struct {
	poll func(ctx context.Context) (after time.Duration) // nil once there is nothing to poll
	next time.Time
}

func (p *polling) due(now time.Time) bool { return p.poll != nil && !now.Before(p.next) }

// within returns the time until the next poll, or left where that is shorter.
func (p *polling) within(left time.Duration, now time.Time) time.Duration {
	if p.poll == nil {
		return left
	}
	return min(left, p.next.Sub(now))
}

func (p *polling) run(ctx context.Context, c clock.PassiveClock) {
	after := p.poll(ctx)
	if after <= 0 {
		p.poll = nil
	}
	p.next = c.Now().Add(after)
}

// stillWaiting prints what the command still waits for. An observer and a footer show that by
// themselves.
func (e Waiting) stillWaiting(reason string) {
	if e.Observer != nil || e.Footer.Shown() {
		e.Touch()
		return
	}
	e.mu.Lock()
	reports := e.reports
	e.mu.Unlock()
	e.Logf("still waiting: %s", reason)
	e.mu.Lock()
	e.reports = reports + 1
	e.mu.Unlock()
}

// untilReport returns the time until a wait is reported: each report without other output since the one
// before doubles it.
func (e Waiting) untilReport(now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	interval := ProgressInterval
	for range e.reports {
		interval = min(2*interval, maxProgressInterval)
	}
	return interval - now.Sub(e.lastOutput)
}

// idleFor returns the time since the last output.
func (e Waiting) idleFor(now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return now.Sub(e.lastOutput)
}

// Touch records output at the current time.
func (e *Env) Touch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastOutput, e.reports = e.Clock.Now(), 0
}

// Logf prints a line of progress, unless --quiet is set.
func (e *Env) Logf(words string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastOutput, e.reports = e.Clock.Now(), 0
	if !e.Global.Quiet {
		fmt.Fprintln(e.ErrOut, layout.OneLine(e.ErrOut, fmt.Sprintf(words, args...)))
	}
}

// Heartbeat prints what a pass is busy with after ten seconds, and every ten seconds from then
// on. An observer and a footer show that by themselves.
type Heartbeat struct {
	Env   *Env
	mu    sync.Mutex
	busy  string // empty when idle
	limit string // the limit, if it is long
	since time.Time
}

func (h *Heartbeat) Report(e reconcile.Event) {
	switch e := e.(type) {
	case reconcile.Observing:
		h.set("reading "+e.Facets.String(), 0)
	case reconcile.ActionStarted:
		h.set(e.Action.Describe(), plan.EffectOf(e.Action).AtMost)
	case reconcile.LeaseTaken, reconcile.LockTaken, reconcile.GatesChecked, reconcile.PassStarted, reconcile.Observed,
		reconcile.StageDecided, reconcile.ActionDone, reconcile.StageDone, reconcile.PassDone:
		h.set("", 0)
	}
}

// set records what takes time now, and its limit; 0 for none to print.
func (h *Heartbeat) set(busy string, most time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy, h.limit, h.since = busy, "", h.Env.Clock.Now()
	if most > 0 {
		h.limit = fmt.Sprintf(" (%s at most)", most)
	}
}

// Start prints until the returned function is called.
func (h *Heartbeat) Start() (stop func()) {
	ticker := h.Env.Clock.NewTicker(time.Second)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C():
				h.Beat()
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

func (h *Heartbeat) Beat() {
	h.mu.Lock()
	busy, most, since := h.busy, h.limit, h.since
	h.mu.Unlock()
	now := h.Env.Clock.Now()
	if took := now.Sub(since); busy != "" && h.Env.Observer == nil && !h.Env.Footer.Shown() && took >= ProgressInterval && h.Env.Waiting().idleFor(now) >= ProgressInterval {
		h.Env.Logf("still running after %s%s: %s", took.Round(time.Second), most, busy)
	}
}

// clearScreen moves the cursor to the upper left corner of an empty terminal.
const clearScreen = "\x1b[H\x1b[2J"

// Watch repeats output continuously until it is interrupted, after an interval, or after a change in the database
// of the cluster that is read again. On a terminal each replaces the previous one.
func (e Waiting) Watch(ctx context.Context, again *Reread, interval time.Duration, show func(context.Context) error) error {
	for {
		if e.IsTerminal(e.Out) && e.Getenv("TERM") != "dumb" {
			fmt.Fprint(layout.Terminal(e.Out), clearScreen)
		}
		if err := show(ctx); err != nil {
			return exit.CauseOf(ctx, err)
		}
		if err := e.PauseUntil(ctx, again.Until(interval), ""); err != nil {
			return err
		}
	}
}

// ChangeNotifier collects changed facets for a receiver. notify never blocks.
type ChangeNotifier struct {
	// Ready is full while there are pending changes.
	Ready chan struct{}

	mu             sync.Mutex
	pending        plan.Facet // since they were last taken
	duringInterval plan.Facet // since the last interval ended
}

// NewChangeNotifier returns a notifier of changes.
func NewChangeNotifier() *ChangeNotifier { return &ChangeNotifier{Ready: make(chan struct{}, 1)} }

func (b *ChangeNotifier) Notify(what plan.Facet) {
	b.mu.Lock()
	b.pending |= what
	b.duringInterval |= what
	b.mu.Unlock()
	select {
	case b.Ready <- struct{}{}:
	default: // already ready
	}
}

// Take returns the pending facets and clears them.
func (b *ChangeNotifier) Take() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.pending
	b.pending = 0
	return news
}

// Facets returns all that changed during an interval.
func (b *ChangeNotifier) Facets() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.duringInterval
	b.duringInterval = b.pending
	return all
}

// ProblemInterval is the minimum interval between reports of the same problem.
const ProblemInterval = 10 * time.Minute

// Reported remembers when a problem was last reported.
type Reported struct {
	mu   sync.Mutex
	last map[plan.Facet]time.Time
}

// NewReported returns a memory of what was reported.
func NewReported() *Reported { return &Reported{last: map[plan.Facet]time.Time{}} }

// Due reports whether to report a problem again, and counts it as reported.
func (s *Reported) Due(what plan.Facet, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, output := s.last[what]; output && now.Sub(last) < ProblemInterval {
		return false
	}
	s.last[what] = now
	return true
}
