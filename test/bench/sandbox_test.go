// Package bench measures the built plugin against a real API server, side by side with what
// a plain kubectl takes for the same objects, so that a ratio is comparable across
// machines.
package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// realNode is the one node of the sandbox.
const realNode = "node-1"

// box is a sandbox of one benchmark.
type box struct {
	bin, dir string
	client   client.Client
}

// The programs of the one pod that runs. Its fdbcli prints the document that is beside it,
// under a name that the sandbox mounts; its fdbserver is only there.
const (
	fakeCLI    = "#!/bin/sh\ncase \"$*\" in\n*'status json'*) exec cat /usr/bin/fdbdr ;;\n*) echo \"ERROR: not here: $*\"; exit 1 ;;\nesac\n"
	fakeServer = "#!/bin/sh\nexec sleep 1000000\n"
	document   = "fdbdr"
)

func newBox(tb testing.TB) *box {
	tb.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "bench") //nolint:usetesting // a short path: the sandbox's sockets live below it
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := &box{bin: bin, dir: dir}
	if err := os.Mkdir(b.programs(), 0o755); err != nil { // containers read it
		tb.Fatal(err)
	}
	for program, text := range map[string]string{"fdbcli": fakeCLI, "fdbserver": fakeServer, document: ""} {
		b.replaceProgram(tb, program, text)
	}
	b.must(tb, "fdb-sandbox", "up", "--dir", dir, "--nodes", "1", "--zones", "1", "--fdb-bin-dir", "7.3.79="+b.programs(), "--detach")
	tb.Cleanup(func() {
		down := exec.Command(filepath.Join(bin, "fdb-sandbox"), "down", "--dir", dir) // the test's context is over
		if out, err := down.CombinedOutput(); err != nil {
			tb.Errorf("stopping the sandbox: %v\n%s", err, out)
		}
	})
	b.must(tb, "kubectl", "apply", "--server-side", "-f", "../../manifests/crd")
	// On a definition that has no conditions at all yet, waiting for one of them fails at once.
	b.must(tb, "kubectl", "wait", "--for=jsonpath={.status.conditions}", "--timeout=30s", "crd", "--all")
	b.must(tb, "kubectl", "wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
	b.client = b.open(tb)
	return b
}

func (b *box) programs() string   { return filepath.Join(b.dir, "programs") }
func (b *box) kubeconfig() string { return filepath.Join(b.dir, "kubeconfig") }

func (b *box) open(tb testing.TB) client.Client {
	tb.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", b.kubeconfig())
	if err != nil {
		tb.Fatal(err)
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		tb.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// outcome is how a program ended.
type outcome struct {
	stdout, stderr string
	code           int
	took           time.Duration
	memory         int64 // the most that was resident, in bytes
}

// run runs a program without a terminal.
func (b *box) run(tb testing.TB, program string, args ...string) outcome {
	tb.Helper()
	const longest = 5 * time.Minute
	ctx, cancel := context.WithTimeout(tb.Context(), longest)
	defer cancel()
	cmd := b.command(ctx, program, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Fatalf("%s: %v: build it first with `make build build-sandbox`", program, err)
	}
	var memory int64
	if used, is := cmd.ProcessState.SysUsage().(*syscall.Rusage); is {
		memory = used.Maxrss << 10
	}
	return outcome{out.String(), errOut.String(), cmd.ProcessState.ExitCode(), took, memory}
}

func (b *box) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, program), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig(), "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "HOME="+b.dir, "NO_COLOR=1",
		"PATH="+b.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

// replaceProgram writes a program of the pod that runs, or the document beside them,
// again.
func (b *box) replaceProgram(tb testing.TB, program, text string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(b.programs(), program), []byte(text), 0o755); err != nil { // containers run it
		tb.Fatal(err)
	}
}

// must runs a program that has to succeed.
func (b *box) must(tb testing.TB, program string, args ...string) outcome {
	tb.Helper()
	o := b.run(tb, program, args...)
	if o.code != 0 {
		tb.Fatalf("%s %s: exit code %d\n%s%s", program, strings.Join(args, " "), o.code, tail(o.stdout), tail(o.stderr))
	}
	return o
}

// tail is the end of a text that may be megabytes long.
func tail(text string) string {
	const most = 4000
	if len(text) > most {
		return fmt.Sprintf("[…]%s", text[len(text)-most:])
	}
	return text
}
