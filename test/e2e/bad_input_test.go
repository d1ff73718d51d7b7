package e2e

import (
	"encoding/json"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// prints fails the test unless stderr has all of the texts.
func prints(t *testing.T, r result, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(r.stderr, word) {
			t.Errorf("stderr does not say %q:\n%s", word, r.stderr)
		}
	}
}

func TestBadInputIsOneClearErrorAndWritesNothing(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("one", counts))
	apply(t, ns, cluster("two", counts))
	apply(t, ns, cluster("broken", counts+"databaseConfiguration: {storage_engine: ssd-redwood-1}\nprocessGroupIDPrefix: a.b\n"))
	tests := map[string]struct {
		args []string
		code int
		says []string
	}{
		"an unknown cluster":              {[]string{"reconcile", "three", "--yes", "-n", ns}, 2, []string{"three", ns, "one", "two"}},
		"several clusters and no name":    {[]string{"plan", "-n", ns}, 2, []string{"one", "two", "broken"}},
		"a write without a name":          {[]string{"reconcile", "--yes", "-n", ns}, 2, []string{"name"}},
		"no terminal and no --yes":        {[]string{"reconcile", "one", "-n", ns}, 7, []string{"--yes"}},
		"an unknown flag":                 {[]string{"reconcile", "one", "-n", ns, "--force"}, 2, []string{"--force"}},
		"an unknown step":                 {[]string{"reconcile", "one", "-n", ns, "--yes", "--only", "AddPodz"}, 2, []string{"AddPodz", "AddPods"}},
		"an unknown output":               {[]string{"plan", "one", "-n", ns, "-o", "xml"}, 2, []string{"xml"}},
		"an unknown command":              {[]string{"recoil"}, 2, []string{"recoil"}},
		"an unknown context":              {[]string{"status", "one", "--context", "nowhere"}, 2, []string{"nowhere"}},
		"a resource that cannot be right": {[]string{"reconcile", "broken", "--yes", "-n", ns}, 2, []string{"broken", "processGroupIDPrefix", "a.b"}},
	}
	before := versions(t, ns)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := fdb(t, tc.args...)
			want(t, r, tc.code)
			prints(t, r, tc.says...)
			if strings.Count(r.stderr, "rror: ") > 1 {
				t.Errorf("more than one error:\n%s", r.stderr)
			}
		})
	}
	if after := versions(t, ns); after != before {
		t.Errorf("bad input wrote something:\n%s\n%s", before, after)
	}
}

func TestAnErrorIsPrintedAsAnObjectWithJSONOutput(t *testing.T) {
	ns := namespace(t)
	r := fdb(t, "status", "missing", "-n", ns, "-o", "json")
	want(t, r, 2)
	var e struct{ Kind string }
	if err := json.Unmarshal([]byte(r.stderr), &e); err != nil || e.Kind != "Error" {
		t.Errorf("stderr is no Error object (%v):\n%s", err, r.stderr)
	}
	if r.stdout != "" {
		t.Errorf("stdout holds more than results: %q", r.stdout)
	}
}

func TestAReadOnlyUserIsRefusedWithTheMissingPermission(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	kubectl(t, "create", "role", "reader", "-n", ns, "--verb=get,list", "--resource=foundationdbclusters.apps.foundationdb.org,pods,persistentvolumeclaims,services,configmaps")
	kubectl(t, "create", "rolebinding", "reader", "-n", ns, "--role=reader", "--user=alice")
	want(t, fdb(t, "status", "c", "-n", ns, "--as", "alice"), 1)

	before := versions(t, ns)
	r := fdb(t, "reconcile", "c", "-n", ns, "--yes", "--as", "alice")
	want(t, r, 5)
	prints(t, r, "create", "pods", ns)
	if after := versions(t, ns); after != before {
		t.Errorf("a reader wrote something:\n%s\n%s", before, after)
	}
}

func TestStatusTimesOutIfTheAPIServerNeverAnswers(t *testing.T) {
	unresponsive, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unresponsive.Close() }()
	go func() {
		for {
			c, err := unresponsive.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
		}
	}()
	var took []time.Duration
	for range 5 { // a busy machine can make any attempt slow
		start := time.Now()
		r := run(t, "kubectl-fdb", "status", "c", "--server", "http://"+unresponsive.Addr().String(), "--request-timeout", "2s")
		want(t, r, 8)
		prints(t, r, unresponsive.Addr().String())
		if took = append(took, time.Since(start)); slices.Min(took) <= 30*time.Second {
			return
		}
	}
	t.Errorf("took %s to give up", took)
}

func TestAMissingKubeconfigIsReported(t *testing.T) {
	r := runWith(t, func(c *exec.Cmd) { c.Env = append(c.Env, "KUBECONFIG=/nonexistent/kubeconfig", "HOME=/nonexistent") }, "kubectl-fdb", "status", "c")
	if r.code != 2 && r.code != 8 {
		t.Errorf("exit code %d, want 2 or 8", r.code)
	}
	prints(t, r, "kubeconfig")
	if strings.Contains(r.stderr, "localhost:8080") {
		t.Errorf("falls back on an unspecified server:\n%s", r.stderr)
	}
}

// Two runs at once: one acts, and the other reports which one.
func TestASecondRunReportsTheLeaseHolderAndWritesNothing(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	kubectl(t, "create", "-n", ns, "-f", leaseOf(t, "kubectl-fdb-c", "bob@elsewhere process 7"))
	before := versions(t, ns)
	r := fdb(t, "reconcile", "c", "-n", ns, "--yes")
	want(t, r, 6)
	if !strings.Contains(r.stdout+r.stderr, "bob@elsewhere") {
		t.Errorf("does not say who holds the Lease:\n%s%s", r.stdout, r.stderr)
	}
	if after := versions(t, ns); after != before {
		t.Errorf("wrote beside another run:\n%s\n%s", before, after)
	}
}

func TestReconcileIsRefusedWhileAnOperatorIsActive(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	kubectl(t, "create", "-n", ns, "-f", leaseOf(t, "fdb-kubernetes-operator", "operator-7d9f"))
	before := versions(t, ns)
	r := fdb(t, "reconcile", "c", "-n", ns, "--yes")
	want(t, r, 4)
	if !strings.Contains(r.stdout+r.stderr, "G-OPERATOR") || !strings.Contains(r.stdout+r.stderr, "operator-7d9f") {
		t.Errorf("does not name the gate and who renews the Lease:\n%s%s", r.stdout, r.stderr)
	}
	if after := versions(t, ns); after != before {
		t.Errorf("wrote beside a live operator:\n%s\n%s", before, after)
	}
	kubectl(t, "delete", "lease", "fdb-kubernetes-operator", "-n", ns) // gates look at all namespaces
}

// leaseOf writes the manifest of a Lease that was renewed just now, and returns its path.
func leaseOf(t *testing.T, name, holder string) string {
	t.Helper()
	return file(t, "lease.yaml", `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: `+name+`}
spec:
  holderIdentity: "`+holder+`"
  leaseDurationSeconds: 3600
  renewTime: "`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"
`)
}
