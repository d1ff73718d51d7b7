package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/faults"
)

const (
	streamIdleLimit  = 4 * time.Hour    // a kubelet's own
	streamSetupLimit = 30 * time.Second // a kubelet's own
	drainLimit       = 2 * time.Second  // for output of a command that ended and left others behind
)

// handler serves the API server only.
func (a *Agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", a.serveExec)
	mux.HandleFunc("/portForward/{namespace}/{pod}", a.servePortForward)
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", a.serveLogs)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.TLS == nil || len(q.TLS.VerifiedChains) == 0 || q.TLS.PeerCertificates[0].Subject.CommonName != a.Caller {
			http.Error(w, "only the API server may call", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, q)
	})
}

// reachable ends a request for an unreachable node without a response.
func (a *Agent) reachable(namespace, pod string) {
	if r, err := a.runner(namespace, pod); err == nil && r.node.is() != Working {
		panic(http.ErrAbortHandler)
	}
}

func (a *Agent) serveExec(w http.ResponseWriter, q *http.Request) {
	a.reachable(q.PathValue("namespace"), q.PathValue("pod"))
	o, err := remotecommand.NewOptions(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, q, a, q.PathValue("namespace")+"/"+q.PathValue("pod"), "", q.PathValue("container"),
		q.URL.Query()["command"], o, streamIdleLimit, streamSetupLimit, remotecommand.SupportedStreamingProtocols)
}

func (a *Agent) servePortForward(w http.ResponseWriter, q *http.Request) {
	a.reachable(q.PathValue("namespace"), q.PathValue("pod"))
	o, err := portforward.NewV4Options(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, q, a, q.PathValue("namespace")+"/"+q.PathValue("pod"), "", o,
		streamIdleLimit, streamSetupLimit, portforward.SupportedProtocols)
}

// execution is a command to run in a container.
type execution struct {
	argv     []string
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	terminal bool
	resize   <-chan remotecommand.TerminalSize
}

// ExecInContainer runs a command in a container's box.
func (a *Agent) ExecInContainer(ctx context.Context, pod, _, name string, argv []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	namespace, podName, _ := strings.Cut(pod, "/")
	r, err := a.runner(namespace, podName)
	if err != nil {
		return err
	}
	e := execution{argv: argv, stdin: in, stdout: out, stderr: errOut, terminal: tty, resize: resize}
	cut, err := r.applyExecFaults(ctx, &e)
	if err != nil {
		return err
	}
	c, run, err := r.enter(name)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- e.run(c, run) }()
	select {
	case err := <-ended:
		return err
	case <-cut:
		_ = pause(ctx, cutDelay) // so that what was printed arrives
		a.CutStreams(namespace, podName)
		return errors.New("the sandbox cut this connection (fault ExecCut)") // the command still runs, as after a lost connection
	}
}

// cutDelay lets output that was let through arrive before the connection breaks.
const cutDelay = 100 * time.Millisecond

