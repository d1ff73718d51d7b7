// Package e2e runs the built plugin, by its command line alone, against a real API
// server with simulated FoundationDB processes behind it, and compares what a plain
// kubectl sees.
package e2e

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// speed is how much faster than real time the simulated databases run. A database
// that was never configured takes 15 s of its time for one status document.
var speed = cmp.Or(os.Getenv("E2E_SPEED"), "10")

// idleSpeed is the same for a namespace in which no tool runs and no pod starts or ends: only time passes there.
var idleSpeed = cmp.Or(os.Getenv("E2E_IDLE_SPEED"), "100")

// The programs under test, as `make build build-native-model build-sandbox` builds them.
var (
	binDir     = "../../bin"
	kubeconfig string
)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	absolute, err := filepath.Abs(binDir)
	if err != nil {
		return failed(err)
	}
	binDir = absolute
	for _, program := range []string{"kubectl-fdb", nativePlugin, "fdb-sandbox", "fdb-sandbox-tool", "kubectl"} {
		if _, err := os.Stat(filepath.Join(binDir, program)); err != nil {
			return failed(fmt.Errorf("%w: build it first with `make build build-native-model build-sandbox`", err))
		}
	}
	defer endOnInterrupt()()
	// Five coordinators need five nodes, also while other tests keep two of them empty.
	down, err := start(&kubeconfig, "--nodes", "7", "--zones", "7", "--node-pods", "250")
	defer down()
	if err != nil {
		return failed(err)
	}
	return m.Run()
}

// start starts a sandbox with the resource definitions, and stores the path of its kubeconfig. What it
// returns first ends the sandbox, also one that did not start.
func start(kubeconfig *string, flags ...string) (down func(), err error) {
	dir, err := shortDir()
	if err != nil {
		return func() {}, err
	}
	sandboxes.add(dir)
	down = func() { sandboxes.end(dir) }
	up := exec.Command(filepath.Join(binDir, "fdb-sandbox"), append([]string{"up", "--dir", dir, "--speed", speed, "--idle-speed", idleSpeed, "--node-grace", "60s", "--detach"}, flags...)...)
	up.Env = append(os.Environ(), lazyCollector...)
	if out, err := up.CombinedOutput(); err != nil {
		return down, fmt.Errorf("start the sandbox: %w\n%s", err, out)
	}
	*kubeconfig = filepath.Join(dir, "kubeconfig")
	return down, applyCRDs(*kubeconfig)
}

// lazyCollector makes a sandbox collect garbage less often: below a gigabyte, of which the shared one keeps most, a quarter
// of its processor time was that.
var lazyCollector = []string{"GOGC=400", "GOMEMLIMIT=2GiB"}

// shortDir creates a directory with a short path: sockets of a sandbox live below it.
func shortDir() (string, error) { return os.MkdirTemp("", "e2e") }

// own has the kubeconfig of each test with a sandbox of its own, by the name of the test.
var own sync.Map

// ownPlaces bounds how many tests have a sandbox of their own at the same time.
var ownPlaces = make(chan struct{}, 4)

// alone gives a test a sandbox of its own, so that it can run beside the others although what it does
// counts for all namespaces, empties nodes, or moves addresses of coordinators to other clusters.
func alone(t *testing.T, flags ...string) {
	t.Helper()
	ownPlaces <- struct{}{}
	t.Cleanup(func() { <-ownPlaces }) // the last cleanup, after its sandbox is down
	var kubeconfig string
	down, err := start(&kubeconfig, flags...)
	t.Cleanup(down)
	if err != nil {
		t.Fatal(err)
	}
	own.Store(t.Name(), kubeconfig)
}

