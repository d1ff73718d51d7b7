package fdbsim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/console"
)

func TestUnsimulatedToolsFailWithAClearError(t *testing.T) {
	w := NewSimulation(Options{})
	for _, name := range []string{"fdbdr", "dr_agent"} {
		var stderr bytes.Buffer
		exit := w.RunTool(t.Context(), Tool{Name: name, Version: "7.3.79", Stderr: &stderr})
		if exit != 1 || !strings.Contains(stderr.String(), "not part of the simulated FoundationDB") {
			t.Errorf("%s: exit %d, %q", name, exit, stderr.String())
		}
	}
}

func TestTheSimulationSupportsCoordinatorsByDNSName(t *testing.T) {
	hosts := map[string]string{"log-1.ns.svc": "127.0.2.11", "log-2.ns.svc": "127.0.2.12", "log-3.ns.svc": "127.0.2.13"}
	c := newCluster(t, "sample_cluster:abcdefgh@log-1.ns.svc:4501,log-2.ns.svc:4501,log-3.ns.svc:4501")
	c.inner.Resolve = func(host string) ([]netip.Addr, error) {
		ip, known := hosts[host]
		if !known {
			return nil, fmt.Errorf("no such host %s", host)
		}
		return []netip.Addr{netip.MustParseAddr(ip)}, nil
	}
	for i := 1; i <= 4; i++ {
		c.start(fmt.Sprintf("log-%d", i), "log", fmt.Sprintf("127.0.2.1%d:4501", i), fmt.Sprintf("zone-1%d", i))
		c.start(fmt.Sprintf("storage-%d", i), "storage", fmt.Sprintf("127.0.2.%d:4501", i), fmt.Sprintf("zone-%d", i))
	}
	c.Advance(10 * time.Second)
	c.must("configure new double ssd", "Database created\n")
	c.Advance(time.Minute)
	if d := c.status(); !d.Client.DatabaseStatus.Healthy {
		t.Errorf("%+v", d.Client)
	}
	hosts["log-4.ns.svc"] = "127.0.2.14"
	c.must("coordinators log-1.ns.svc:4501 log-2.ns.svc:4501 log-4.ns.svc:4501", "Coordination state changed\n")
	if got := c.files.files[liveFile]; !strings.Contains(got, "@log-1.ns.svc:4501,log-2.ns.svc:4501,log-4.ns.svc:4501") {
		t.Errorf("cluster file: %s", got)
	}
	hosts["log-1.ns.svc"] = "127.0.9.9" // the pod moved, its name with it
	if got := c.exec("status minimal"); !strings.Contains(got.stdout, "The database is available") {
		t.Errorf("two of three: %+v", got)
	}
}

func TestAfterAnUpgradeOnlyTheNewProtocolIsCompatible(t *testing.T) {
	c := smallCluster(t)
	for name, spec := range c.specs {
		c.stop(name)
		spec.Version = "7.4.6"
		c.specs[name] = spec
	}
	c.startAgain("storage-1", "storage-2", "storage-3", "log-1", "log-2")
	c.Advance(time.Minute)
	d := c.status() // with fdbcli 7.3
	if d.Client.Coordinators.QuorumReachable {
		t.Error("fdbcli of another protocol reached the quorum")
	}
	if a := d.Client.Coordinators.Coordinators[0]; a.Protocol != "" {
		t.Errorf("a coordinator of another protocol answered: %+v", a)
	}
	if got := c.exec("status json"); !strings.HasPrefix(got.stderr, "WARNING: One or more of the processes in the cluster is incompatible with this version of fdbcli.\n") {
		t.Errorf("stderr %q", got.stderr)
	}
	spec := c.specs["stateless-1"]
	spec.Version = "7.3.79"
	c.specs["stateless-1"] = spec
	c.startAgain("stateless-1")
	c.Advance(10 * time.Second)
	var stdout bytes.Buffer
	exit := c.RunTool(t.Context(), Tool{
		Name: "fdbcli", Version: "7.4.6", Args: []string{"-C", liveFile, "--timeout", "40", "--exec", "status json"}, Files: c.files, Stdout: &stdout,
	})
	if exit != 0 || !strings.Contains(stdout.String(), `"127.0.2.121:4501"`) || !strings.Contains(stdout.String(), `"available" : true`) {
		t.Errorf("exit %d: %.3000s", exit, stdout.String())
	}
}

