package dumps

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// Runs answers what programs in containers print, from a dump. While one is being written, it runs
// what the dump lacks and adds it.
type Runs struct {
	Dump *Dump
	// Live opens a container; nil for a finished dump.
	Live func(namespace, pod, container string) (admin.Transport, error)

	mu sync.Mutex
}

// Container runs programs in one container. It implements admin.Transport.
type Container struct {
	runs *Runs
	at   Run
}

// In returns what runs programs in a container.
func (r *Runs) In(namespace, pod, container string) Container {
	return Container{r, Run{Namespace: namespace, Pod: pod, Container: container}}
}

var errNotInDump = errors.New("the dump does not have the output of this command")

// find returns the run with the same place and input.
func (r *Runs) find(like Run) (found Run, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.Dump.Runs, like.same)
	if i < 0 {
		return Run{}, false
	}
	return r.Dump.Runs[i], true
}

// keep adds a run, unless there is one already: all views are of the first answer.
func (r *Runs) keep(run Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.Dump.Runs, run.same) {
		r.Dump.Runs = append(r.Dump.Runs, run)
	}
}

func (r Run) same(o Run) bool {
	return r.Namespace == o.Namespace && r.Pod == o.Pod && r.Container == o.Container && r.Session == o.Session && r.Stdin == o.Stdin && slices.Equal(r.Argv, o.Argv)
}

func (c Container) where() string { return "pod " + c.at.Namespace + "/" + c.at.Pod }

// lacking is the error of a run that a dump does not have. Another pod may have its output.
func (c Container) lacking() error {
	return &admin.TransportError{Where: c.where() + " in the dump", Err: errNotInDump}
}

// Run runs a tool to its end, or returns what it printed.
func (c Container) Run(ctx context.Context, command admin.Command) (admin.Result, error) {
	run := c.at
	run.Argv = command.Argv
	if command.Stdin != nil && !command.Tied {
		input, err := limit.All(command.Stdin, limit.Output)
		if err != nil {
			return admin.Result{}, err
		}
		run.Stdin, command.Stdin = string(input), bytes.NewReader(input)
	}
	if known, found := c.runs.find(run); found {
		return known.result()
	}
	if c.runs.Live == nil {
		return admin.Result{}, c.lacking()
	}
	result, err := c.live(ctx, command)
	if ctx.Err() != nil {
		return result, err // another pod answered before, or the command was interrupted
	}
	run.Stdout, run.Stderr, run.ExitCode, run.Failure = string(result.Stdout), string(result.Stderr), result.ExitCode, failureOfRun(err)
	c.runs.keep(run)
	return result, err
}

func (c Container) live(ctx context.Context, command admin.Command) (admin.Result, error) {
	t, err := c.runs.Live(c.at.Namespace, c.at.Pod, c.at.Container)
	if err != nil {
		return admin.Result{}, err
	}
	return t.Run(ctx, command)
}

func (r Run) result() (admin.Result, error) {
	if r.Failure != nil {
		return admin.Result{}, r.Failure.err()
	}
	return admin.Result{Stdout: []byte(r.Stdout), Stderr: []byte(r.Stderr), ExitCode: r.ExitCode}, nil
}

// failureOfRun describes why a program did not run to its end; nil for no error.
func failureOfRun(err error) *RunFailure {
	if err == nil {
		return nil
	}
	f := &RunFailure{Message: err.Error(), TimedOut: errors.Is(err, context.DeadlineExceeded)}
	if lost, is := errors.AsType[*admin.TransportError](err); is {
		f.Started, f.Where, f.Message = lost.Started, lost.Where, lost.Err.Error()
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		s := status.Status()
		f.Status = &s
	}
	return f
}

// err returns the error that a failure was made of.
func (f *RunFailure) err() error {
	cause := error(recordedError{f})
	if f.Status != nil {
		cause = &apierrors.StatusError{ErrStatus: *f.Status}
	}
	if f.Where == "" {
		return cause
	}
	return &admin.TransportError{Started: f.Started, Where: f.Where, Err: cause}
}

// recordedError is an error with its original text.
type recordedError struct{ *RunFailure }

func (e recordedError) Error() string { return e.Message }

// Unwrap returns the kind of the original error, if logic distinguishes it.
func (e recordedError) Unwrap() error {
	if e.TimedOut {
		return context.DeadlineExceeded
	}
	return nil
}
