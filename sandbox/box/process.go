package box

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Command is a program to start in a box.
type Command struct {
	Argv, Env             []string
	Dir                   string
	Stdin, Stdout, Stderr *os.File // the caller closes its copies
	Terminal              bool     // Stdin is a terminal and controls the program
}

// Exit is how a process ended. Code is 128 plus the signal when one ended it.
type Exit struct {
	Code   int
	Signal syscall.Signal
}

// Process is a program running in a box.
type Process struct {
	PID   int // as the box numbers it
	box   *Box
	id    int
	ended chan struct{}
	exit  Exit
}

// CannotStartError means that a program could not be started, such as when it does not
// exist.
type CannotStartError struct{ Reason string }

// Error is the container runtime's wording.
func (e CannotStartError) Error() string { return e.Reason }

// Run starts a program. It returns CannotStartError when the box runs and the
// program cannot be started, and ErrGone when the box has ended.
func (b *Box) Run(c Command) (*Process, error) {
	if len(c.Argv) == 0 {
		return nil, CannotStartError{"no command specified"}
	}
	p := &Process{box: b, id: b.nextID(), ended: make(chan struct{})}
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.waiting[p.id], b.processes[p.id] = answer, p
	b.mu.Unlock()
	r := request{ID: p.id, Start: &command{Argv: c.Argv, Env: c.Env, Dir: c.Dir, Terminal: c.Terminal}}
	if err := b.send(r, []int{int(c.Stdin.Fd()), int(c.Stdout.Fd()), int(c.Stderr.Fd())}); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	started, err := b.await(answer)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	if started.Error != "" {
		b.forget(p.id)
		return nil, CannotStartError{started.Error}
	}
	p.PID = started.PID
	return p, nil
}

func (b *Box) forget(id int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.processes, id)
}

// end is called with the box's lock held.
func (p *Process) end(e Exit) {
	p.exit = e
	close(p.ended)
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit returns how the process ended; it waits until it has.
func (p *Process) Exit() Exit {
	<-p.ended
	return p.exit
}

// Signal sends a signal to the process, not to its children.
func (p *Process) Signal(s syscall.Signal) error {
	answer, err := p.box.ask(request{Signal: s, Target: p.id})
	if err != nil {
		return fmt.Errorf("signal process %d: %w", p.PID, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("signal process %d: %w", p.PID, errors.New(answer.Error))
	}
	return nil
}
