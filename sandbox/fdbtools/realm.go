package fdbtools

import (
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// realm is the simulation of a namespace, with a clock of its own: processes and databases of one can reach each other.
type realm struct {
	*fdbsim.Simulation

	namespace string
	clock     clock.PassiveClock
	last      time.Time // until which its time has passed

	mu      sync.Mutex
	running int       // tools and clients
	servers int       // that run
	changed time.Time // when one of them last began or ended, or a fault did
	began   time.Time // when the first server did; zero for none
	looked  time.Time // when settled was last determined
	settled bool
}

// realm returns the one of a namespace. Without a faster pace for idle namespaces all have the same.
func (b *Bridge) realm(namespace string) *realm {
	if b.IdleSpeed == 0 {
		namespace = ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.realms, func(w *realm) bool { return w.namespace == namespace }); i >= 0 {
		return b.realms[i]
	}
	now := b.Clock.Now()
	w := &realm{namespace: namespace, clock: b.Clock, last: now, changed: now, Simulation: fdbsim.NewSimulation(fdbsim.Options{
		Seed: uint64(now.UnixNano()), Start: now, Resolve: b.Resolve,
	})}
	w.AddBlobStore(backupStore())
	b.realms = append(b.realms, w)
	return w
}

// all are all realms, the oldest first.
func (b *Bridge) all() []*realm {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.realms)
}

// Databases are the simulated databases.
func (b *Bridge) Databases() []*fdbsim.Database {
	var all []*fdbsim.Database
	for _, w := range b.all() {
		all = append(all, w.Databases()...)
	}
	return all
}

// Database finds a database by its description or by its connection string, in the newest realm that has one. What
// is done to it is a change in its namespace.
func (b *Bridge) Database(name string) (*fdbsim.Database, bool) {
	for _, w := range slices.Backward(b.all()) {
		if d, found := w.Database(name); found {
			w.touch()
			return d, true
		}
	}
	return nil, false
}

// Times are the readings of the clocks by namespace; the name is empty where all share one.
func (b *Bridge) Times() map[string]time.Time {
	times := map[string]time.Time{}
	for _, w := range b.all() {
		times[w.namespace] = w.Now()
	}
	return times
}

// ofClusterFile returns the one whose coordinators a cluster file of this machine names.
func (b *Bridge) ofClusterFile(name string) *realm {
	content, err := localFiles{}.ReadFile(name)
	if err != nil {
		return b.realm("") // the client reports it
	}
	connection, err := fdb.ParseClusterFile(string(content))
	if err != nil {
		return b.realm("")
	}
	for _, w := range b.all() {
		if w.Reaches(connection, clientVersion) {
			return w
		}
	}
	return b.realm("")
}

// touch notes a change.
func (w *realm) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = w.clock.Now()
}

// count notes the begin of a tool or a server, and returns what notes its end.
func (w *realm) count(n *int) (end func()) {
	w.add(n, 1)
	return func() { w.add(n, -1) }
}

func (w *realm) add(n *int, d int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n += d
	w.changed = w.clock.Now()
}

// isEstablished reports whether the first server has run for longer than a pod is young. Before, a database is created, and what
// waits for the uptimes of its processes needs no real time.
func (w *realm) isEstablished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	if w.began.IsZero() {
		w.began = now
	}
	return now.Sub(w.began) >= youngFor
}

// use counts a tool, except agents, which run as long as their containers.
func (w *realm) use(program string) (end func()) {
	if strings.HasSuffix(path.Base(program), "_agent") {
		return func() {}
	}
	return w.count(&w.running)
}

// waits notes that a tool does nothing until it has input, and returns what notes that it has: one that stays open runs
// for as long as a command, and time passes meanwhile.
func (w *realm) waits() (goesOn func()) {
	w.add(&w.running, -1)
	return func() { w.add(&w.running, 1) }
}

const (
	// quietAfter is how long nothing must have begun, ended or changed before a namespace is idle: a pass runs
	// its tools one after the other.
	quietAfter = 500 * time.Millisecond
	// lookInterval is how often pods are examined.
	lookInterval = 100 * time.Millisecond
)

// idle reports whether nothing happens but the passing of time: servers run, no tool does, and all pods are as
// they will be. Where pods start or end time has its ordinary pace, since that takes real time: at a faster one
// a database would miss for minutes what restarts in a second.
func (w *realm) idle(now time.Time, settled func(namespace string) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running > 0 || w.servers == 0 {
		return false
	}
	if now.Sub(w.looked) >= lookInterval {
		w.looked = now
		if w.settled = settled(w.namespace); !w.settled {
			w.changed = now
		}
	}
	return w.settled && now.Sub(w.changed) >= quietAfter
}
