// Package admintest helps to test access to a database: a transport that plays a
// transcript of fdbcli, and the conformance suite that every implementation of
// admin.Admin and admin.KV has to pass. It is imported by tests only.
package admintest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// Step is one expected run of fdbcli and its result.
type Step struct {
	// Script is the --exec text, or "--version".
	Script   string
	Stdout   string
	Stderr   string
	ExitCode int
	// Err is returned instead of a result.
	Err error
}

// Line is one expected line of a session and what fdbcli prints in reply. Its stdout
// is only received after "help options" or at the end, as with the real one.
type Line struct {
	// Expect is the whole line; a line ending in "…" matches by what precedes that.
	Expect string
	Stdout string
	Stderr string
	// Dies ends fdbcli after the line.
	Dies bool
}

// Transcript is a transport that plays runs and sessions in order. It fails the test
// on unexpected runs, and if some are left.
type Transcript struct {
	tb       testing.TB
	mu       sync.Mutex
	steps    []Step
	sessions [][]Line
	argv     [][]string
}

var _ admin.Transport = (*Transcript)(nil)

// NewTranscript returns a Transcript of these runs.
func NewTranscript(tb testing.TB, steps ...Step) *Transcript {
	tb.Helper()
	transcript := &Transcript{tb: tb, steps: steps}
	tb.Cleanup(transcript.checkPlayed)
	return transcript
}

// Session adds a session.
func (p *Transcript) Session(lines ...Line) *Transcript {
	p.sessions = append(p.sessions, lines)
	return p
}

// Argv returns the command lines requested so far.
func (p *Transcript) Argv() [][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.argv)
}

func (p *Transcript) checkPlayed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.steps {
		p.tb.Errorf("never run: %s", s.Script)
	}
	for range p.sessions {
		p.tb.Errorf("a session was never opened")
	}
}

var errUnexpected = errors.New("not in the transcript")

// Run plays the next run.
func (p *Transcript) Run(_ context.Context, c admin.Command) (admin.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.argv = append(p.argv, c.Argv)
	script := scriptOf(p.tb, c)
	if len(p.steps) == 0 || p.steps[0].Script != script {
		p.tb.Errorf("unexpected run: %s", script)
		return admin.Result{}, &admin.TransportError{Where: "the transcript", Err: errUnexpected}
	}
	s := p.steps[0]
	p.steps = p.steps[1:]
	if s.Err != nil {
		return admin.Result{}, s.Err
	}
	return admin.Result{Stdout: []byte(s.Stdout), Stderr: []byte(s.Stderr), ExitCode: s.ExitCode}, nil
}

func scriptOf(tb testing.TB, c admin.Command) string {
	tb.Helper()
	if i := slices.Index(c.Argv, "--exec"); i >= 0 {
		return c.Argv[i+1]
	}
	if c.Stdin != nil {
		script, err := io.ReadAll(c.Stdin)
		if err != nil {
			tb.Errorf("reading the script: %v", err)
		}
		return string(script)
	}
	return strings.Join(c.Argv[1:], " ")
}

// Open plays the next session.
func (p *Transcript) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.argv = append(p.argv, c.Argv)
	if len(p.sessions) == 0 {
		p.tb.Errorf("unexpected session: %v", c.Argv)
		return nil, &admin.TransportError{Where: "the transcript", Err: errUnexpected}
	}
	lines := p.sessions[0]
	p.sessions = p.sessions[1:]
	return Serve(ctx, func(_ context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		return p.play(lines, stdin, stdout, stderr)
	}), nil
}

func (p *Transcript) play(lines []Line, stdin io.Reader, stdout, stderr io.Writer) int {
	const startedAtOnce = "Using cluster file `/var/fdb/data/fdb.cluster'.\n\nWelcome to the fdbcli. For help, type `help'.\n"
	held := startedAtOnce
	input := bufio.NewScanner(stdin)
	input.Buffer(nil, 2<<20)
	for _, l := range lines {
		if !input.Scan() {
			return 0 // the client hung up, as it may
		}
		if !l.matches(input.Text()) {
			p.tb.Errorf("session: got line %q, want %q", input.Text(), l.Expect)
			return 1
		}
		held += l.Stdout
		_, err := io.WriteString(stderr, l.Stderr)
		if l.Dies || err != nil {
			return 137
		}
		if input.Text() == "help options" {
			_, _ = io.WriteString(stdout, held+OptionsHelp) // the client may have hung up
			held = ""
		}
	}
	_, _ = io.WriteString(stdout, held) // the client may have hung up
	return 0
}

func (l Line) matches(line string) bool {
	if prefix, open := strings.CutSuffix(l.Expect, "…"); open {
		return strings.HasPrefix(line, prefix)
	}
	return line == l.Expect
}

// OptionsHelp is the beginning of fdbcli's output of "help options".
const OptionsHelp = "\nThe following options are available to be set using the `option' command:\n\n" +
	"ACCESS_SYSTEM_KEYS - Allows this transaction to read and modify system keys\n"

// Serve runs a program in this process as a session.
func Serve(ctx context.Context, program func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int) *admin.Session {
	ctx, cancel := context.WithCancel(ctx)
	stdinReader, stdinWriter := io.Pipe()
	stdoutReader, stdoutWriter := io.Pipe()
	stderrReader, stderrWriter := io.Pipe()
	ended := make(chan struct{})
	exitCode := 0
	go func() {
		defer close(ended)
		exitCode = program(ctx, stdinReader, stdoutWriter, stderrWriter)
		closeAll(stdinReader, stdoutWriter, stderrWriter)
	}()
	return &admin.Session{
		Stdin: stdinWriter, Stdout: stdoutReader, Stderr: stderrReader,
		Wait: func() (int, error) { <-ended; return exitCode, nil },
		Close: func() {
			cancel()
			closeAll(stdinWriter, stdoutReader, stderrReader)
			<-ended
		},
	}
}

func closeAll(pipes ...io.Closer) {
	for _, p := range pipes {
		_ = p.Close() // closing a pipe cannot fail
	}
}
