package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// watchLine is what the tests look at in one line of a watch.
type watchLine struct {
	Event    string
	Pass     int
	Ending   string
	Reason   string
	Changed  bool
	Kind     string
	ExitCode int
}

// watch is a `reconcile --watch` that runs.
type watch struct {
	t       *testing.T
	cmd     *exec.Cmd
	lines   chan watchLine
	address chan string
	ended   chan error

	mu     sync.Mutex
	errOut strings.Builder
}

var metricsAddress = regexp.MustCompile(`metrics on (http://127\.0\.0\.1:\d+)/metrics`)

// startWatch watches the cluster c as the ServiceAccount of the manifests, with its rights and no others.
func startWatch(t *testing.T, ns string) *watch {
	t.Helper()
	return startWatchOf(t, ns, "c")
}

// startWatchOf watches a cluster of another name, with further flags.
func startWatchOf(t *testing.T, ns, cluster string, flags ...string) *watch {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	w := &watch{t: t, lines: make(chan watchLine, 100_000), address: make(chan string, 1), ended: make(chan error, 1)}
	w.cmd = exec.CommandContext(ctx, filepath.Join(binDir, "kubectl-fdb"), append([]string{
		"reconcile", cluster, "-n", ns, "--as", "system:serviceaccount:" + ns + ":kubectl-fdb",
		"--watch", "--yes", "-o", "json", "--metrics-addr", "127.0.0.1:0",
	}, flags...)...)
	w.cmd.Env = environment(t)
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { w.readLines(stdout) })
	readers.Go(func() { w.readErrors(stderr) })
	go func() {
		readers.Wait()
		close(w.lines)
		w.ended <- w.cmd.Wait()
	}()
	return w
}

func (w *watch) readLines(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l watchLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			w.t.Errorf("%v in %s", err, lines.Bytes())
		}
		w.lines <- l
	}
}

func (w *watch) readErrors(stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		w.mu.Lock()
		w.errOut.WriteString(lines.Text() + "\n")
		w.mu.Unlock()
		if said := metricsAddress.FindStringSubmatch(lines.Text()); said != nil {
			w.address <- said[1]
		}
	}
}

// until reads lines until one matches, and returns it.
func (w *watch) until(what string, desired func(watchLine) bool) watchLine {
	w.t.Helper()
	var last watchLine
	ctx, limit := progressing(w.t.Context())
	defer limit.end()
	for {
		select {
		case l, more := <-w.lines:
			if !more {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.t.Fatalf("the watch ended before %s: %s", what, w.errOut.String())
			}
			switch l.Event {
			case "wait-started":
				last = l
			case "acted", "wait-ended": // passes alone are no progress
				limit.extend()
			}
			if desired(l) {
				return l
			}
		case <-ctx.Done():
			w.t.Fatalf("waiting for %s: %v; the last pass: %+v", what, context.Cause(ctx), last)
		}
	}
}

func settled(l watchLine) bool { return l.Event == "wait-started" && l.Ending == "settled" }

// page reads a page of the watch's server.
func page(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s: %s", url, answer.Status, text)
	}
	return string(text)
}

// grantWatch gives the ServiceAccount of the manifests its rights in a namespace.
func grantWatch(t *testing.T, ns string) {
	t.Helper()
	kubectl(t, "apply", "-n", ns, "-f", "../../manifests/rbac/reconcile.yaml", "-f", "../../manifests/rbac/watch.yaml")
	// On the server: two tests that find none both create it otherwise.
	kubectl(t, "apply", "--server-side", "-f", "../../manifests/rbac/find-operators.yaml")
	kubectl(t, "create", "serviceaccount", "kubectl-fdb", "-n", ns)
	account := "--serviceaccount=" + ns + ":kubectl-fdb"
	kubectl(t, "create", "rolebinding", "kubectl-fdb-reconcile", "-n", ns, "--role=kubectl-fdb-reconcile", account)
	kubectl(t, "create", "rolebinding", "kubectl-fdb-watch", "-n", ns, "--role=kubectl-fdb-watch", account)
	kubectl(t, "create", "clusterrolebinding", "find-operators-"+ns, "--clusterrole=kubectl-fdb-find-operators", account)
}

