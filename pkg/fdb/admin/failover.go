package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// PodTries is the maximum number of pods that run a command.
const PodTries = 3

// Failover runs commands in the first of several pods that can be reached. A command that
// may have run is sent to the next pod only if it changes nothing.
type Failover struct {
	places []Transport

	mu    sync.Mutex
	first int
}

// NewFailover returns a Failover that prefers pods in their order, at most three of
// them, and from then on the one that responded last.
func NewFailover(places ...Transport) *Failover {
	return &Failover{places: places[:min(len(places), PodTries)]}
}

var errNowhere = errors.New("no pod can run it")

// Run runs a tool to its end in the first pod that can be reached.
func (f *Failover) Run(ctx context.Context, c Command) (Result, error) {
	if c.Reads {
		return f.read(ctx, c)
	}
	var r Result
	err := f.try(func(t Transport) error {
		var err error
		r, err = t.Run(ctx, c)
		return err
	})
	return r, err
}

// Open starts a tool in the first pod that can be reached.
func (f *Failover) Open(ctx context.Context, c Command) (*Session, error) {
	var s *Session
	err := f.try(func(t Transport) error {
		var err error
		s, err = t.Open(ctx, c)
		return err
	})
	return s, err
}

func (f *Failover) try(use func(Transport) error) error {
	var errs []error
	for _, at := range f.order() {
		err := use(f.places[at])
		if !neverRan(err) {
			f.prefer(at)
			return err
		}
		errs = append(errs, err)
	}
	return nowhere(errs)
}

// order returns the indexes of the pods, the preferred one first.
func (f *Failover) order() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var order []int
	for i := range f.places {
		order = append(order, (f.first+i)%len(f.places))
	}
	return order
}

func (f *Failover) prefer(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = at
}

// nowhere returns the error of a command that no pod ran to its end.
func nowhere(errs []error) error {
	switch {
	case len(errs) == 0:
		return &TransportError{Where: "the cluster", Err: errNowhere}
	case len(errs) == 1, allAre(errs, apierrors.IsForbidden), allAre(errs, apierrors.IsUnauthorized):
		return errs[0] // what is forbidden in one pod is forbidden in all
	}
	started := slices.ContainsFunc(errs, func(err error) bool { return !neverRan(err) })
	var unfinished []string
	for _, err := range errs {
		unfinished = append(unfinished, Unfinished(err)...)
	}
	return &TransportError{Started: started, Where: "any of the pods", Err: onOneLine(errs), unfinished: unfinished}
}

func allAre(errs []error, kind func(error) bool) bool {
	return !slices.ContainsFunc(errs, func(err error) bool { return !kind(err) })
}

// onOneLine joins errors on one line.
func onOneLine(errs []error) error {
	joined := errs[0]
	for _, err := range errs[1:] {
		joined = fmt.Errorf("%w; %w", joined, err)
	}
	return joined
}

// read runs a command that changes nothing: if it is lost, or a pod does not respond
// within its HedgeAfter, the next pod runs it as well. The first success is the result.
func (f *Failover) read(ctx context.Context, c Command) (Result, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave() // those that are still running
	order := f.order()
	q := &inquiry{places: f.places, next: order, command: c, answers: make(chan answer, len(order))}
	for q.awaits(ctx) {
		if a, ok := q.receive(ctx); ok && q.settledBy(a) {
			f.prefer(a.at)
			return a.result, nil
		}
	}
	if q.failed != nil {
		return q.failed.result, nil
	}
	return Result{}, nowhere(q.errs)
}

// inquiry is a command that several pods may run concurrently.
type inquiry struct {
	places  []Transport
	command Command
	// next are the pods that have not run it yet.
	next []int
	// running is how many pods run it.
	running int
	answers chan answer
	errs    []error
	// failed is a run that ended inconclusively: another pod may still succeed.
	failed *answer
}

// answer is the result of a command in one pod.
type answer struct {
	at     int
	result Result
	err    error
}

// awaits reports whether there is an answer to wait for. It starts the command in the next
// pod if none runs it.
func (q *inquiry) awaits(ctx context.Context) bool {
	if q.running > 0 {
		return true
	}
	begun := len(q.errs) > 0
	if q.failed != nil || len(q.next) == 0 || (begun && ctx.Err() != nil) {
		return false
	}
	q.startNext(ctx)
	return true
}

// startNext runs the command in the next pod.
func (q *inquiry) startNext(ctx context.Context) {
	at := q.next[0]
	q.next = q.next[1:]
	q.running++
	go func() {
		result, err := q.places[at].Run(ctx, q.command)
		q.answers <- answer{at, result, err}
	}()
}

// receive waits for the next answer. If none arrives within the command's HedgeAfter, it starts
// the command in the next pod instead.
func (q *inquiry) receive(ctx context.Context) (a answer, ok bool) {
	var unresponsive <-chan time.Time
	if hedgeAfter := q.hedgeAfter(); hedgeAfter > 0 {
		timer := clock.RealClock{}.NewTimer(hedgeAfter) // that of the tools
		defer timer.Stop()
		unresponsive = timer.C()
	}
	select {
	case a := <-q.answers:
		q.running--
		return a, true
	case <-unresponsive:
		if q.failed != nil {
			q.running = 0 // no more answers are awaited
		} else {
			q.startNext(ctx)
		}
		return answer{}, false
	}
}

// doubtHedgeDelay is how long to wait for a better answer than an inconclusive one. An
// unavailable database makes all of them slow.
const doubtHedgeDelay = 3 * time.Second

// hedgeAfter returns how long to wait for the next answer; 0 for no limit.
func (q *inquiry) hedgeAfter() time.Duration {
	switch {
	case q.failed != nil:
		return doubtHedgeDelay
	case len(q.next) > 0:
		return q.command.HedgeAfter
	default:
		return 0
	}
}

// settledBy reports whether this answer is final.
func (q *inquiry) settledBy(a answer) bool {
	switch {
	case a.err != nil:
		q.errs = append(q.errs, a.err)
	case q.command.SettledBy(a.result):
		return true
	case q.failed == nil:
		q.failed = &a
	}
	return false
}
