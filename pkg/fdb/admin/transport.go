package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// Command is one run of a tool.
type Command struct {
	// Argv is the program, by its path, and its arguments. No shell reads them.
	Argv []string
	// Stdin is nil for none.
	Stdin io.Reader
	// Limit is when the tool is killed where it runs.
	Limit time.Duration
	// Tied has the tool killed where it runs once nobody waits for its end any more. It has
	// no input then.
	Tied bool
	// Reads says that the tool changes nothing. What became of one that was lost on the way
	// does not matter then: it runs again in another place.
	Reads bool
	// Patience is how long the first place may be silent before another one is asked as well.
	// Zero has it waited for. For what Reads only, and costs little.
	Patience time.Duration
	// Settles reports whether a run that ended well answers for good. What does not is taken
	// where no other place has a better answer, and nobody goes back to who gave it. Nil is yes.
	Settles func(Result) bool
}

// SettledBy reports whether a run answers for good.
func (c Command) SettledBy(r Result) bool {
	return r.ExitCode == 0 && (c.Settles == nil || c.Settles(r))
}

// Result is what a tool left behind. A program that is not there ends with exit
// code 127, one that cannot be run with 126.
type Result struct {
	Stdout, Stderr []byte
	ExitCode       int
}

// Session is a running tool that is talked to. It has no terminal.
type Session struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.Reader
	// Wait returns the exit code once the tool has ended. Read Stdout and Stderr to
	// their ends first.
	Wait func() (exitCode int, err error)
	// Close kills the tool if it still runs and frees everything.
	Close func()
}

// Transport runs tools somewhere near the database. Its errors are *TransportError
// when the tool is known not to have run to its end. Not every end is known: a pod's
// connection that is lost can look like exit code 0 with output that is cut short, so
// a reader has to see for itself that an answer is complete.
type Transport interface {
	Run(ctx context.Context, c Command) (Result, error)
	Open(ctx context.Context, c Command) (*Session, error)
}

// TransportError says that a tool was not run, or that it was lost on the way.
type TransportError struct {
	// Started reports whether the tool may have run. If it did not, the same command
	// can be sent to another place.
	Started bool
	Where   string
	Err     error
}

func (e *TransportError) Error() string {
	said := requestLine.ReplaceAllString(e.Err.Error(), "$1")
	if e.Started {
		return fmt.Sprintf("losing the command in %s: %s", e.Where, said)
	}
	return fmt.Sprintf("reaching %s: %s", e.Where, said)
}

// requestLine is how Go tells of a request: with its whole URL, in which the whole command
// line is a parameter. Whom it went to is what matters.
var requestLine = regexp.MustCompile(`(?:Get|Post) "https?://([^/"]+)[^"]*"`)

// noServer is how an API server tells that it did not reach the node of a pod. It may have
// answered a WebSocket before it tried.
var noServer = regexp.MustCompile(`error (?:sending request|dialing backend): .*\bdial tcp\b`)

func (e *TransportError) Unwrap() error { return e.Err }

// neverRan reports whether the tool certainly did not run.
func neverRan(err error) bool {
	lost, ok := errors.AsType[*TransportError](err)
	return ok && !lost.Started
}

// unsetVariables are those of a pod's environment that would make fdbcli load other
// client libraries or leave trace files behind.
var unsetVariables = []string{
	"FDB_NETWORK_OPTION_TRACE_ENABLE",
	"FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY",
	"FDB_NETWORK_OPTION_DISABLE_LOCAL_CLIENT",
	"FDB_NETWORK_OPTION_CLIENT_THREADS_PER_VERSION",
	"FDB_NETWORK_OPTION_IGNORE_EXTERNAL_CLIENT_FAILURES",
}

// killGrace is how long a tool that was told to end may take for it.
const killGrace = 5 * time.Second

// wrapped is the command line that runs c in a container: with a clean environment,
// and killed after its limit even when nobody listens any more.
func wrapped(c Command) []string {
	argv := []string{"env"}
	for _, name := range unsetVariables {
		argv = append(argv, "-u", name)
	}
	if c.Tied {
		argv = append(argv, "sh", "-c", tie, seconds(tieSilence))
	}
	argv = append(argv, "timeout", "-k", seconds(killGrace), seconds(c.Limit))
	return append(argv, c.Argv...)
}

// A tool that is tied hears every tieBeat that somebody waits for it, and ends after
// tieSilence without a word: a connection can be gone for long before its input ends. That is
// sooner than anybody else may take the Lease over.
const (
	tieBeat    = 5 * time.Second
	tieSilence = 30 * time.Second
)

// tie runs its arguments, none of which it reads, until they end, or until its input ends or
// is silent for as many seconds as its name says: that is when whoever waits for them is gone.
const tie = `"$@" </dev/null & tool=$!
exec 3<&0 2>/dev/null
{ while [ "$(timeout "$0" head -c 1 <&3)" ]; do :; done; kill "$tool"; } >/dev/null &
watcher=$!
wait "$tool"
code=$?
kill "$watcher"
exit "$code"`

// seconds is d in whole seconds, rounded up.
func seconds(d time.Duration) string {
	return fmt.Sprint(int64((d + time.Second - 1) / time.Second))
}