func TestHelpOptionsFlushesTheOutputOfAnFdbcliSession(t *testing.T) {
	c := configured(t)
	stdin, lines := io.Pipe()
	answers, stdout := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- c.RunTool(context.Background(), Tool{
			Name: "fdbcli", Version: "7.3.79", Args: []string{"--no-status", "-C", liveFile}, Files: c.files, Stdin: stdin, Stdout: stdout,
		})
		if err := stdout.Close(); err != nil {
			t.Error(err)
		}
	}()
	go fmt.Fprint(lines, "begin\nget a\nhelp options\n")
	block := make([]byte, 2*console.Block)
	n, err := answers.Read(block)
	if err != nil || n%console.Block != 0 {
		t.Errorf("read %d bytes: %v", n, err)
	}
	if !strings.Contains(string(block[:n]), "Transaction started\n`a': not found\n") {
		t.Errorf("got %.200s", block[:n])
	}
	go func() {
		if _, err := io.Copy(io.Discard, answers); err != nil {
			t.Error(err)
		}
	}()
	if err := lines.Close(); err != nil {
		t.Error(err)
	}
	if exit := <-done; exit != 0 {
		t.Errorf("exit %d", exit)
	}
}

func TestUnlockRequiresThePassphrase(t *testing.T) {
	c := configured(t)
	_, rest, _ := strings.Cut(c.exec("lock").stdout, "lockUID: ")
	uid, _, _ := strings.Cut(rest, "\n")
	stdin, lines := io.Pipe()
	answers, stdout := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- c.RunTool(context.Background(), Tool{
			Name: "fdbcli", Version: "7.3.79", Args: []string{"-C", liveFile, "--exec", "unlock " + uid}, Files: c.files, Stdin: stdin, Stdout: stdout,
		})
		if err := stdout.Close(); err != nil {
			t.Error(err)
		}
	}()
	text := make([]byte, console.Block)
	n, err := answers.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	phrase := strings.Split(string(text[:n]), "\n")[1]
	go fmt.Fprintln(lines, phrase)
	output, err := io.ReadAll(answers)
	if err != nil || string(output) != "Database unlocked.\n" || <-done != 0 {
		t.Errorf("%q %v", output, err)
	}
	c.must("get a", "`a': not found\n")
}

func TestASimulatedToolWaitsForAManuallyAdvancedClock(t *testing.T) {
	c := configured(t)
	c.ManualAdvance()
	done := make(chan result, 1)
	go func() { done <- c.execFor(60, "sleep 20") }()
	for passed := time.Duration(0); passed < time.Hour; passed += 100 * time.Millisecond { // a busy machine runs the command late
		select {
		case got := <-done:
			if got.exit != 0 || !strings.Contains(got.stderr, "Long delay") || passed < 20*time.Second {
				t.Errorf("after %s: %+v", passed, got)
			}
			return
		default:
			c.Advance(100 * time.Millisecond)
			time.Sleep(time.Millisecond) // let the command see it
		}
	}
	t.Error("the command still runs after 1h, want its end after 20s")
}

func TestAKilledSimulatedToolExitsWithoutOutput(t *testing.T) {
	c := configured(t)
	c.ManualAdvance()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout bytes.Buffer
	exit := c.RunTool(ctx, Tool{
		Name: "fdbcli", Version: "7.3.79", Args: []string{"-C", liveFile, "--exec", "get a"}, Files: c.files, Stdout: &stdout,
	})
	if exit != 137 || stdout.Len() != 0 {
		t.Errorf("exit %d, %q", exit, stdout.String())
	}
}

// TestASessionReportsThatItWaitsOnlyWithoutATransaction counts the waits for the lines of a session.
func TestASessionReportsThatItWaitsOnlyWithoutATransaction(t *testing.T) {
	for lines, want := range map[string]int{"get a\nget b\n": 3, "begin\nget a\nreset\n": 1, "begin\nrollback\nget a\n": 3} {
		c := configured(t)
		waiting, waits := 0, 0
		exit := c.RunTool(t.Context(), Tool{
			Name: "fdbcli", Version: "7.3.79", Args: []string{"--no-status", "-C", liveFile}, Files: c.files, Stdin: strings.NewReader(lines),
			Waits: func() func() {
				waiting, waits = waiting+1, waits+1
				return func() { waiting-- }
			},
		})
		if exit != 0 || waits != want || waiting != 0 {
			t.Errorf("%q: exit %d, it waited %d times, want %d; %d waits have not ended", lines, exit, waits, want, waiting)
		}
	}
}
