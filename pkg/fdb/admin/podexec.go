package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// PodExec runs tools in a container of a pod: by WebSocket, or by SPDY if the API
// server, or a proxy before it, does not support that.
type PodExec struct {
	config    *rest.Config
	base      corev1.PodExecOptions
	request   func(corev1.PodExecOptions) *url.URL
	namespace string
	pod       string
}

// NewPodExec returns a PodExec for this container. Its connections do not count
// against the QPS of config.
func NewPodExec(config *rest.Config, namespace, pod, container string) (*PodExec, error) {
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for pod %s/%s: %w", namespace, pod, err)
	}
	return &PodExec{
		config:    config,
		base:      corev1.PodExecOptions{Container: container, Stdout: true, Stderr: true},
		namespace: namespace,
		pod:       pod,
		request: func(o corev1.PodExecOptions) *url.URL {
			return client.RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).
				SubResource("exec").VersionedParams(&o, scheme.ParameterCodec).URL()
		},
	}, nil
}

func (p *PodExec) where() string { return "pod " + p.namespace + "/" + p.pod }

// Run runs a tool to its end.
func (p *PodExec) Run(ctx context.Context, c Command) (Result, error) {
	if c.Tied {
		open, end := io.Pipe()
		defer closePipes(end)
		go sendHeartbeats(end)
		c.Stdin = open
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdout, stderr := limit.NewBuffer(limit.Output, cancel), limit.NewBuffer(limit.Output, cancel)
	streams := remotecommand.StreamOptions{Stdin: c.Stdin, Stdout: stdout, Stderr: stderr}
	exitCode, err := p.stream(ctx, c, streams, newSignal())
	if exceeded := cmp.Or(stdout.Err(), stderr.Err()); exceeded != nil {
		return Result{}, &TransportError{Started: true, Where: p.where(), Err: fmt.Errorf("read the output of %s: %w", c.Argv[0], exceeded)}
	}
	if err != nil {
		return Result{}, err // the buffers may still be written to
	}
	return Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exitCode}, nil
}

// sendHeartbeats writes a byte at intervals to show that the client still waits,
// until the reader closes.
func sendHeartbeats(w io.Writer) {
	waiting := clock.RealClock{} // the tool that reads them uses that clock
	for {
		if _, err := w.Write([]byte("x")); err != nil {
			return
		}
		waiting.Sleep(tieBeat)
	}
}

// Open starts an interactive tool. It returns once the container is reached.
func (p *PodExec) Open(ctx context.Context, c Command) (*Session, error) {
	ctx, cancel := context.WithCancel(ctx)
	stdinReader, stdinWriter := io.Pipe()
	stdoutReader, stdoutWriter := io.Pipe()
	stderrReader, stderrWriter := io.Pipe()
	c.Stdin = stdinReader
	connected, ended := newSignal(), newSignal()
	var exitCode int
	var runErr error
	go func() {
		defer ended.give()
		streams := remotecommand.StreamOptions{Stdin: stdinReader, Stdout: stdoutWriter, Stderr: stderrWriter}
		exitCode, runErr = p.stream(ctx, c, streams, connected)
		closePipes(stdinWriter, stdoutWriter, stderrWriter)
	}()
	s := &Session{
		Stdin: stdinWriter, Stdout: stdoutReader, Stderr: stderrReader,
		Wait: func() (int, error) { <-ended.given; return exitCode, runErr },
		Close: func() {
			cancel()
			closePipes(stdinWriter, stdoutReader, stderrReader)
			<-ended.given
		},
	}
	select {
	case <-connected.given:
	case <-ended.given:
	}
	if !connected.isGiven() {
		s.Close()
		return nil, runErr
	}
	return s, nil
}

func closePipes(pipes ...io.Closer) {
	for _, p := range pipes {
		_ = p.Close() // closing a pipe cannot fail
	}
}

// stream connects and stays until the tool ends. It signals when it has reached the
// container, which starts the tool.
func (p *PodExec) stream(ctx context.Context, c Command, o remotecommand.StreamOptions, connected *signal) (exitCode int, err error) {
	options := p.base
	options.Command = wrapped(c)
	options.Stdin = c.Stdin != nil
	forbidden := newSignal()
	err = p.connect(withoutLog(ctx), p.request(options), o, connected, forbidden)
	if forbidden.isGiven() && !connected.isGiven() {
		err = notAllowed(err)
	}
	exit, ended := errors.AsType[utilexec.CodeExitError](err)
	switch {
	case err == nil:
		return 0, nil
	case ended:
		return exit.Code, nil
	default:
		return 0, &TransportError{Started: connected.isGiven() && !noServer.MatchString(err.Error()), Where: p.where(), Err: err}
	}
}

// notAllowed returns a forbidden error with the API server's message, which client-go
// reduces to text.
func notAllowed(err error) error {
	words := strings.TrimPrefix(err.Error(), "unable to upgrade connection: ")
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: words,
	}}
}

// withoutLog keeps client-go from logging to stderr what it cannot copy after a
// session was closed; relevant errors are returned.
func withoutLog(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }

// connect streams by WebSocket, or by SPDY if that is not supported.
func (p *PodExec) connect(ctx context.Context, target *url.URL, o remotecommand.StreamOptions, connected, forbidden *signal) error {
	config := rest.CopyConfig(p.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			switch {
			case err != nil:
			case response.StatusCode == http.StatusSwitchingProtocols:
				connected.give()
			case response.StatusCode == http.StatusForbidden:
				forbidden.give()
			}
			return response, err
		})
	})
	webSocket, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, target.String())
	if err != nil {
		return fmt.Errorf("prepare a WebSocket: %w", err)
	}
	spdy, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, target)
	if err != nil {
		return fmt.Errorf("prepare SPDY: %w", err)
	}
	either, err := remotecommand.NewFallbackExecutor(webSocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return fmt.Errorf("prepare a connection: %w", err)
	}
	return either.StreamWithContext(ctx, o)
}

// signal is an event that happens once.
type signal struct {
	once  sync.Once
	given chan struct{}
}

func newSignal() *signal { return &signal{given: make(chan struct{})} }

func (s *signal) give() { s.once.Do(func() { close(s.given) }) }

func (s *signal) isGiven() bool {
	select {
	case <-s.given:
		return true
	default:
		return false
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
