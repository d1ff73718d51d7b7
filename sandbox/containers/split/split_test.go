package split

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/process"
)

const conf = `
[general]
kill_on_configuration_change = false
restart_delay = 60
[fdbserver]
logdir = /var/log
[fdbserver.1]
command = /usr/bin/fdbserver
public_address = 127.0.1.1:4501
datadir = /var/fdb/data/$ID
class = storage
flag_trace = true
`

func TestFdbmonitorConfIsParsedToCommandLines(t *testing.T) {
	got, err := ParseMonitorConf(conf)
	if err != nil {
		t.Fatal(err)
	}
	want := MonitorConf{Servers: []ServerConf{{
		ID:    "fdbserver.1",
		Argv:  []string{"/usr/bin/fdbserver", "--class=storage", "--datadir=/var/fdb/data/1", "--trace", "--logdir=/var/log", "--public_address=127.0.1.1:4501"},
		Delay: time.Minute, BackOff: 60, ResetInterval: time.Minute,
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenMonitorConfIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no restart delay":          "[fdbserver.1]\ncommand = x\n",
		"no command":                "[general]\nrestart_delay = 1\n[fdbserver.1]\n",
		"a setting outside":         "restart_delay = 1\n",
		"neither setting nor title": "[general]\nnonsense\n",
		"a delay that is no number": "[fdbserver.1]\ncommand = x\nrestart_delay = soon\n",
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := ParseMonitorConf(text); err == nil {
				t.Errorf("accepted as %+v", c)
			}
		})
	}
}

func TestMonitorRestartDelayGrowsExponentially(t *testing.T) {
	s := ServerConf{Delay: time.Minute, BackOff: 2}
	var got []time.Duration
	delay := time.Duration(-1)
	for range 4 {
		delay = s.nextDelay(delay)
		got = append(got, delay)
	}
	if diff := cmp.Diff([]time.Duration{0, 2 * time.Second, 4 * time.Second, 8 * time.Second}, got); diff != "" {
		t.Error(diff)
	}
}

