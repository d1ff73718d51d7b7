package dashboard

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// showPlain prints a line per change until something ends it.
func (o ScreenOptions) showPlain(ctx context.Context, env *session.Env, clusters []string, feed tui.Feed, keep func(tui.Entry)) error {
	p := &plainWriter{out: env.Out, reporters: map[string]*ui.ChangeWriter{}}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var following sync.WaitGroup
	for _, name := range clusters {
		following.Go(func() {
			feed.Follow(ctx, name, func(e tui.Entry) {
				keep(e)
				if err := p.write(e); err != nil {
					stop(err) // the reader has ended
				}
			})
		})
	}
	following.Wait()
	if ctx.Err() == nil {
		return fmt.Errorf("cannot watch any cluster: %s", p.problem())
	}
	return context.Cause(ctx)
}

// replayPlain prints the lines of a recording.
func (o ScreenOptions) replayPlain(ctx context.Context, env *session.Env, entries []tui.Entry) error {
	p := &plainWriter{out: env.Out, reporters: map[string]*ui.ChangeWriter{}}
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.write(e); err != nil {
			return err
		}
	}
	return nil
}

// plainWriter prints entries as text, one line per change.
type plainWriter struct {
	mu        sync.Mutex
	out       io.Writer
	reporters map[string]*ui.ChangeWriter
	last      string
}

func (p *plainWriter) write(e tui.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	if e.Frame != nil && !isEarly(e) {
		if p.reporters[e.Cluster] == nil {
			p.reporters[e.Cluster] = &ui.ChangeWriter{}
		}
		lines = p.reporters[e.Cluster].Changes(*e.Frame)
	}
	if words := frame.LineWords(e.Pass); words != "" {
		lines = append(lines, words)
	}
	for _, line := range lines {
		p.last = line
		if _, err := fmt.Fprintf(p.out, "%s %s: %s\n", e.At.UTC().Format(time.TimeOnly), e.Cluster, line); err != nil {
			return err
		}
	}
	return nil
}

// isEarly reports whether a frame is one of the first, before the answer of its database.
func isEarly(e tui.Entry) bool {
	s, k := e.Frame.Source(frame.SourceOfDatabase), e.Frame.Source(frame.SourceOfKubernetes)
	if s == nil || k == nil || k.Problem != "" || s.AsOf != nil || s.Problem != "" {
		return false
	}
	return s.RequestedAt == nil || e.At.Sub(*s.RequestedAt) < session.SlowDatabase
}

// problem returns the last printed error.
func (p *plainWriter) problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}
