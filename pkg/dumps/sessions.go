package dumps

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// Open starts an interactive tool, or one that answers the same input as a recorded one did.
func (c Container) Open(ctx context.Context, command admin.Command) (*admin.Session, error) {
	run := c.at
	run.Argv, run.Session = command.Argv, true
	if c.runs.Live == nil {
		if known, found := c.runs.find(run); found && known.Failure != nil {
			return nil, known.Failure.err() // it could not be opened
		}
		return c.replay(run)
	}
	t, err := c.runs.Live(c.at.Namespace, c.at.Pod, c.at.Container)
	if err != nil {
		return nil, err
	}
	s, err := t.Open(ctx, command)
	if err != nil {
		if ctx.Err() == nil {
			run.Failure = failureOfRun(err)
			c.runs.keep(run)
		}
		return nil, err
	}
	return c.record(run, s), nil
}

// record returns a session whose input and output are added to the dump when it is closed.
func (c Container) record(run Run, s *admin.Session) *admin.Session {
	var stdin, stdout, stderr tee
	var once sync.Once
	other := *s
	other.Stdin = teeWriter{s.Stdin, &stdin}
	other.Stdout, other.Stderr = teeReader{s.Stdout, &stdout}, teeReader{s.Stderr, &stderr}
	other.Close = func() {
		once.Do(func() {
			run.Ended = stdout.isEnded() && stderr.isEnded()
			if run.Ended {
				code, err := s.Wait()
				run.ExitCode, run.Failure = code, failureOfRun(err)
			}
			run.Stdin, run.Stdout, run.Stderr = stdin.text(), stdout.text(), stderr.text()
			c.runs.keep(run)
		})
		s.Close()
	}
	return &other
}

// tee keeps what passes through a stream.
type tee struct {
	mu    sync.Mutex
	kept  bytes.Buffer
	ended bool
}

func (t *tee) keep(p []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Write(p)
	t.ended = t.ended || err != nil
}

func (t *tee) isEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

func (t *tee) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.String()
}

type teeWriter struct {
	io.WriteCloser
	tee *tee
}

func (w teeWriter) Write(p []byte) (int, error) {
	n, err := w.WriteCloser.Write(p)
	w.tee.keep(p[:n], nil)
	return n, err
}

type teeReader struct {
	io.Reader
	tee *tee
}

func (r teeReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.tee.keep(p[:n], err)
	return n, err
}

// replay returns a session that prints the recorded output once its input is a recorded one.
func (c Container) replay(run Run) (*admin.Session, error) {
	if !c.runs.has(run) {
		return nil, c.lacking()
	}
	stdout, outWriter := io.Pipe()
	stderr, errWriter := io.Pipe()
	p := &player{container: c, run: run, stdout: outWriter, stderr: errWriter}
	return &admin.Session{
		Stdin: p, Stdout: stdout, Stderr: stderr,
		Wait: func() (int, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.run.ExitCode, p.err
		},
		Close: func() {
			_ = p.Close() // as all closing of pipes, it does not fail
			_, _ = stdout.Close(), stderr.Close()
		},
	}, nil
}

// has reports whether a program was run interactively in a container.
func (r *Runs) has(like Run) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.Dump.Runs {
		like.Stdin = run.Stdin
		if run.same(like) {
			return true
		}
	}
	return false
}

// player is the input of a replayed session.
type player struct {
	container      Container
	stdout, stderr *io.PipeWriter

	mu    sync.Mutex
	run   Run
	err   error
	ended bool
}

// Write prints what was recorded for all input so far. Input that was not recorded ends the session.
func (p *player) Write(input []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, io.ErrClosedPipe
	}
	p.run.Stdin += string(input)
	known, found := p.container.runs.find(p.run)
	if !found {
		p.ended, p.err = true, p.container.lacking()
		_, _ = p.stdout.Close(), p.stderr.Close()
		return len(input), nil
	}
	p.run = known
	if known.Failure != nil {
		p.err = known.Failure.err()
	}
	for into, text := range map[*io.PipeWriter]string{p.stdout: known.Stdout, p.stderr: known.Stderr} {
		go func() {
			_, _ = io.WriteString(into, text) // an error means that the reader has enough
			if known.Ended {
				_ = into.Close()
			}
		}()
	}
	return len(input), nil
}

// Close ends the session.
func (p *player) Close() error {
	_, _ = p.stdout.Close(), p.stderr.Close()
	return nil
}
