package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// wire counts what a program sends to the API server.
type wire struct {
	mu       sync.Mutex
	requests []string
	// running counts the programs in pods that have not ended, by their command.
	running map[string]int
}

// kubeconfig returns a kubeconfig whose API server is the sandbox's, through a proxy that keeps
// every request.
func (w *wire) kubeconfig(t *testing.T) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfigOf(t))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	config.NextProtos = []string{"http/1.1"} // exec takes the connection over
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		defer w.count(inText(r))()
		proxy.ServeHTTP(answer, r)
	}))
	t.Cleanup(server.Close)
	return file(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: wire
contexts: [{name: wire, context: {cluster: wire, user: wire}}]
clusters: [{name: wire, cluster: {server: %s}}]
users: [{name: wire, user: {}}]
`, server.URL))
}

// count counts a request until it ends. A command that still runs in another pod is not counted again: a pod that is
// slow, as on a busy machine, is not waited for.
func (w *wire) count(request string) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[request] == 0 || !strings.HasPrefix(request, "exec ") {
		w.requests = append(w.requests, request)
	}
	if w.running == nil {
		w.running = map[string]int{}
	}
	w.running[request]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running[request]--
	}
}

// inText is a request with the command that it runs in a pod, if any.
func inText(r *http.Request) string {
	words := r.Method + " " + r.URL.Path
	if command := r.URL.Query()["command"]; len(command) > 0 {
		words = "exec " + strings.Join(command, " ")
	}
	return words
}

// fdb runs the plugin through the proxy, and returns what it sent.
func (w *wire) fdb(t *testing.T, args ...string) (result, []string) {
	t.Helper()
	config := w.kubeconfig(t)
	// With the intervals of users: shorter ones send more.
	r := runWith(t, func(c *exec.Cmd) { c.Env = append(c.Env, "KUBECONFIG="+config, "KUBECTL_FDB_MAX_INTERVAL=") }, "kubectl", append([]string{"fdb"}, args...)...)
	return r, w.requests
}

// puts are the changes of the Lease.
func puts(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return !strings.HasPrefix(r, "PUT ") || !strings.Contains(r, "/leases/")
	})
}

// execs are the requests that run a program in a pod.
func execs(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool { return !strings.HasPrefix(r, "exec ") })
}

// TestRequestCountsOfCommandsStayWithinLimits counts on the wire all that a command sends, from its start to its end.
// It runs alone: beside the other tests slow answers are requested twice, and waits take more passes.
func TestRequestCountsOfCommandsStayWithinLimits(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("c", "processCounts: {storage: 4, log: 4, stateless: 3}\n"))
	r, sent := new(wire).fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes")
	want(t, r, 0)
	if tools := execs(sent); len(tools) > 8 { // none before a pod has a cluster file; what several pods run at once counts as one
		t.Errorf("a new cluster: %d execs, want at most 8:\n%s", len(tools), strings.Join(tools, "\n"))
	} else {
		t.Logf("a new cluster: %d requests and %d execs", len(sent)-len(tools), len(tools))
	}
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)

	t.Run("a reconcile with nothing to do", func(t *testing.T) {
		r, sent := new(wire).fdb(t, "reconcile", "c", "-n", ns, "--yes")
		want(t, r, 0)
		// One of them reads the Lease: another run's operation is reported before anything else. Another one reads
		// the namespace, which may be being deleted.
		if all, tools := len(sent), len(execs(sent)); all-tools > 10 || tools != 1 {
			t.Errorf("%d requests and %d execs, want at most 10 and 1:\n%s", all-tools, tools, strings.Join(sent, "\n"))
		}
	})
	t.Run("a replacement", func(t *testing.T) {
		r, sent := new(wire).fdb(t, "replace", "c", storageGroups(t, ns)[0], "-n", ns, "--wait", "--yes")
		want(t, r, 0)
		// A pass takes the Lease and releases it, and its progress is stored there. All reads come from an fdbcli that
		// stays open, however many passes there are. Another one is opened if it fails, after a read of its own.
		passes := len(puts(sent)) / 3
		most := 3 + 2
		tools := execs(sent)
		// Where the last recovery was long enough ago, the last pass ends the exclusion as well.
		if slices.ContainsFunc(tools, func(r string) bool { return strings.Contains(r, " include ") }) {
			most++
		}
		if len(tools) > most {
			t.Errorf("%d execs in %d passes, want at most %d:\n%s", len(tools), passes, most, strings.Join(tools, "\n"))
		} else {
			t.Logf("%d requests and %d execs in %d passes:\n%s", len(sent)-len(tools), len(tools), passes, strings.Join(tools, "\n"))
		}
	})
}
