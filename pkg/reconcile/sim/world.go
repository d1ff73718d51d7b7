// Package sim is a small world for tests: a namespace in memory, whose pods run
// simulated FoundationDB servers, and a clock that moves only when told to. It
// carries actions out at once. Only tests import it.
package sim

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Noon is when a world's clock starts.
var Noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// World is one cluster. Its fields may be changed between passes.
type World struct {
	// Record is the custom resource as it is stored.
	Record    *v1beta2.FoundationDBCluster
	Pods      map[string]*corev1.Pod
	Volumes   map[string]*corev1.PersistentVolumeClaim
	Services  map[string]*corev1.Service
	ConfigMap *corev1.ConfigMap
	// Nodes are the names of the nodes that pods are put on in turn.
	Nodes []string
	// NodeLabels are the labels of nodes by the node's name.
	NodeLabels map[string]map[string]string
	// Taints are the taints of nodes by the node's name. Pods tolerate none, and one
	// that runs on a node is not evicted when the node is tainted.
	Taints map[string][]corev1.Taint
	// NodesHidden says why nobody may read nodes; empty when everybody may.
	NodesHidden string
	// Broken are the names of pods whose servers do not start any more.
	Broken map[string]bool
	// Shared is what instances keep in the database for each other.
	Shared *Shared
	// Unschedulable are the names of pods that no node takes.
	Unschedulable map[string]bool
	// Skew is how far the plugin's clock is ahead of everybody else's.
	Skew time.Duration
	// FDB is the simulated FoundationDB behind the pods.
	FDB *fdbsim.World

	// LeaseHolder is another run that has the Lease; empty for none.
	LeaseHolder string
	// LockHolder is another instance that has the database's lock; empty for none.
	LockHolder string
	// OnLock runs when the lock is taken, before fresh facts are read: the place to
	// let another actor change the world.
	OnLock func(*World)
	// Refuse makes the actions fail that it returns an error for.
	Refuse func(plan.Action) error
	// Crash ends the plugin just before the action with this number, from 1; 0 never.
	Crash int
	// Acted are the actions that were carried out.
	Acted []plan.Action

	mu      sync.Mutex
	running map[string]*runningPod
	nextIP  int
	locked  bool
}

// ErrCrashed is what a pass ends with at World.Crash.
var ErrCrashed = errors.New("the plugin was killed")

// New returns a world that holds the record and nothing else. Only clusters with
// the unified image can be simulated.
func New(record *v1beta2.FoundationDBCluster, seed uint64) (*World, error) {
	if !record.UsesUnifiedImage() {
		return nil, fmt.Errorf("simulating cluster %s: only the unified image is simulated", record.Name)
	}
	w := &World{
		Record:   record.DeepCopy(),
		Pods:     map[string]*corev1.Pod{},
		Volumes:  map[string]*corev1.PersistentVolumeClaim{},
		Services: map[string]*corev1.Service{},
		Nodes:    []string{"node-1", "node-2", "node-3", "node-4", "node-5"},
		Shared:   NewShared(),
		running:  map[string]*runningPod{},
	}
	w.FDB = fdbsim.NewWorld(fdbsim.Options{Seed: seed, Start: Noon, Resolve: w.resolve})
	w.FDB.AutoAdvance(true)
	return w, nil
}

// Now is the world's time.
func (w *World) Now() time.Time { return w.FDB.Now() }

// Tick lets d pass, second by second; seconds in which nothing can happen are passed
// over.
func (w *World) Tick(d time.Duration) {
	for left := d.Truncate(time.Second); left > 0; {
		quiet := min(w.quietFor(), left-time.Second)
		w.FDB.Advance(quiet + time.Second)
		w.step()
		left -= quiet + time.Second
	}
}

// quietFor is how many whole seconds from now nothing happens in: no pod has anything to
// do, and no server either.
func (w *World) quietFor() time.Duration {
	const long = time.Hour
	if slices.ContainsFunc(w.podNames(), func(name string) bool { return !w.settled(w.Pods[name]) }) {
		return 0
	}
	next, due := w.FDB.NextEvent()
	if !due {
		return long
	}
	return max(0, next.Sub(w.Now())-time.Nanosecond).Truncate(time.Second)
}

func (w *World) resolve(host string) ([]netip.Addr, error) {
	for _, g := range w.Record.Status.ProcessGroups {
		pod := w.Pods[g.PodName(w.Record)]
		if pod == nil || pod.Status.PodIP == "" || g.DNSName(w.Record) != host {
			continue
		}
		ip, err := netip.ParseAddr(pod.Status.PodIP)
		if err != nil {
			return nil, err
		}
		return []netip.Addr{ip}, nil
	}
	return nil, fmt.Errorf("no such host: %s", host)
}

func (w *World) podNames() []string { return slices.Sorted(maps.Keys(w.Pods)) }
