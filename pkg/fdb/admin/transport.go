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
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// Command is one run of a tool.
type Command struct {
	// Argv is the program, by its path, and its arguments. No shell expands
	// them.
	Argv []string
	// Stdin is nil for none.
	Stdin io.Reader
	// Limit is after how long the tool is killed in its container.
	Limit time.Duration
	// Tied kills the tool in its container once the client stops waiting for its end. It
	// has no input then.
	Tied bool
	// Reads means that the tool changes nothing. The result of a lost run does not matter
	// then: it runs again in another pod.
	Reads bool
	// HedgeAfter is how long the first pod may take to respond before another one runs the
	// command as well. Zero waits for it. For commands with Reads only, which cost little.
	HedgeAfter time.Duration
	// Settles reports whether a successful run is conclusive. An inconclusive result is used if
	// no other pod has a better one, and its pod is not preferred later. Nil means always.
	Settles func(Result) bool
	// Interactive is the command line of a session in which Line does the same. Line is empty for commands that
	// run on their own.
	Interactive []string
	Line        string
	// Whole reports whether the output of Line is complete. Nil means always.
	Whole func(stdout []byte) bool
}

// SettledBy reports whether a run is conclusive.
func (c Command) SettledBy(r Result) bool {
	return r.ExitCode == 0 && (c.Settles == nil || c.Settles(r))
}

// Result is the result of a tool. A missing program ends with exit code 127,
// one that cannot be run with 126.
type Result struct {
	Stdout, Stderr []byte
	ExitCode       int
}

// Session is a running interactive tool. It has no terminal.
type Session struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.Reader
	// Wait returns the exit code once the tool has ended. Read Stdout and Stderr to
	// their ends first.
	Wait func() (exitCode int, err error)
	// Close kills the tool if it still runs and frees everything.
	Close func()
}

// Transport runs tools near the database. Its errors are *TransportError if the tool
// certainly did not run to its end. That is not always known: a lost connection to a
// pod can look like exit code 0 with truncated output, so callers must check that
// output is complete.
type Transport interface {
	Run(ctx context.Context, c Command) (Result, error)
	Open(ctx context.Context, c Command) (*Session, error)
}

// TransportError means that a tool was not run, or that its connection was
// lost.
type TransportError struct {
	// Started reports whether the tool may have run. If it did not, the same command
	// can be sent to another pod.
	Started bool
	Where   string
	Err     error
	// unfinished are the places of a command that several pods ran, in which it had not ended.
	unfinished []string
}

func (e *TransportError) Error() string {
	message := requestLine.ReplaceAllString(e.Err.Error(), "$1")
	if e.Started {
		return fmt.Sprintf("losing the command in %s: %s", e.Where, message)
	}
	return fmt.Sprintf("reaching %s: %s", e.Where, message)
}

// requestLine matches a request in Go's errors: with its whole URL, in which the whole
// command line is a parameter. Only the host is kept.
var requestLine = regexp.MustCompile(`(?:Get|Post) "https?://([^/"]+)[^"]*"`)

// noServer matches the error of an API server that did not reach the node of a pod. It may
// have accepted a WebSocket before it tried.
var noServer = regexp.MustCompile(`error (?:sending request|dialing backend): .*\bdial tcp\b`)

func (e *TransportError) Unwrap() error { return e.Err }

// neverRan reports whether the tool certainly did not run.
func neverRan(err error) bool {
	lost, ok := errors.AsType[*TransportError](err)
	return ok && !lost.Started
}

// Unfinished returns where a command had not ended when its context did.
func Unfinished(err error) []string {
	lost, is := errors.AsType[*TransportError](err)
	switch {
	case !is:
		return nil
	case len(lost.unfinished) > 0:
		return lost.unfinished
	case errors.Is(lost.Err, context.DeadlineExceeded), errors.Is(lost.Err, context.Canceled):
		return []string{lost.Where}
	default:
		return nil
	}
}

// unsetVariables are variables of a pod's environment that would make fdbcli load
// other client libraries or write trace files.
var unsetVariables = []string{
	"FDB_NETWORK_OPTION_TRACE_ENABLE",
	"FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY",
	"FDB_NETWORK_OPTION_DISABLE_LOCAL_CLIENT",
	"FDB_NETWORK_OPTION_CLIENT_THREADS_PER_VERSION",
	"FDB_NETWORK_OPTION_IGNORE_EXTERNAL_CLIENT_FAILURES",
}

// killGrace is how long a terminated tool may take to end.
const killGrace = 5 * time.Second

// wrapped returns the command line that runs c in a container: with a clean
// environment, and killed after its limit even without a client.
func wrapped(c Command) []string {
	argv := []string{"env"}
	for _, name := range unsetVariables {
		argv = append(argv, "-u", name)
	}
	if c.Tied {
		argv = append(argv, "sh", "-c", tie, seconds(tieLimit))
	}
	argv = append(argv, "timeout", "-k", seconds(killGrace), seconds(c.Limit))
	return append(argv, c.Argv...)
}

// A tied tool receives a heartbeat every tieBeat while the client waits, and ends after
// tieLimit without one: a connection can be lost long before its input ends. That is sooner
// than another run may take the Lease over.
const (
	tieBeat  = 5 * time.Second
	tieLimit = 30 * time.Second
)

// tie runs its arguments, without input, until they end, or until its own input ends or has no
// data for as many seconds as its name: then the client has disconnected.
const tie = `"$@" </dev/null & tool=$!
exec 3<&0 2>/dev/null
{ while [ "$(timeout "$0" head -c 1 <&3)" ]; do :; done; kill "$tool"; } >/dev/null &
watcher=$!
wait "$tool"
code=$?
kill "$watcher"
exit "$code"`

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) string {
	return fmt.Sprint(int64((d + time.Second - 1) / time.Second))
}

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
