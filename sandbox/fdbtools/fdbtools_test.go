package fdbtools

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

// container is a place to run programs in; its files are the machine's.
type container struct {
	bridge *Bridge
	socket string
}

func newContainer(t *testing.T, c node.Container) container {
	t.Helper()
	b := New(Options{Speed: 50, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
	go b.Run(t.Context())
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	go b.Serve(t.Context(), l, c)
	return container{b, socket}
}

// run runs a program to its end and returns what it printed.
func (c container) run(t *testing.T, stdin string, argv ...string) (out, errOut string, code int) {
	t.Helper()
	conn := c.dial(t)
	var o, e bytes.Buffer
	code, err := wire.RunOver(conn, wire.Run{Version: "7.3.79", Argv: argv}, wire.Streams{In: strings.NewReader(stdin), Out: &o, Err: &e})
	if err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), code
}

func (c container) dial(t *testing.T) *wire.Conn {
	t.Helper()
	conn, err := net.Dial("unix", c.socket)
	if err != nil {
		t.Fatal(err)
	}
	return wire.NewConn(conn)
}

// server starts an fdbserver; stop ends it as a killed process ends.
func (c container) server(t *testing.T, argv ...string) (stop func()) {
	t.Helper()
	conn := c.dial(t)
	ended := make(chan struct{})
	in, hold := io.Pipe()
	go func() {
		defer close(ended)
		wire.RunOver(conn, wire.Run{Version: "7.3.79", Argv: argv}, wire.Streams{In: in, Out: io.Discard, Err: io.Discard})
	}()
	stop = func() { conn.Close(); hold.Close(); <-ended }
	t.Cleanup(stop)
	return stop
}

func TestFdbcliPrintsItsVersion(t *testing.T) {
	c := newContainer(t, node.Container{})
	out, _, code := c.run(t, "", "fdbcli", "--version")
	if code != 0 || !strings.HasPrefix(out, "FoundationDB CLI 7.3 (v7.3.79)\n") {
		t.Errorf("exit %d, printed %q", code, out)
	}
}

func TestSandboxFdbserverUsesTheFilesOfItsContainer(t *testing.T) {
	dir := t.TempDir()
	c := newContainer(t, node.Container{Namespace: "ns", Pod: "p", Mounts: []box.Mount{{Source: "/host/volume", Target: dir}}})
	file, seed := filepath.Join(dir, "fdb.cluster"), filepath.Join(t.TempDir(), "seed")
	if answer := wireWrite(seed, "test:one@127.0.1.1:4501"); answer != "" {
		t.Fatal(answer)
	}
	stop := c.server(t, "fdbserver", "--cluster_file="+file, "--seed_cluster_file="+seed, "--public_address=127.0.1.1:4501", "--class=storage", "--datadir="+dir+"/1")
	for len(c.bridge.Servers()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if diff := cmp.Diff([]Server{{Pod: "ns/p", Address: "127.0.1.1:4501", Data: "/host/volume/1"}}, c.bridge.Servers()); diff != "" {
		t.Error(diff)
	}
	out, errOut, code := c.run(t, "", "fdbcli", "-C", seed, "--exec", "configure new single ssd")
	if code != 0 || !strings.Contains(out, "Database created") {
		t.Errorf("exit %d, printed %q %q", code, out, errOut)
	}
	if got := c.bridge.Lose("/host/volume"); got != 1 {
		t.Errorf("%d data directories were lost, want 1", got)
	}
	stop()
	for len(c.bridge.Servers()) != 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

// wireWrite writes a file through the same door as a program does.
func wireWrite(name, content string) string {
	return wire.AnswerFile(wire.FileQuestion{Do: wire.Write, Name: name, Content: []byte(content)}).Error
}

func TestFdbserverExitsOnAnInvalidCommandLine(t *testing.T) {
	c := newContainer(t, node.Container{})
	_, errOut, code := c.run(t, "", "fdbserver", "--nonsense")
	if code != 1 || !strings.HasPrefix(errOut, "ERROR: ") {
		t.Errorf("exit %d, printed %q", code, errOut)
	}
}

func TestDataDirectoriesMapToTheInnermostVolumeMount(t *testing.T) {
	c := node.Container{UID: "u", Name: "main", Mounts: []box.Mount{{Source: "/v/a", Target: "/var/fdb"}, {Source: "/v/b", Target: "/var/fdb/data"}}}
	tests := map[string]struct{ dir, want string }{
		"the innermost mount counts":           {"/var/fdb/data/1", "/v/b/1"},
		"the mount itself":                     {"/var/fdb/data", "/v/b"},
		"a longer name is not below it":        {"/var/fdb/database", "/v/a/database"},
		"without a volume it is the container": {"/tmp/x", "u/main:/tmp/x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hostPath(c, test.dir); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestSandboxSpeedMustBeWithinBounds(t *testing.T) {
	b := New(Options{Speed: 1, Clock: clock.RealClock{}})
	for _, speed := range []float64{0, -1, 1001} {
		if b.SetPace(speed) == nil {
			t.Errorf("speed %g was accepted", speed)
		}
	}
	if err := b.SetPace(10); err != nil || b.Pace() != 10 {
		t.Errorf("speed %g, error %v", b.Pace(), err)
	}
}
