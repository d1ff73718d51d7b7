// Package fdbtools stands between the programs in containers and the simulated
// FoundationDB: fdbserver, fdbcli and the others send their command lines, and
// the model carries them out, with the files of the program's own container.
package fdbtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

// Options are what a bridge works with.
type Options struct {
	Client   kubernetes.Interface
	Resolve  func(name string) ([]netip.Addr, error)
	PodFacts func(namespace, pod string) (annotations, nodeLabels map[string]string, ok bool)
	Speed    float64 // of the model's time against real time
	// IdleSpeed is the speed of a namespace in which nothing happens but the passing of time. Each namespace
	// then has databases and a clock of its own. At 0 all share one, at Speed.
	IdleSpeed float64
	// Settled reports whether all pods of a namespace are as they will be; only with an IdleSpeed.
	Settled func(namespace string) bool
	Clock   clock.PassiveClock
	Log     *slog.Logger
}

// Bridge serves the programs of every container of a sandbox.
type Bridge struct {
	Options

	mu      sync.Mutex
	realms  []*realm // the oldest first
	speed   float64
	servers map[*fdbsim.ServerHandle]Server
	data    map[string]types.UID // every data directory a server ever had, and the pod of its last one
}

// New returns a bridge to simulations that only have a blob store. Time does not pass in them until Run.
func New(o Options) *Bridge {
	return &Bridge{Options: o, speed: o.Speed, servers: map[*fdbsim.ServerHandle]Server{}, data: map[string]types.UID{}}
}

const (
	// tick is how finely the model's time follows real time.
	tick = 20 * time.Millisecond
	// longestStep is the most real time that one step at a faster pace stands for.
	longestStep = 5 * tick
)

// Run lets the model's time pass until ctx ends.
func (b *Bridge) Run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, w := range b.all() {
			now := b.Clock.Now()
			w.Advance(step(now.Sub(w.last), b.paceOf(w, now)))
			w.last = now
		}
	}
}

// paceOf is how many seconds pass in a realm in one real second.
func (b *Bridge) paceOf(w *realm, now time.Time) float64 {
	pace := b.Pace()
	if b.IdleSpeed > pace && w.idle(now, b.Settled) {
		return b.IdleSpeed
	}
	return pace
}

// step is how far the model's time moves after some real time. Tools have their limits in the model's
// time, and run in real time: where it passes faster, a busy machine would let them time out. So what a
// late step missed does not pass. At pace 1 the model's time is real time, which always passes.
func step(elapsed time.Duration, pace float64) time.Duration {
	if pace > 1 {
		elapsed = min(elapsed, longestStep)
	}
	return time.Duration(float64(elapsed) * pace)
}

// Pace is how many seconds pass in the model in one real second, in namespaces that are not idle.
func (b *Bridge) Pace() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.speed
}

// SetPace changes how fast the model's time passes.
func (b *Bridge) SetPace(speed float64) error {
	if speed <= 0 || speed > MaxSpeed {
		return fmt.Errorf("speed %g is not above 0 and at most %d", speed, MaxSpeed)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.speed = speed
	return nil
}

// MaxSpeed keeps one tick of the model below half a minute.
const MaxSpeed = 1000

// Serve serves the programs of one container until ctx ends.
func (b *Bridge) Serve(ctx context.Context, listener net.Listener, c node.Container) {
	context.AfterFunc(ctx, func() { listener.Close() })
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go b.serve(ctx, wire.NewConn(conn), c)
	}
}

// serve serves one program to its end.
func (b *Bridge) serve(ctx context.Context, conn *wire.Conn, c node.Container) {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	var first wire.FromProgram
	if conn.Receive(&first) != nil {
		return
	}
	switch {
	case first.Run != nil:
		p := newProgram(conn, *first.Run, c)
		go p.receive(cancel)
		code := b.run(ctx, p)
		conn.Send(wire.ToProgram{Exit: &code}) // a program that has ended needs no code
	case first.Watch:
		b.watchPod(ctx, cancel, conn, c)
	default:
		b.Log.Error("a program in a container sent an unknown message", "pod", c.Pod, "container", c.Name)
	}
}

// annotationInterval is how often annotations are compared.
const annotationInterval = 100 * time.Millisecond

// watchPod sends a program its pod's annotations and sets those it asks for.
func (b *Bridge) watchPod(ctx context.Context, cancel context.CancelFunc, conn *wire.Conn, c node.Container) {
	go func() {
		defer cancel()
		b.annotateAsAsked(ctx, conn, c)
	}()
	ticker := time.NewTicker(annotationInterval)
	defer ticker.Stop()
	var told *wire.PodFacts
	for {
		annotations, labels, ok := b.PodFacts(c.Namespace, c.Pod)
		if ok && (told == nil || !maps.Equal(told.Annotations, annotations) || !maps.Equal(told.NodeLabels, labels)) {
			told = &wire.PodFacts{Annotations: annotations, NodeLabels: labels}
			if conn.Send(wire.ToProgram{Facts: told}) != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// annotateAsAsked sets the annotations a program asks for until it has ended.
func (b *Bridge) annotateAsAsked(ctx context.Context, conn *wire.Conn, c node.Container) {
	for {
		var m wire.FromProgram
		if conn.Receive(&m) != nil {
			return
		}
		outcome := wire.Outcome{}
		if err := b.annotate(ctx, c, m.Annotate); err != nil {
			outcome.Error = err.Error()
		}
		if conn.Send(wire.ToProgram{Annotated: &outcome}) != nil {
			return
		}
	}
}

// annotate sets annotations of the container's own pod.
func (b *Bridge) annotate(ctx context.Context, c node.Container, set map[string]string) error {
	if len(set) == 0 {
		return errors.New("no annotation to set")
	}
	if _, _, ok := b.PodFacts(c.Namespace, c.Pod); !ok {
		return errors.New("the API server is out of reach")
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": c.UID, "annotations": set}})
	if err != nil {
		return err
	}
	_, err = b.Client.CoreV1().Pods(c.Namespace).Patch(ctx, c.Pod, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("annotate pod %s/%s: %w", c.Namespace, c.Pod, err)
	}
	return nil
}
