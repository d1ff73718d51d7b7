package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// program is what runs in the container of an execServer.
type program func(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) int

// execServer is an API server that knows nothing but pods/exec.
type execServer struct {
	t         *testing.T
	run       program
	webSocket bool // else only SPDY is understood
	paths     []string
}

func (s *execServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.paths = append(s.paths, r.URL.Path)
	switch {
	case strings.Contains(r.URL.Path, "/pods/gone/"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		writeJSON(s.t, w, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: `pods "gone" not found`,
		})
	case strings.Contains(r.URL.Path, "/pods/forbidden"):
		http.Error(w, `pods "forbidden" is forbidden: User "ro" cannot create resource "pods/exec"`, http.StatusForbidden)
	case wsstream.IsWebSocketRequest(r) && s.webSocket:
		s.serveWebSocket(w, r)
	case wsstream.IsWebSocketRequest(r):
		http.Error(w, "what is a WebSocket?", http.StatusBadRequest)
	default:
		s.serveSPDY(w, r)
	}
}

func writeJSON(t *testing.T, w io.Writer, v any) {
	t.Helper()
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Logf("writing: %v", err)
	}
}

func (s *execServer) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	stdin := wsstream.IgnoreChannel
	if r.URL.Query().Get("stdin") == "true" {
		stdin = wsstream.ReadChannel
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		remotecommand.StreamProtocolV5Name: {Binary: true, Channels: []wsstream.ChannelType{
			stdin, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.IgnoreChannel,
		}},
	})
	_, streams, err := conn.Open(w, r)
	if err != nil {
		s.t.Errorf("opening: %v", err)
		return
	}
	defer func() { _ = conn.Close() }()
	s.serve(r, streams[0], streams[1], streams[2], streams[3])
}

func (s *execServer) serveSPDY(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{remotecommand.StreamProtocolV4Name}); err != nil {
		s.t.Errorf("shaking hands: %v", err)
		return
	}
	expected := 3
	if r.URL.Query().Get("stdin") == "true" {
		expected = 4
	}
	arrived := make(chan httpstream.Stream, expected)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, replySent <-chan struct{}) error {
		go func() { <-replySent; arrived <- stream }()
		return nil
	})
	if conn == nil {
		s.t.Error("no SPDY connection")
		return
	}
	defer func() { _ = conn.Close() }()
	streams := map[string]httpstream.Stream{}
	for range expected {
		stream := <-arrived
		streams[stream.Headers().Get("streamType")] = stream
	}
	var stdin io.Reader = strings.NewReader("")
	if expected == 4 {
		stdin = streams["stdin"]
	}
	s.serve(r, stdin, streams["stdout"], streams["stderr"], streams["error"])
}

// Instead of exit codes: the connection breaks, or ends politely without a result.
const (
	breakOff = -1
	hangUp   = -2
	noNode   = -3 // the pod's node does not answer the API server, which has answered the WebSocket
)

// nodeDeleted is Go's error for a node that does not respond, with all of the
// request.
const nodeDeleted = `Post "https://10.0.0.5:10250/exec/ns/a/foundationdb?command=env&command=x": dial tcp 10.0.0.5:10250: connect: connection refused`

// connection is the key of a request's connection.
type connection struct{}

func (s *execServer) serve(r *http.Request, stdin io.Reader, stdout, stderr, status io.WriteCloser) {
	if r.URL.Query().Get("stdin") != "true" {
		stdin = strings.NewReader("")
	}
	code := s.run(r.Context(), r.URL.Query()["command"], stdin, stdout, stderr)
	switch code {
	case breakOff:
		_ = r.Context().Value(connection{}).(net.Conn).Close()
		return
	case hangUp:
		return
	}
	answer := metav1.Status{Status: metav1.StatusSuccess}
	switch code {
	case 0:
	case noNode:
		answer = apierrors.NewInternalError(errors.New("error sending request: " + nodeDeleted)).Status()
	default:
		answer = metav1.Status{
			Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(code)}}},
		}
	}
	writeJSON(s.t, status, answer)
	for _, c := range []io.Closer{stdout, stderr, status} {
		_ = c.Close()
	}
}

