package wire

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Pod is a program's connection to what the sandbox knows of its pod.
type Pod struct {
	conn     *Conn
	facts    chan PodFacts
	outcomes chan Outcome
	lost     chan struct{}
}

// WatchPod begins to watch the program's own pod.
func WatchPod(ctx context.Context) (*Pod, error) {
	c, err := Dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Send(FromProgram{Watch: true}); err != nil {
		_ = c.Close()
		return nil, err
	}
	p := &Pod{conn: c, facts: make(chan PodFacts, 1), outcomes: make(chan Outcome, 1), lost: make(chan struct{})}
	go p.receive()
	return p, nil
}

func (p *Pod) receive() {
	defer close(p.facts)
	defer close(p.lost)
	for {
		var m ToProgram
		if p.conn.Receive(&m) != nil {
			return
		}
		switch {
		case m.Annotated != nil:
			p.outcomes <- *m.Annotated
		case m.Facts != nil:
			p.replace(*m.Facts)
		}
	}
}

// replace makes f the next facts to be read; unread facts are out of date.
func (p *Pod) replace(f PodFacts) {
	select {
	case <-p.facts:
	default:
	}
	p.facts <- f
}

// Facts delivers the pod's facts now and whenever they change, until the
// sandbox has ended.
func (p *Pod) Facts() <-chan PodFacts { return p.facts }

// annotateLimit bounds the wait for annotations to be set.
const annotateLimit = 30 * time.Second

// Annotate sets annotations of the pod. It is called from one place at a time.
func (p *Pod) Annotate(ctx context.Context, set map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, annotateLimit)
	defer cancel()
	if err := p.conn.Send(FromProgram{Annotate: set}); err != nil {
		return err
	}
	select {
	case o := <-p.outcomes:
		if o.Error != "" {
			return errors.New(o.Error)
		}
		return nil
	case <-p.lost:
		return errors.New("the sandbox has ended")
	case <-ctx.Done():
		return fmt.Errorf("set annotations: %w", ctx.Err())
	}
}

// Close ends the connection.
func (p *Pod) Close() error { return p.conn.Close() }