func TestAWatchReconcilesAndServesMetricsUntilTerminated(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	grantWatch(t, ns)
	apply(t, ns, cluster("c", counts))
	w := startWatchOf(t, ns, "c", "--resync", "20m")
	address := <-w.address

	up := w.until("a cluster that is up", settled)
	want(t, fdb(t, "status", "c", "-n", ns), 0)

	kubectl(t, "patch", "fdb", "c", "-n", ns, "--type=merge", "-p", `{"spec":{"processCounts":{"storage":4}}}`)
	changed := time.Now()
	woken := w.until("a pass after the change", func(l watchLine) bool { return l.Event == "wait-ended" && l.Changed })
	const resync = 20 * time.Minute
	if took := time.Since(changed); took > resync/2 {
		t.Errorf("the change was seen after %s: %+v", took, woken)
	}
	again := w.until("a reconciled cluster again", settled)
	if again.Pass <= up.Pass {
		t.Errorf("settled in pass %d and again in %d", up.Pass, again.Pass)
	}
	if pods := strings.Count(kubectl(t, "get", "pods", "-n", ns, "-o", "name"), "pod/"); pods != 10 {
		t.Errorf("%d pods, want 10", pods)
	}

	metrics := page(t, address+"/metrics")
	for _, line := range []string{`kubectl_fdb_process_groups{fdb_cluster="c",fdb_namespace="` + ns + `"} 10`, `kubectl_fdb_actions_total{fdb_cluster="c",fdb_namespace="` + ns + `",kind="CreatePod",result="done"} 10`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no line %s in\n%s", line, metrics)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if text := page(t, address+path); text != "ok\n" {
			t.Errorf("%s: %q", path, text)
		}
	}

	exports(t, ns)

	before := versions(t, ns)
	w.end(t, syscall.SIGTERM, 0)
	if after := versions(t, ns); before != after {
		t.Errorf("ending wrote something:\n%s\n%s", before, after)
	}
	if holder := kubectl(t, "get", "leases", "kubectl-fdb-c", "-n", ns, "-o", "jsonpath={.spec.holderIdentity}"); holder != "" {
		t.Errorf("%s still holds the Lease", holder)
	}
}

// exports reads the metrics of the cluster c as the account of the exporter, which may change nothing.
func exports(t *testing.T, ns string) {
	t.Helper()
	exporter, err := os.ReadFile("../../manifests/observe/exporter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	account, _, found := strings.Cut(string(exporter), "---\napiVersion: apps/v1\nkind: Deployment")
	if !found {
		t.Fatalf("no Deployment in %s", exporter)
	}
	kubectl(t, "apply", "-n", ns, "-f", "../../manifests/rbac/read.yaml")
	apply(t, ns, strings.Replace(account, "namespace: fdb\n", "namespace: "+ns+"\n", 1))
	as := "--as=system:serviceaccount:" + ns + ":kubectl-fdb-exporter"
	r := fdb(t, "metrics", "c", "-n", ns, as)
	want(t, r, 0)
	if line := `kubectl_fdb_database_available{fdb_cluster="c",fdb_namespace="` + ns + `"} 1`; !strings.Contains(r.stdout, line) {
		t.Errorf("the exporter has no line %s in\n%s", line, r.stdout)
	}
	for _, change := range []string{"update foundationdbclusters", "delete pods", "create leases"} {
		if r := run(t, "kubectl", append([]string{"auth", "can-i", "-n", ns, as}, strings.Fields(change)...)...); r.code != 1 || strings.TrimSpace(r.stdout) != "no" {
			t.Errorf("the account of the exporter may %s: %s%s", change, r.stdout, r.stderr)
		}
	}
}

// end sends a signal and waits for the last line and the end.
func (w *watch) end(t *testing.T, signal syscall.Signal, code int) {
	t.Helper()
	if err := w.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	last := w.until("the last line", func(l watchLine) bool { return l.Kind == "ReconcileResult" })
	if last.ExitCode != code || last.Reason != "signal: terminated" {
		t.Errorf("the last line is %+v", last)
	}
	<-w.ended
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
}

func TestAWatchTerminatedDuringAnActionReleasesTheLease(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	grantWatch(t, ns)
	apply(t, ns, cluster("c", counts))
	w := startWatch(t, ns)
	w.until("an action", func(l watchLine) bool { return l.Event == "acted" })
	w.end(t, syscall.SIGTERM, 0)
	if holder := kubectl(t, "get", "leases", "kubectl-fdb-c", "-n", ns, "-o", "jsonpath={.spec.holderIdentity}"); holder != "" {
		t.Errorf("%s still holds the Lease", holder)
	}
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait"), 0)
}

func TestAWatchEndsWhenItsClusterIsDeleted(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	grantWatch(t, ns)
	apply(t, ns, cluster("c", counts))
	w := startWatch(t, ns)
	w.until("a pass", func(l watchLine) bool { return l.Event == "wait-started" })
	kubectl(t, "delete", "fdb", "c", "-n", ns)
	last := w.until("the last line", func(l watchLine) bool { return l.Kind == "ReconcileResult" })
	if last.ExitCode != 0 || last.Reason != "the cluster was deleted" {
		t.Errorf("the last line is %+v", last)
	}
	<-w.ended
	if got := w.cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit code %d", got)
	}
}

func TestTheAPIServerAcceptsTheInClusterManifests(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for _, file := range []string{"access.yaml", "deployment.yaml", "cronjob.yaml"} {
		kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-n", ns, "-f", "../../manifests/in-cluster/"+file)
	}
}
