package admin

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// PodCandidate is a pod in which tools could be run, as the caller sees it.
type PodCandidate struct {
	Name string
	// Running: the pod's phase is Running and its main container is ready.
	Running bool
	// Terminating: the pod has a deletion timestamp.
	Terminating bool
	// Isolated: the pod's fdbserver is stopped on purpose.
	Isolated bool
	// Excluded: the process group is marked for removal or excluded.
	Excluded bool
	// Silent: its servers do not report. They may have missed a change of coordinators, and
	// then the pod's cluster file leads nowhere.
	Silent bool
	// Coordinator: one of its processes is a reachable coordinator.
	Coordinator bool
	// Since is when the pod became ready: older ones are more likely to stay.
	Since time.Time
}

// ChoosePods orders the pods that can be used, the best first: reachable coordinators,
// then pods that are here to stay, then older ones. Excluded pods come after these, and
// silent ones last: they are better than none. Pods that do not run, are going away or are
// isolated are left out.
func ChoosePods(candidates []PodCandidate) []PodCandidate {
	usable := slices.DeleteFunc(slices.Clone(candidates), func(p PodCandidate) bool {
		return !p.Running || p.Terminating || p.Isolated
	})
	slices.SortStableFunc(usable, func(a, b PodCandidate) int {
		return cmp.Or(
			compareBool(a.Silent, b.Silent),
			compareBool(a.Excluded, b.Excluded),
			compareBool(b.Coordinator, a.Coordinator),
			a.Since.Compare(b.Since),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return usable
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// podTries is how many places a command is sent to at most.
const podTries = 3

// Failover sends commands to the first of several places that can be reached. Only a
// command that certainly did not run is sent to the next one.
type Failover struct {
	places []Transport

	mu    sync.Mutex
	first int
}

// NewFailover prefers places in their order, at most three of them.
func NewFailover(places ...Transport) *Failover {
	return &Failover{places: places[:min(len(places), podTries)]}
}

var errNowhere = errors.New("no pod can run it")

// Run runs a tool to its end in the first place that can be reached.
func (f *Failover) Run(ctx context.Context, c Command) (Result, error) {
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
	if len(f.places) == 0 {
		return &TransportError{Where: "the cluster", Err: errNowhere}
	}
	f.mu.Lock()
	first := f.first
	f.mu.Unlock()
	var errs []error
	for i := range f.places {
		at := (first + i) % len(f.places)
		err := use(f.places[at])
		if !neverRan(err) {
			f.prefer(at)
			return err
		}
		errs = append(errs, err)
	}
	return &TransportError{Where: "any of the pods", Err: errors.Join(errs...)}
}

func (f *Failover) prefer(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = at
}
