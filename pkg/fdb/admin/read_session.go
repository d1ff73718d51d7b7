package admin

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const (
	// answerLimit is how long an open fdbcli may take to answer. A healthy database takes a second.
	answerLimit = 10 * time.Second
	// turnLimit is how long to wait for the end of another request.
	turnLimit = 3 * time.Second
	// sessionLife is how long fdbcli stays open, even without a client. The next request needs another one.
	sessionLife = 10 * time.Minute
	// sessionTries is how often in a row sessions may fail before none is opened for sessionRest.
	sessionTries = 3
	sessionRest  = time.Minute
)

// ReadSession is an fdbcli that stays open in a pod for commands that change nothing: it runs them as often as they are
// requested, through one connection to the database. An answer is used only if it is whole, without an error, and
// belongs to the request; else that fdbcli is ended, and the pod runs the command on its own. Opened by the first
// request; close it.
type ReadSession struct {
	clock clock.Clock
	turn  chan struct{} // full while a request is outstanding: there is never more than one

	mu sync.Mutex
	in string // the pod of that request; empty without one

	open     *openTool
	failures int // since the last answer
	failedAt time.Time
}

// NewReadSession returns a session that is not open yet.
func NewReadSession(c clock.Clock) *ReadSession {
	return &ReadSession{clock: c, turn: make(chan struct{}, 1)}
}

// At returns a transport like t, of the given pod, that runs commands with a Line in the session. The session moves to
// the pod in which a command is run.
func (s *ReadSession) At(pod string, t Transport) Transport { return sessionTransport{t, s, pod} }

type sessionTransport struct {
	Transport
	session *ReadSession
	pod     string
}

// Run runs a tool to its end, or a command in the session.
func (t sessionTransport) Run(ctx context.Context, c Command) (Result, error) {
	if c.Line != "" {
		if r, ok := t.session.request(ctx, t, c); ok {
			return r, nil
		}
	}
	return t.Transport.Run(ctx, c)
}

// request runs a command in the session, which it opens in a pod unless it is open there. It is not ok where that fails
// or is not possible for now.
func (s *ReadSession) request(ctx context.Context, at sessionTransport, c Command) (r Result, ok bool) {
	if !s.take(ctx, at.pod) {
		return Result{}, false
	}
	defer s.release()
	if s.failures >= sessionTries && s.clock.Since(s.failedAt) < sessionRest {
		return Result{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if !s.open.serves(at.pod, c, s.clock.Now()) {
		s.end()
		if s.open, ok = openIn(ctx, at, c, s.clock.Now()); !ok {
			return Result{}, s.fail()
		}
	}
	return s.answer(ctx, c)
}

// Status requests a status document where the last answer came from. It is not ok where fdbcli is not open, or prints no
// document of an available database: that needs a whole read.
func (s *ReadSession) Status(ctx context.Context) (status *fdb.Status, ok bool) {
	if !s.take(ctx, "") {
		return nil, false
	}
	defer s.release()
	if s.open == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	r, ok := s.answer(ctx, statusCommand())
	if !ok {
		return nil, false
	}
	status, err := fdb.ParseStatus(r.Stdout)
	if err != nil || !status.Available() || status.Incomplete() {
		s.end() // it may have the protocol of before an upgrade, and counts as a client
		return nil, false
	}
	return status, true
}

// Close ends fdbcli, after the request that is outstanding. The next request opens another one.
func (s *ReadSession) Close() {
	s.turn <- struct{}{}
	defer s.release()
	s.end()
}

// take waits for the end of another request, for a short time, and not for one in another pod: that may hang.
func (s *ReadSession) take(ctx context.Context, pod string) bool {
	s.mu.Lock()
	elsewhere := s.in != "" && pod != "" && s.in != pod
	s.mu.Unlock()
	if elsewhere {
		return false
	}
	timer := clock.RealClock{}.NewTimer(turnLimit) // that of the tools
	defer timer.Stop()
	select {
	case s.turn <- struct{}{}:
	case <-timer.C():
		return false
	case <-ctx.Done():
		return false
	}
	s.occupy(pod)
	return true
}

func (s *ReadSession) release() {
	s.occupy("")
	<-s.turn
}

func (s *ReadSession) occupy(pod string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in = pod
}

func (s *ReadSession) answer(ctx context.Context, c Command) (Result, bool) {
	r, err := s.open.answer(ctx, c)
	if err != nil {
		s.end()
		return Result{}, s.fail()
	}
	s.failures = 0
	return r, true
}

// fail counts a failure, and is never ok.
func (s *ReadSession) fail() (ok bool) {
	s.failures++
	s.failedAt = s.clock.Now()
	return false
}

func (s *ReadSession) end() {
	if s.open != nil {
		s.open.dialog.close()
		s.open = nil
	}
}

// openTool is an open fdbcli.
type openTool struct {
	pod    string
	argv   []string
	until  time.Time
	dialog *dialog
	asked  int
	help   []byte // what follows the header of the options; nil before the first answer
}

// serves reports whether the fdbcli can run what a command in a pod runs.
func (o *openTool) serves(pod string, c Command, now time.Time) bool {
	return o != nil && o.pod == pod && slices.Equal(o.argv, c.Interactive) && now.Before(o.until)
}

// openIn opens fdbcli in a pod. It outlives ctx, which bounds the time until the pod is reached.
func openIn(ctx context.Context, at sessionTransport, c Command, now time.Time) (*openTool, bool) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	inTime := context.AfterFunc(ctx, end)
	session, err := at.Open(life, Command{Argv: c.Interactive, Limit: sessionLife})
	if err != nil {
		end()
		return nil, false
	}
	closeSession := session.Close
	session.Close = func() { end(); closeSession() }
	if !inTime() {
		session.Close()
		return nil, false
	}
	return &openTool{pod: at.pod, argv: c.Interactive, until: now.Add(sessionLife - answerLimit), dialog: newDialogue(session)}, true
}

var errNoAnswer = errors.New("fdbcli printed something else than one whole answer")

// answer runs a command. After an error the dialog is of no more use: the answer may still come.
func (o *openTool) answer(ctx context.Context, c Command) (Result, error) {
	unblock := context.AfterFunc(ctx, o.dialog.close) // a stream that is stuck takes no input
	defer unblock()
	learns := o.help == nil
	var lines []string
	if learns {
		lines = append(o.request(), o.request()...)
	}
	if err := o.dialog.send(append(lines, o.request(c.Line)...)...); err != nil {
		return Result{}, err
	}
	if learns {
		if err := o.learnHelp(ctx); err != nil {
			return Result{}, err
		}
	}
	output, err := o.dialog.take(ctx, o.asked)
	if err != nil {
		return Result{}, err
	}
	text, follows := bytes.CutPrefix(output.stdout, o.help)
	r := Result{Stdout: text, Stderr: output.stderr}
	if !follows || failureOf("", r) != nil || c.Whole != nil && !c.Whole(text) {
		return Result{}, errNoAnswer
	}
	return r, nil
}

// request returns lines that run commands, and then print that they were run.
func (o *openTool) request(commands ...string) []string {
	o.asked++
	return append(commands, marker(o.asked), "help options")
}

// learnHelp reads what fdbcli prints about options: each answer follows the end of that, and only its exact text separates
// them. The greeting comes before the first one.
func (o *openTool) learnHelp(ctx context.Context) error {
	if _, err := o.dialog.take(ctx, o.asked-2); err != nil {
		return err
	}
	output, err := o.dialog.take(ctx, o.asked-1)
	o.help = slices.Clone(output.stdout)
	return err
}