// sidecar is one with directories of its own.
func sidecar(t *testing.T) Sidecar {
	t.Helper()
	dir := t.TempDir()
	s := Sidecar{
		InputDir: filepath.Join(dir, "in"), OutputDir: filepath.Join(dir, "out"), InputMonitorConf: "fdbmonitor.conf", CopyFiles: []string{"fdb.cluster"},
		MainContainerVersion: "7.3.79", MainContainerConfDir: "/var/dynamic-conf", Version: "7.3.79", Address: "127.0.0.1", BinaryDir: filepath.Join(dir, "bin"),
		Env: map[string]string{"HOSTNAME": "pod-1", "FDB_PUBLIC_IP": "127.0.1.1", "FDB_INSTANCE_ID": "storage-1"},
	}
	for _, d := range []string{s.InputDir, s.OutputDir, s.BinaryDir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"fdb.cluster": "a:b@127.0.1.1:4501", "fdbmonitor.conf": "zone = $FDB_ZONE_ID at $FDB_PUBLIC_IP in $BINARY_DIR"} {
		if err := os.WriteFile(filepath.Join(s.InputDir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSidecarRendersTheMonitorConfiguration(t *testing.T) {
	tests := map[string]struct {
		given func(*Sidecar)
		want  string
	}{
		"the zone defaults to the machine": {given: func(*Sidecar) {}, want: "zone = pod-1 at 127.0.1.1 in /usr/bin"},
		"another version has a directory of its own": {
			given: func(s *Sidecar) { s.MainContainerVersion = "7.1.67" },
			want:  "zone = pod-1 at 127.0.1.1 in /var/dynamic-conf/bin/7.3.79",
		},
		"an IPv6 address comes in brackets": {
			given: func(s *Sidecar) { s.Env["FDB_PUBLIC_IP"], s.PublicIPFamily = "127.0.1.1,fd00::1", 6 },
			want:  "zone = pod-1 at [fd00::1] in /usr/bin",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := sidecar(t)
			test.given(&s)
			if err := s.CopyAll(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(s.OutputDir, "fdbmonitor.conf"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// serve runs the sidecar's API and returns its address.
func serve(t *testing.T, s Sidecar) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.Port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	address := net.JoinHostPort(s.Address, s.Port)
	for range 1500 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the sidecar does not listen")
	return ""
}

func TestSidecarHTTPResponses(t *testing.T) {
	s := sidecar(t)
	if err := s.CopyAll(); err != nil {
		t.Fatal(err)
	}
	address := serve(t, s)
	tests := map[string]struct {
		verb, path string
		status     int
		body       string
	}{
		"it is ready":               {"GET", "/ready", 200, "OK\n"},
		"a file is there":           {"GET", "/is_present/fdb.cluster", 200, "OK\n"},
		"a file is not there":       {"GET", "/is_present/gone", 404, "Not Found\n"},
		"a hash of nothing":         {"GET", "/check_hash/gone", 404, "Not Found\n"},
		"files outside are refused": {"GET", "/check_hash/..%2Fin%2Ffdb.cluster", 403, "Forbidden\n"},
		"substitutions":             {"GET", "/substitutions", 200, `{"BINARY_DIR":"/usr/bin","FDB_INSTANCE_ID":"storage-1","FDB_MACHINE_ID":"pod-1","FDB_PUBLIC_IP":"127.0.1.1","FDB_ZONE_ID":"pod-1"}` + "\n"},
		"files are copied":          {"POST", "/copy_files", 200, "OK\n"},
		"the conf is made again":    {"POST", "/copy_monitor_conf", 200, "OK\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			q, err := http.NewRequestWithContext(t.Context(), test.verb, "http://"+address+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fmt.Sprintf("%d %s", test.status, test.body), fmt.Sprintf("%d %s", answer.StatusCode, body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheSidecarHashResponseIsFollowedByA404(t *testing.T) {
	s := sidecar(t)
	if err := s.CopyAll(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", serve(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /check_hash/fdb.cluster HTTP/1.1\r\nHost: x\r\n\r\n")
	answers := bufio.NewReader(conn)
	var got []string
	for range 2 {
		a, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		got = append(got, fmt.Sprint(a.StatusCode, " ", string(body)))
	}
	sum := sha256.Sum256([]byte("a:b@127.0.1.1:4501"))
	if diff := cmp.Diff([]string{"200 " + hex.EncodeToString(sum[:]), "404 "}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRestartEndsTheSidecar(t *testing.T) {
	s := sidecar(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.Port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context()) }()
	for range 1500 {
		answer, err := http.Post("http://127.0.0.1:"+s.Port+"/restart", "", nil)
		if err == nil {
			answer.Body.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("its container would not be started again")
		}
	case <-time.After(10 * time.Minute):
		t.Error("it still runs")
	}
}

// sleeper is a process that runs until it is killed.
type sleeper struct{ end chan struct{} }

func (q sleeper) PID() int  { return 7 }
func (q sleeper) Wait() int { <-q.end; return 137 }
func (q sleeper) Kill()     { close(q.end) }

func TestFdbmonitorStartsAndStopsProcessesOfItsConf(t *testing.T) {
	dir := t.TempDir()
	m := Monitor{ConfFile: filepath.Join(dir, "fdbmonitor.conf"), LockFile: filepath.Join(dir, "lock")}
	started := make(chan sleeper, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- m.Run(ctx, func([]string) (process.Process, error) {
			q := sleeper{make(chan struct{})}
			started <- q
			return q, nil
		}, clock.RealClock{}, io.Discard)
	}()
	write := func(text string) {
		t.Helper()
		// never a part of it: that would end the process
		next := m.ConfFile + ".next"
		if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, m.ConfFile); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	time.Sleep(2 * pollInterval)
	if len(started) != 0 {
		t.Error("an empty configuration started a process")
	}
	write(conf)
	first := <-started
	write(strings.ReplaceAll(conf, "class = storage", "class = log"))
	time.Sleep(2 * pollInterval)
	select {
	case <-first.end:
		t.Error("a changed configuration killed the process")
	default:
	}
	write("[general]\nrestart_delay = 60\n")
	select {
	case <-first.end:
	case <-time.After(10 * time.Minute):
		t.Error("a process that left the configuration runs on")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