// applyExecFaults delays, refuses or arms the cutting of a command.
func (r *runner) applyExecFaults(ctx context.Context, e *execution) (cut <-chan struct{}, err error) {
	r.mu.Lock()
	pod := r.pod
	r.mu.Unlock()
	if pod == nil {
		return nil, errors.New("the pod is deleted")
	}
	fault, err := faults.ParsePod(pod.Annotations[faults.PodAnnotation])
	if err != nil {
		return nil, err
	}
	if fault.ExecRefused {
		return nil, errors.New("the sandbox refuses commands in this pod (fault ExecRefused)")
	}
	if err := pause(ctx, fault.ExecDelay); err != nil {
		return nil, err
	}
	if fault.ExecCutBytes == 0 {
		return nil, nil
	}
	scissors := faults.NewScissors(fault.ExecCutBytes)
	e.stdout = scissors.Writer(e.stdout)
	if e.stderr != nil {
		e.stderr = scissors.Writer(e.stderr)
	}
	return scissors.Cut(), nil
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// enter finds a running container's box and what its commands start with.
func (r *runner) enter(name string) (box.Command, *box.Box, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[name]
	if c == nil {
		return box.Command{}, nil, fmt.Errorf("container %s is not valid for pod %s", name, r.name)
	}
	if c.process == nil {
		return box.Command{}, nil, fmt.Errorf("unable to upgrade connection: container not found (%q)", name)
	}
	return box.Command{Env: c.env.list(), Dir: c.workingDir()}, c.box, nil
}

func (e execution) run(c box.Command, b *box.Box) error {
	c.Argv = e.argv
	if e.terminal {
		return e.runOnTerminal(c, b)
	}
	var streams streams
	defer streams.close()
	if err := streams.open(&c, e); err != nil {
		return err
	}
	p, err := b.Run(c)
	streams.closeRemote()
	if err != nil {
		return cannotStart(err)
	}
	<-p.Ended()
	streams.drain()
	return exitError(p.Exit())
}

// runOnTerminal gives the command a terminal of its own.
func (e execution) runOnTerminal(c box.Command, b *box.Box) error {
	ours, theirs, err := pty.Open()
	if err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	defer ours.Close()
	c.Stdin, c.Stdout, c.Stderr, c.Terminal = theirs, theirs, theirs, true
	p, err := b.Run(c)
	theirs.Close()
	if err != nil {
		return cannotStart(err)
	}
	go func() {
		for s := range e.resize {
			pty.Setsize(ours, &pty.Winsize{Rows: s.Height, Cols: s.Width}) // a terminal that has ended has no size
		}
	}()
	if e.stdin != nil {
		go io.Copy(ours, e.stdin) // ends with the terminal
	}
	printed := make(chan struct{})
	go func() { defer close(printed); io.Copy(e.stdout, ours) }() // a terminal's end reads as an error
	<-p.Ended()
	waitFor(printed, drainLimit)
	return exitError(p.Exit())
}

// streams are the pipes between a command and its caller.
type streams struct {
	local, remote []*os.File
	printed       []<-chan struct{}
}

func (s *streams) open(c *box.Command, e execution) error {
	in, err := s.input(e.stdin)
	if err != nil {
		return fmt.Errorf("open a command's input: %w", err)
	}
	out, err := s.output(e.stdout)
	if err != nil {
		return fmt.Errorf("open a command's output: %w", err)
	}
	errOut, err := s.output(e.stderr)
	if err != nil {
		return fmt.Errorf("open a command's error output: %w", err)
	}
	c.Stdin, c.Stdout, c.Stderr = in, out, errOut
	return nil
}

// input is a pipe that ends when the caller's input ends.
func (s *streams) input(from io.Reader) (*os.File, error) {
	if from == nil {
		null, err := os.Open(os.DevNull)
		s.remote = append(s.remote, null)
		return null, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.remote, s.local = append(s.remote, r), append(s.local, w)
	go func() { io.Copy(w, from); w.Close() }() // the command may end before its input does
	return r, nil
}

func (s *streams) output(to io.Writer) (*os.File, error) {
	if to == nil {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		s.remote = append(s.remote, null)
		return null, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.remote, s.local = append(s.remote, w), append(s.local, r)
	printed := make(chan struct{})
	s.printed = append(s.printed, printed)
	go func() {
		defer close(printed)
		io.Copy(to, r)         // a caller that has ended reads no more
		io.Copy(io.Discard, r) // and must not stop the command
	}()
	return w, nil
}

func (s *streams) closeRemote() {
	for _, f := range s.remote {
		f.Close()
	}
	s.remote = nil
}

// drain waits for what the command printed. A child it left behind may hold
// the pipe open forever, so the wait is short.
func (s *streams) drain() {
	for _, p := range s.printed {
		waitFor(p, drainLimit)
	}
}

func (s *streams) close() {
	s.closeRemote()
	for _, f := range s.local {
		f.Close()
	}
}

func waitFor(done <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// cannotStart is a container runtime's message for a program that cannot be
// started.
func cannotStart(err error) error {
	var refused box.CannotStartError
	if !errors.As(err, &refused) {
		return err
	}
	code := 126
	if strings.Contains(refused.Reason, "not found") || strings.Contains(refused.Reason, "no such file") {
		code = 127
	}
	return utilexec.CodeExitError{
		Err:  fmt.Errorf("OCI runtime exec failed: exec failed: unable to start container process: %s: unknown", refused.Reason),
		Code: code,
	}
}

func exitError(e box.Exit) error {
	if e.Code == 0 {
		return nil
	}
	return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", e.Code), Code: e.Code}
}

// PortForward connects a stream to a port of the pod.
func (a *Agent) PortForward(ctx context.Context, pod, _ string, port int32, stream io.ReadWriteCloser) error {
	namespace, name, _ := strings.Cut(pod, "/")
	p, err := a.pods.Pods(namespace).Get(name)
	if err != nil {
		return err
	}
	if p.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("pod %s is not running", name)
	}
	conn, err := (&net.Dialer{Timeout: streamSetupLimit}).DialContext(ctx, "tcp", net.JoinHostPort(p.Status.PodIP, strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		io.Copy(conn, stream)                               // either side may end first
		conn.(interface{ CloseWrite() error }).CloseWrite() // it may be closed
	}()
	_, err = io.Copy(stream, conn)
	return err
}
