package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// LocalExec runs tools on this machine.
type LocalExec struct{}

const localMachine = "this machine"

// Run runs a tool to its end.
func (LocalExec) Run(ctx context.Context, c Command) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	stdout, stderr := limit.NewBuffer(limit.Output, cancel), limit.NewBuffer(limit.Output, cancel)
	cmd := localCommand(ctx, c)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, stdout, stderr
	exitCode, err := localExit(ctx, cmd.Run())
	if exceeded := cmp.Or(stdout.Err(), stderr.Err()); exceeded != nil {
		return Result{}, &TransportError{Started: true, Where: localMachine, Err: fmt.Errorf("read the output of %s: %w", c.Argv[0], exceeded)}
	}
	if err != nil {
		return Result{}, err
	}
	return Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exitCode}, nil
}

// Open starts an interactive tool.
func (LocalExec) Open(ctx context.Context, c Command) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	cmd := localCommand(ctx, c)
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	stderr, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		cancel()
		return nil, &TransportError{Where: localMachine, Err: err}
	}
	if err := cmd.Start(); err != nil {
		defer cancel()
		return endedSession(localExit(ctx, err))
	}
	wait := sync.OnceValues(func() (int, error) { return localExit(ctx, cmd.Wait()) })
	return &Session{
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Wait:  wait,
		Close: func() { cancel(); _, _ = wait() },
	}, nil
}

// endedSession returns the session of a tool that could not be started.
func endedSession(exitCode int, err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	_, stdin := io.Pipe()
	return &Session{
		Stdin: stdin, Stdout: strings.NewReader(""), Stderr: strings.NewReader(""),
		Wait:  func() (int, error) { return exitCode, nil },
		Close: func() { _ = stdin.Close() }, // closing a pipe cannot fail
	}, nil
}

// localCommand returns c with a clean environment.
func localCommand(ctx context.Context, c Command) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...) // #nosec G204 -- running fdbcli is the purpose
	cmd.WaitDelay = killGrace
	cmd.Env = slices.DeleteFunc(os.Environ(), func(assignment string) bool {
		name, _, _ := strings.Cut(assignment, "=")
		return slices.Contains(unsetVariables, name)
	})
	return cmd
}

// localExit returns the exit code in the error of a run, if there is one.
func localExit(ctx context.Context, err error) (exitCode int, _ error) {
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, nil
	case ctx.Err() != nil:
		return 0, &TransportError{Started: true, Where: localMachine, Err: ctx.Err()}
	case ended && exit.Exited():
		return exit.ExitCode(), nil
	case ended:
		return exitCrashed, nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return exitNotFound, nil
	case errors.Is(err, fs.ErrPermission):
		return exitCannotRun, nil
	default:
		return 0, &TransportError{Started: true, Where: localMachine, Err: err}
	}
}
