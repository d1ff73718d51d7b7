package fdbsim

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// Options are the fixed circumstances of a world.
type Options struct {
	// Seed decides every choice that real processes would make by chance.
	Seed uint64
	// Start is the first reading of the model's clock. The zero value means
	// 2026-01-01T00:00:00Z.
	Start time.Time
	// Resolve looks up a host name of a cluster file. Nil knows no names, so
	// that only literal addresses can be reached.
	Resolve func(host string) ([]netip.Addr, error)
	// Pace is how long things take. The zero value means [RecordedPace].
	Pace Pace
}

// World holds every server and every database of one sandbox. It is safe for
// concurrent use.
type World struct {
	mu        sync.Mutex
	now       time.Time
	random    *rand.Rand
	resolve   func(string) ([]netip.Addr, error)
	pace      Pace
	timers    timerQueue
	timerSeq  uint64
	changed   chan struct{}
	auto      bool
	servers   []*server
	disks     map[string]*disk
	databases []*database
	stores    stores
	agents    []*agent
}

// NewWorld returns an empty world whose clock stands at opts.Start.
func NewWorld(opts Options) *World {
	w := &World{
		now:     opts.Start,
		random:  rand.New(rand.NewPCG(opts.Seed, 0x6664627369_6d)), //nolint:gosec // a model must be repeatable
		resolve: opts.Resolve,
		pace:    opts.Pace,
		changed: make(chan struct{}),
		disks:   map[string]*disk{},
	}
	if w.now.IsZero() {
		w.now = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	if w.pace == (Pace{}) {
		w.pace = RecordedPace()
	}
	return w
}

// Now is the current reading of the model's clock.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance lets d pass: everything due in that time happens in order, and the
// commands that were waiting for it go on.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advanceTo(w.now.Add(d))
}

// NextEvent is when the next thing happens by itself, and false when nothing is
// due. Until then the world stays as it is unless somebody changes it.
func (w *World) NextEvent() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.timers) == 0 {
		return time.Time{}, false
	}
	return w.timers[0].at, true
}

// AutoAdvance decides who moves the clock while a command waits. On, the
// command itself does, which suits single-threaded tests; off (the default),
// it waits until somebody calls [World.Advance].
func (w *World) AutoAdvance(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.auto = on
}

// hex returns n random hexadecimal digits.
func (w *World) hex(n int) string {
	return w.letters(n, "0123456789abcdef")
}

func (w *World) letters(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[w.random.IntN(len(alphabet))]
	}
	return string(b)
}
