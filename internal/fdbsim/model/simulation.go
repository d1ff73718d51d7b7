package model

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// Options are the fixed properties of [Simulation].
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

// Simulation holds every process and every database of one sandbox. Its methods, and those of
// its parts, require its lock.
type Simulation struct {
	mu        sync.Mutex
	Now       time.Time
	random    *rand.Rand
	Resolve   func(string) ([]netip.Addr, error)
	Pace      Pace
	timers    timerQueue
	timerSeq  uint64
	changed   chan struct{}
	Auto      bool
	servers   []*Process
	Disks     map[string]*Disk
	Databases []*Database
	Stores    store.Stores
	Agents    []*Agent
}

// NewSimulation returns an empty simulation whose clock stands at opts.Start.
func NewSimulation(opts Options) *Simulation {
	w := &Simulation{
		Now:     opts.Start,
		random:  rand.New(rand.NewPCG(opts.Seed, 0x6664627369_6d)), // a model must be repeatable
		Resolve: opts.Resolve,
		Pace:    opts.Pace,
		changed: make(chan struct{}),
		Disks:   map[string]*Disk{},
	}
	if w.Now.IsZero() {
		w.Now = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	if w.Pace == (Pace{}) {
		w.Pace = RecordedPace()
	}
	return w
}

// Lock takes the [Simulation]'s lock.
func (w *Simulation) Lock() { w.mu.Lock() }

// Unlock releases the [Simulation]'s lock.
func (w *Simulation) Unlock() { w.mu.Unlock() }

// Hex returns n random hexadecimal digits.
func (w *Simulation) Hex(n int) string {
	return w.Letters(n, "0123456789abcdef")
}

// Letters returns n random characters of an alphabet.
func (w *Simulation) Letters(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[w.random.IntN(len(alphabet))]
	}
	return string(b)
}
