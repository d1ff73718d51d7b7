package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// printInterval is how long entries are collected, to print them in the order of their times.
	printInterval = 500 * time.Millisecond
	// refreshInterval is how often pods and their trace files are read again.
	refreshInterval = 5 * time.Second
	// longestLine bounds the memory of a line.
	longestLine = 1 << 20
)

// follower prints what is written to logs as it is written.
type follower struct {
	*reader
	entries chan []logs.Entry
	readers sync.WaitGroup

	mu sync.Mutex
	// open are the containers that are being followed, by pod and name, and last is when each of
	// those that were wrote its last line.
	open map[string]bool
	last map[string]time.Time
	// traces are how far trace files were read, by pod.
	traces map[string]*traced
}

// traced is how far the trace files of a pod were read.
type traced struct {
	busy  bool
	begun bool
	at    map[string]int64
}

// follow prints the logs and what is added to them, until the context ends.
func (r *reader) follow(ctx context.Context, pods []target) error {
	r.prepare(pods)
	f := &follower{reader: r, entries: make(chan []logs.Entry), open: map[string]bool{}, last: map[string]time.Time{}, traces: map[string]*traced{}}
	listed := make(chan []target)
	flush, refresh := r.env.Clock.NewTicker(printInterval), r.env.Clock.NewTicker(refreshInterval)
	defer flush.Stop()
	defer refresh.Stop()
	f.start(ctx, pods)
	var waiting [][]logs.Entry
	for listing := false; ; {
		select {
		case entries := <-f.entries:
			waiting = append(waiting, entries)
		case <-flush.C():
			r.print(logs.Merge(waiting...))
			waiting = nil
		case <-refresh.C():
			if !listing {
				listing = true
				f.readers.Go(func() { f.list(ctx, listed) })
			}
		case pods := <-listed:
			listing = false
			f.start(ctx, pods)
		case <-ctx.Done():
			f.readers.Wait()
			r.print(logs.Merge(waiting...))
			return exit.CauseOf(ctx, ctx.Err())
		}
	}
}

// send passes entries on, unless the command ends.
func (f *follower) send(ctx context.Context, entries []logs.Entry) {
	if len(entries) == 0 {
		return
	}
	select {
	case f.entries <- entries:
	case <-ctx.Done():
	}
}

// list reads the selected pods again. It sends none if it fails, which prints a warning.
func (f *follower) list(ctx context.Context, to chan<- []target) {
	pods, err := f.pods(ctx)
	if err != nil && ctx.Err() == nil {
		f.faults.note("pods of cluster "+f.key.Name, err)
	}
	select {
	case to <- pods:
	case <-ctx.Done():
	}
}

// start follows what is not followed yet.
func (f *follower) start(ctx context.Context, pods []target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range pods {
		id := t.pod.Name + "/" + string(t.pod.UID)
		for _, container := range f.o.containersOf(t.pod) {
			key := id + "/" + container
			if f.open[key] || !f.o.reads(logs.FromContainer) || !started(t.pod, container) {
				continue
			}
			f.open[key] = true
			f.readers.Go(func() { f.container(ctx, t, container, key) })
		}
		if f.traces[id] == nil {
			f.traces[id] = &traced{at: map[string]int64{}}
		}
		if state := f.traces[id]; f.o.hasTraces(t) && !state.busy {
			state.busy = true
			f.readers.Go(func() { f.newEvents(ctx, t, state) })
		}
	}
}

// container follows a container until it ends. When it runs again, what was printed is not repeated.
func (f *follower) container(ctx context.Context, t target, container, key string) {
	f.mu.Lock()
	last := f.last[key]
	f.mu.Unlock()
	o := f.podLogOptions(container)
	o.Follow = true
	if !last.IsZero() {
		o.TailLines, o.SinceTime = nil, &metav1.Time{Time: last}
	}
	stream, err := f.env.Logs(ctx, t.pod.Namespace, t.pod.Name, o)
	if err == nil {
		last, err = f.lines(ctx, stream, f.reading(t, container, logs.FromContainer), last)
		_ = stream.Close() // it was only read
	}
	if ctx.Err() == nil {
		f.faults.note(fmt.Sprintf("log of pod %s, container %s", t.pod.Name, container), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[key], f.last[key] = false, last
}

// lines sends the lines of a stream that were written after a time, and returns the time of the last.
func (f *follower) lines(ctx context.Context, stream io.Reader, r logs.Reading, last time.Time) (time.Time, error) {
	scanner := bufio.NewScanner(stream)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		r.AsOf = f.env.Clock.Now()
		e, _ := r.Entry(scanner.Bytes())
		if e.Time != nil {
			if !e.Time.After(last) {
				continue
			}
			last = *e.Time
		}
		f.send(ctx, []logs.Entry{e})
	}
	err := scanner.Err()
	if errors.Is(err, io.ErrUnexpectedEOF) { // the container ended, or the API server closed the connection
		err = nil
	}
	return last, err
}

// newEvents sends the events that were written to the trace files of a pod since it was last called.
func (f *follower) newEvents(ctx context.Context, t target, state *traced) {
	files, err := f.source.traces(ctx, t.pod)
	var all [][]logs.Entry
	left := f.share / 2
	for _, file := range files {
		from, known := state.at[file.name]
		if !known && !state.begun { // what was written before the command began is bounded
			from = max(file.size-left, 0)
			left -= file.size - from
		}
		if from > file.size {
			from = 0 // it was replaced
		}
		if from == file.size || err != nil {
			state.at[file.name] = from
			continue
		}
		var content []byte
		if content, err = f.source.after(ctx, t.pod, file.name, from); err != nil {
			break
		}
		whole := content[:bytes.LastIndexByte(content, '\n')+1] // the rest is still being written
		state.at[file.name] = from + int64(len(whole))
		if from > 0 && !known {
			whole = withoutTorn(whole)
		}
		all = append(all, f.reading(t, v1beta2.ContainerMain, logs.FromTrace).Entries(whole))
	}
	filter := f.filter
	if state.begun {
		filter.Tail = -1
	}
	state.begun = state.begun || err == nil
	f.send(ctx, filter.Of(logs.Merge(all...)))
	if ctx.Err() == nil {
		f.faults.note("trace files of pod "+t.pod.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	state.busy = false
}