// kubeconfigOf returns the path of the kubeconfig of a test's sandbox.
func kubeconfigOf(t *testing.T) string {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	if path, found := own.Load(name); found {
		return path.(string)
	}
	return kubeconfig
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

func applyCRDs(kubeconfig string) error {
	if err := runKubectl(kubeconfig, "apply", "--server-side", "-f", "../../manifests/crd"); err != nil {
		return err
	}
	// Waiting for a condition fails at once while a new definition has none, or null instead of a list.
	var err error
	for deadline := time.Now().Add(stall); time.Now().Before(deadline); time.Sleep(time.Second) {
		if err = runKubectl(kubeconfig, "wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"); err == nil {
			return nil
		}
	}
	return err
}

func runKubectl(kubeconfig string, args ...string) error {
	cmd := exec.Command(filepath.Join(binDir, "kubectl"), args...)
	cmd.Env = environmentOf(kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// environment is that of a user of the test's sandbox.
func environment(t *testing.T) []string {
	t.Helper()
	return environmentOf(kubeconfigOf(t))
}

func environmentOf(kubeconfig string) []string {
	return append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(kubeconfig), "state"), "KUBECONFIG="+kubeconfig, "PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "KUBECTL_FDB_MAX_INTERVAL=5s")
}

// result is what a program left behind.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a program without a terminal.
func run(t *testing.T, program string, args ...string) result {
	t.Helper()
	return runWith(t, nil, program, args...)
}

// runWith runs a program as long as it prints something new to stdout now and then. Stderr
// is no progress: what waits repeats itself there.
func runWith(t *testing.T, edit func(*exec.Cmd), program string, args ...string) result {
	t.Helper()
	ctx, limit := progressing(t.Context())
	defer limit.end()
	return runIn(ctx, t, limit, edit, program, args...)
}

func runIn(ctx context.Context, t *testing.T, limit *deadline, edit func(*exec.Cmd), program string, args ...string) result {
	t.Helper()
	out, errOut := output{deadline: limit}, bytes.Buffer{}
	if !filepath.IsAbs(program) {
		program = filepath.Join(binDir, program)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(t), &out, &errOut
	if edit != nil {
		edit(cmd)
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%s %s did not end: %v\n%s%s", program, strings.Join(args, " "), context.Cause(ctx), out.String(), errOut.String())
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// atTheEnd runs a program when the test is over, however it went, and fails the test when
// the program fails.
func atTheEnd(t *testing.T, program string, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, limit := progressing(context.WithoutCancel(t.Context()))
		defer limit.end()
		want(t, runIn(ctx, t, limit, nil, program, args...), 0)
	})
}

// fdb runs `kubectl fdb`, through kubectl, as a user does.
func fdb(t *testing.T, args ...string) result {
	t.Helper()
	return run(t, "kubectl", append([]string{"fdb"}, args...)...)
}

// kubectl runs kubectl and fails the test when it fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	r := run(t, "kubectl", args...)
	if r.code != 0 {
		t.Fatalf("kubectl %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// Tests that need nothing but a namespace of their own run in parallel, and so do those with a sandbox
// of their own; see alone. The others come first, among them the one that pretends that an operator is
// alive, since every pass looks for one in all namespaces, and those that count what happens on an idle machine.

// namespace makes a fresh namespace. When the test is over it is deleted without waiting for that: the
// programs of its pods would take their share of the processors until the end.
func namespace(t *testing.T) string {
	t.Helper()
	name := "e2e-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	const limit = 50
	// Subtests of a test with a long name would all have the same beginning.
	if len(name) > limit {
		sum := sha256.Sum256([]byte(name))
		name = fmt.Sprintf("%s-%x", strings.TrimRight(name[:limit-9], "-"), sum[:4])
	}
	kubectl(t, "create", "namespace", name)
	atTheEnd(t, "kubectl", "delete", "namespace", name, "--wait=false")
	t.Cleanup(func() { logFailed(t, name) })
	return name
}

// logFailed logs the pods of a test that failed, their PVCs, and the nodes, before they are deleted.
func logFailed(t *testing.T, ns string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	ctx, limit := progressing(context.WithoutCancel(t.Context()))
	defer limit.end()
	for _, args := range [][]string{{"pods,pvc", "-o", "wide"}, {"events", "--field-selector", "type=Warning"}, {"nodes"}} {
		t.Log(runIn(ctx, t, limit, nil, "kubectl", append([]string{"get", "-n", ns}, args...)...).stdout)
	}
}

// apply applies a manifest to a namespace.
func apply(t *testing.T, ns, manifest string) {
	t.Helper()
	r := runWith(t, func(c *exec.Cmd) { c.Stdin = strings.NewReader(manifest) }, "kubectl", "apply", "-n", ns, "-f", "-")
	if r.code != 0 {
		t.Fatalf("applying: %s%s\n%s", r.stdout, r.stderr, manifest)
	}
}

// want fails the test unless a program ended as it should.
func want(t *testing.T, r result, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", r.code, code, r.stdout, r.stderr)
	}
}

// object reads one object as kubectl shows it.
func object(t *testing.T, ns string, args ...string) map[string]any {
	t.Helper()
	text := kubectl(t, append([]string{"get", "-n", ns, "-o", "json"}, args...)...)
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// versions are the resource versions of everything in a namespace that the plugin
// could write: equal before and after means that nothing was.
func versions(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "get", "-n", ns, "foundationdbclusters,pods,persistentvolumeclaims,services,configmaps,leases,events",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
}

// file writes a file that the test removes again, and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