func podExec(t *testing.T, s *execServer, pod string) *admin.PodExec {
	t.Helper()
	s.t = t
	server := httptest.NewUnstartedServer(s)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connection{}, c)
	}
	server.Start()
	t.Cleanup(server.Close)
	p, err := admin.NewPodExec(&rest.Config{Host: server.URL}, "ns", pod, "foundationdb")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// protocols are the ways to a container.
var protocols = map[string]bool{"by WebSocket": true, "by SPDY when WebSockets are refused": false}

func TestPodExecReturnsOutputAndExitCode(t *testing.T) {
	for name, webSocket := range protocols {
		t.Run(name, func(t *testing.T) {
			var argv []string
			p := podExec(t, &execServer{webSocket: webSocket, run: func(_ context.Context, a []string, stdin io.Reader, stdout, stderr io.Writer) int {
				argv = a
				text, err := io.ReadAll(stdin)
				fmt.Fprintf(stdout, "out %s %v", text, err)
				fmt.Fprint(stderr, "err")
				return 3
			}}, "a")
			got, err := p.Run(t.Context(), admin.Command{
				Argv: []string{"/usr/bin/fdbcli", "--exec", "a; b"}, Stdin: strings.NewReader("in"), Limit: 1500 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			want := admin.Result{Stdout: []byte("out in <nil>"), Stderr: []byte("err"), ExitCode: 3}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			wantArgv := []string{
				"env", "-u", "FDB_NETWORK_OPTION_TRACE_ENABLE", "-u", "FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY",
				"-u", "FDB_NETWORK_OPTION_DISABLE_LOCAL_CLIENT", "-u", "FDB_NETWORK_OPTION_CLIENT_THREADS_PER_VERSION",
				"-u", "FDB_NETWORK_OPTION_IGNORE_EXTERNAL_CLIENT_FAILURES", "timeout", "-k", "5", "2", "/usr/bin/fdbcli", "--exec", "a; b",
			}
			if diff := cmp.Diff(wantArgv, argv); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodExecReportsWhetherTheCommandMayHaveRun(t *testing.T) {
	unreachable, err := admin.NewPodExec(&rest.Config{Host: "http://127.0.0.1:1"}, "ns", "a", "foundationdb")
	if err != nil {
		t.Fatal(err)
	}
	lost := func(context.Context, []string, io.Reader, io.Writer, io.Writer) int { return breakOff }
	absent := func(context.Context, []string, io.Reader, io.Writer, io.Writer) int { return noNode }
	cases := map[string]struct {
		transport *admin.PodExec
		started   bool
		// opens is whether a session is open before its outcome is known.
		opens bool
	}{
		"the API server cannot be reached": {unreachable, false, false},
		"the pod is deleted":               {podExec(t, &execServer{webSocket: true, run: lost}, "gone"), false, false},
		"the node cannot be reached":       {podExec(t, &execServer{webSocket: true, run: absent}, "a"), false, true},
		"the connection is lost":           {podExec(t, &execServer{webSocket: true, run: lost}, "a"), true, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := c.transport.Run(t.Context(), admin.Command{Argv: []string{"x"}, Limit: time.Second})
			failure, ok := errors.AsType[*admin.TransportError](err)
			if !ok || failure.Started != c.started || strings.Contains(err.Error(), "command=") {
				t.Errorf("got %v", err)
			}
			session, err := c.transport.Open(t.Context(), admin.Command{Argv: []string{"x"}, Limit: time.Second})
			if (err == nil) != c.opens {
				t.Errorf("opening: got %v", err)
			}
			if err != nil {
				return
			}
			defer session.Close()
			if _, err := io.ReadAll(session.Stdout); err != nil {
				t.Errorf("reading: %v", err)
			}
			_, err = session.Wait()
			if failure, ok := errors.AsType[*admin.TransportError](err); !ok || failure.Started != c.started {
				t.Errorf("waiting: got %v", err)
			}
		})
	}
}

// TestALostPodExecConnectionCanReturnExitCodeZero pins what client-go does, because everything
// that reads output relies on not trusting it.
func TestALostPodExecConnectionCanReturnExitCodeZero(t *testing.T) {
	ending := func(code int) program {
		return func(_ context.Context, _ []string, _ io.Reader, stdout, _ io.Writer) int {
			fmt.Fprint(stdout, "half")
			return code
		}
	}
	for name, s := range map[string]*execServer{
		"SPDY breaks off":        {run: ending(breakOff)},
		"SPDY hangs up":          {run: ending(hangUp)},
		"the WebSocket hangs up": {run: ending(hangUp), webSocket: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := podExec(t, s, "a").Run(t.Context(), admin.Command{Argv: []string{"x"}, Limit: time.Second})
			if err != nil || got.ExitCode != 0 || !strings.HasPrefix("half", string(got.Stdout)) {
				t.Errorf("got %+v (%v): this can be determined now, so document it in Transport", got, err)
			}
		})
	}
}

func TestFailoverContinuesOnlyIfTheCommandCannotHaveRun(t *testing.T) {
	ran := 0
	count := func(context.Context, []string, io.Reader, io.Writer, io.Writer) int { ran++; return 0 }
	lost := func(context.Context, []string, io.Reader, io.Writer, io.Writer) int { ran++; return breakOff }
	removed := podExec(t, &execServer{webSocket: true, run: lost}, "gone")
	good := podExec(t, &execServer{webSocket: true, run: count}, "b")
	bad := podExec(t, &execServer{webSocket: true, run: lost}, "c")
	command := admin.Command{Argv: []string{"x"}, Limit: time.Second}
	cases := map[string]struct {
		places  []admin.Transport
		ran     int
		fails   bool
		started bool
	}{
		"the first is deleted":         {[]admin.Transport{removed, good}, 1, false, false},
		"the first is lost on the way": {[]admin.Transport{bad, good}, 1, true, true},
		"three are deleted":            {[]admin.Transport{removed, removed, removed, good}, 0, true, false},
		"there is none":                {nil, 0, true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ran = 0
			_, err := admin.NewFailover(c.places...).Run(t.Context(), command)
			failure, ok := errors.AsType[*admin.TransportError](err)
			if ran != c.ran || (err != nil) != c.fails || (ok && failure.Started != c.started) {
				t.Errorf("ran %d times, got %v", ran, err)
			}
		})
	}
}

// A missing permission to run commands in pods is reported once, in one line, and not as
// an outage.
func TestForbiddenPodExecIsReportedOnce(t *testing.T) {
	forbidden := podExec(t, &execServer{webSocket: true}, "forbidden")
	removed := podExec(t, &execServer{webSocket: true}, "gone")
	cases := map[string]struct {
		places    []admin.Transport
		forbidden bool
		says      string
	}{
		"in all pods":            {[]admin.Transport{forbidden, forbidden, forbidden}, true, `reaching pod ns/forbidden: pods "forbidden" is forbidden: User "ro" cannot create resource "pods/exec"`},
		"in one, one is deleted": {[]admin.Transport{removed, forbidden}, true, `reaching any of the pods: reaching pod ns/gone: `},
		"gone":                   {[]admin.Transport{removed, removed}, false, `reaching any of the pods: reaching pod ns/gone: `},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := admin.NewFailover(c.places...).Run(t.Context(), admin.Command{Argv: []string{"x"}, Limit: time.Second})
			if apierrors.IsForbidden(err) != c.forbidden || !strings.HasPrefix(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSimulatedDatabaseConformsThroughPods(t *testing.T) {
	for name, webSocket := range protocols {
		t.Run(name, func(t *testing.T) {
			admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
				t.Helper()
				cluster, files := newSimulation(t)
				run := func(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) int {
					return cluster.RunCommand(ctx, argv, fdbsim.Tool{Version: "7.3.79", Files: files, Stdin: stdin, Stdout: stdout, Stderr: stderr})
				}
				cli := newSimulatedCLI(cluster, podExec(t, &execServer{webSocket: webSocket, run: run}, "a"))
				if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
					t.Fatal(err)
				}
				cluster.Advance(5 * time.Minute)
				return cli, cli
			})
		})
	}
}

func TestAPodThatPrintsWithoutEndIsLeft(t *testing.T) {
	endless := func(_ context.Context, _ []string, _ io.Reader, stdout, _ io.Writer) int {
		zeros := make([]byte, 1<<20)
		for {
			if _, err := stdout.Write(zeros); err != nil {
				return 1
			}
		}
	}
	for name, webSocket := range protocols {
		p := podExec(t, &execServer{webSocket: webSocket, run: endless}, "a")
		_, err := p.Run(t.Context(), admin.Command{Argv: []string{"fdbcli"}, Limit: time.Minute})
		if _, exceeded := errors.AsType[*limit.ExceededError](err); !exceeded {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
