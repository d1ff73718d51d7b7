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

// podTries is how many places a command is sent to at most.
const podTries = 3

// Failover sends commands to the first of several places that can be reached. One that may
// have run is sent to the next one only where it changes nothing.
type Failover struct {
	places []Transport

	mu    sync.Mutex
	first int
}

// NewFailover prefers places in their order, at most three of them, and from then on the
// one that answered last.
func NewFailover(places ...Transport) *Failover {
	return &Failover{places: places[:min(len(places), podTries)]}
}

var errNowhere = errors.New("no pod can run it")

// Run runs a tool to its end in the first place that can be reached.
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

// Open starts a tool in the first place that can be reached.
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

// order are the places, the preferred one first.
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

// nowhere is the error of a command that no place ran to its end.
func nowhere(errs []error) error {
	switch {
	case len(errs) == 0:
		return &TransportError{Where: "the cluster", Err: errNowhere}
	case len(errs) == 1, !slices.ContainsFunc(errs, func(err error) bool { return !apierrors.IsForbidden(err) }):
		return errs[0] // what may not be done in one pod may be done in none
	}
	started := slices.ContainsFunc(errs, func(err error) bool { return !neverRan(err) })
	return &TransportError{Started: started, Where: "any of the pods", Err: inOneLine(errs)}
}

// inOneLine joins errors for a sentence.
func inOneLine(errs []error) error {
	joined := errs[0]
	for _, err := range errs[1:] {
		joined = fmt.Errorf("%w; %w", joined, err)
	}
	return joined
}

// read runs what changes nothing: where it is lost, or one is silent for longer than its
// Patience, the next place runs it as well. The first that succeeds is the answer.
func (f *Failover) read(ctx context.Context, c Command) (Result, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave() // those that are still at it
	order := f.order()
	asked := &inquiry{places: f.places, next: order, command: c, answers: make(chan answer, len(order))}
	for asked.goesOn(ctx) {
		if a, heard := asked.hear(ctx); heard && asked.settledBy(a) {
			f.prefer(a.at)
			return a.result, nil
		}
	}
	if asked.failed != nil {
		return asked.failed.result, nil
	}
	return Result{}, nowhere(asked.errs)
}

// inquiry is a command that several places may run at the same time.
type inquiry struct {
	places  []Transport
	command Command
	// next are the places that were not asked yet.
	next []int
	// asked is how many places are at it.
	asked   int
	answers chan answer
	errs    []error
	// failed is a run that ended and settles nothing: another place may still do better.
	failed *answer
}

// answer is what became of a command in one place.
type answer struct {
	at     int
	result Result
	err    error
}

// goesOn reports whether an answer is to be waited for. It asks the next place when nobody is
// at it.
func (q *inquiry) goesOn(ctx context.Context) bool {
	if q.asked > 0 {
		return true
	}
	begun := len(q.errs) > 0
	if q.failed != nil || len(q.next) == 0 || (begun && ctx.Err() != nil) {
		return false
	}
	q.ask(ctx)
	return true
}

// ask has the next place run it.
func (q *inquiry) ask(ctx context.Context) {
	at := q.next[0]
	q.next = q.next[1:]
	q.asked++
	go func() {
		result, err := q.places[at].Run(ctx, q.command)
		q.answers <- answer{at, result, err}
	}()
}

// hear waits for the next answer. A silence that is longer than the command's patience has the
// next place asked instead.
func (q *inquiry) hear(ctx context.Context) (a answer, heard bool) {
	var silent <-chan time.Time
	if patience := q.patience(); patience > 0 {
		timer := clock.RealClock{}.NewTimer(patience) // that of the tools
		defer timer.Stop()
		silent = timer.C()
	}
	select {
	case a := <-q.answers:
		q.asked--
		return a, true
	case <-silent:
		if q.failed != nil {
			q.asked = 0 // nobody is waited for any more
		} else {
			q.ask(ctx)
		}
		return answer{}, false
	}
}

// doubtPatience is how long others may still have a better answer than one that settles
// nothing. A database that is down makes all of them slow.
const doubtPatience = 3 * time.Second

// patience is how long to wait for the next answer; 0 for as long as it takes.
func (q *inquiry) patience() time.Duration {
	switch {
	case q.failed != nil:
		return doubtPatience
	case len(q.next) > 0:
		return q.command.Patience
	default:
		return 0
	}
}

// settledBy reports whether nobody else needs to be heard after this answer.
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
