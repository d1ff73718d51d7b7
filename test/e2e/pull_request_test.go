package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A pull request that changes a cluster gets its plan as a comment while nothing in the Kubernetes cluster knows of it, and what
// runs after the merge is bound to that plan. The steps are those of docs/pipelines.md, by the script that is shipped.
func TestAPullRequestIsPlannedBeforeItsMergeAndBoundToThePlanAfter(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	for _, change := range []struct {
		name, from, to string
		// comment has parts of the comment, and done is true once the merge is carried out.
		comment []string
		done    func(*testing.T) bool
	}{
		{
			"a growth", "storage: 3", "storage: 4",
			[]string{"processCounts.storage: 3, desired 4", "AddPods: create pod orders-storage-", "pods 9, at most 10"},
			func(t *testing.T) bool {
				t.Helper()
				return len(storageOf(t, r.ns)) == 4
			},
		},
		{
			"a knob", "  processes:\n    general:\n", "  processes:\n    general:\n      customParameters: [knob_max_trace_lines=900001]\n",
			[]string{"knob_max_trace_lines: -, desired 900001", "processes restarted 10 (10 at once)", "recoveries 1 "},
			func(t *testing.T) bool {
				t.Helper()
				return strings.Contains(kubectl(t, "get", "configmap", "orders-config", "-n", r.ns, "-o", "json"), "900001")
			},
		},
		{
			"an upgrade", "version: 7.3.79", "version: 7.3.80",
			[]string{"version: 7.3.79, desired 7.3.80", "if a node is lost meanwhile: "},
			func(t *testing.T) bool {
				t.Helper()
				return kubectl(t, "get", "fdb", "orders", "-n", r.ns, "-o", "jsonpath={.status.runningVersion}") == "7.3.80"
			},
		},
		{
			"a deletion", "storage: 4", "storage: 3",
			[]string{"processCounts.storage: 4, desired 3", "process groups removed 1", "RemovePods: "},
			func(t *testing.T) bool {
				t.Helper()
				return len(storageOf(t, r.ns)) == 3
			},
		},
	} {
		t.Run(change.name, func(t *testing.T) {
			r.change(t, change.from, change.to)
			before := r.state(t)
			want(t, fdb(t, "plan", "orders", "-n", r.ns, "-f", filepath.Join(r.dir, "deploy", "orders.yaml"), "--at-most", "seconds=1s"), 4)
			planned := r.pipeline(t, "plan", "ARGUMENTS=-f deploy/orders.yaml")
			want(t, planned, 1)
			if after := r.state(t); after != before {
				t.Errorf("before the merge, the plan changed\n%s\nto\n%s", before, after)
			}
			comment := r.comment(t, "plan")
			for _, part := range append(change.comment, "in all: recoveries ", "SHA-256 of the plan: `"+r.result(t, "plan-sha256")+"`") {
				if !strings.Contains(comment, part) {
					t.Errorf("no %q in the comment\n%s", part, comment)
				}
			}
			approved := "PLAN_SHA256=" + r.result(t, "plan-sha256")

			kubectl(t, "apply", "-n", r.ns, "-f", filepath.Join(r.dir, "deploy", "orders.yaml")) // what a merge does
			want(t, r.pipeline(t, "apply", approved), 0)
			if !change.done(t) {
				t.Error("the merge is not carried out")
			}
			if text := r.comment(t, "apply"); !strings.Contains(text, "orders: done") {
				t.Errorf("comment %s", text)
			}
			want(t, fdb(t, "reconcile", "orders", "-n", r.ns, "--wait", "--yes", "--timeout", patience), 0)
			t.Log(comment)
		})
	}
	r.refusesWhatWasNotApproved(t)
	t.Run("a deletion of the cluster", r.deletes)
}

// deletes removes the manifest from the repository. The job shows what is lost, and the merge is carried out by the command that it prints.
func (r *repository) deletes(t *testing.T) {
	want(t, fdb(t, "reconcile", "orders", "-n", r.ns, "--wait", "--yes", "--timeout", patience), 0)
	if err := os.Remove(filepath.Join(r.dir, "deploy", "orders.yaml")); err != nil {
		t.Fatal(err)
	}
	beside := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside}\n"
	if err := os.WriteFile(filepath.Join(r.dir, "deploy", "beside.yaml"), []byte(beside), 0o600); err != nil {
		t.Fatal(err)
	}
	before := r.state(t)
	planned := fdb(t, "plan", "-n", r.ns, "-f", filepath.Join(r.dir, "deploy"), "--prune")
	want(t, planned, 1)
	if after := r.state(t); after != before {
		t.Errorf("before the merge, the plan changed\n%s\nto\n%s", before, after)
	}
	const deletion = "kubectl delete foundationdbcluster orders"
	for _, part := range []string{"- orders  not in the manifests, applied by kubectl; this command deletes nothing", "are deleted", deletion} {
		if !strings.Contains(planned.stdout, part) {
			t.Errorf("no %q in\n%s", part, planned.stdout)
		}
	}
	kubectl(t, "delete", "foundationdbcluster", "orders", "-n", r.ns)
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) { // until the API server has removed what it owns
		left := kubectl(t, "get", "pods,pvc", "-n", r.ns, "-o", "name")
		if left == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("left of the deleted cluster:\n%s", left)
		}
	}
	want(t, fdb(t, "plan", "-n", r.ns, "-f", filepath.Join(r.dir, "deploy"), "--prune"), 0)
}

// refusesWhatWasNotApproved merges another change than the one that was planned.
func (r *repository) refusesWhatWasNotApproved(t *testing.T) {
	t.Helper()
	r.change(t, "storage: 3", "storage: 4")
	want(t, r.pipeline(t, "plan", "ARGUMENTS=-f deploy/orders.yaml"), 1)
	approved := "PLAN_SHA256=" + r.result(t, "plan-sha256")
	r.change(t, "storage: 4", "storage: 5")
	kubectl(t, "apply", "-n", r.ns, "-f", filepath.Join(r.dir, "deploy", "orders.yaml"))
	want(t, r.pipeline(t, "apply", approved), 6)
	if n := len(storageOf(t, r.ns)); n != 3 {
		t.Errorf("%d storage process groups, 3 approved", n)
	}
}

func storageOf(t *testing.T, ns string) []string {
	t.Helper()
	return strings.Fields(fdb(t, "get", "pg", "orders", "-n", ns, "--class", "storage", "-o", "name").stdout)
}

// repository is one with the manifest of a cluster, and the pull request 12 with its comments.
type repository struct {
	ns, dir string
	text    string
	api     *httptest.Server

	mu       sync.Mutex
	comments []string
}

const bot = "orders-bot"

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{ns: namespace(t), dir: t.TempDir(), text: cluster("orders", counts+quick+strings.Replace(allAtOnce, "}", ", waitBetweenRemovalsSeconds: 0}", 1))}
	if err := os.Mkdir(filepath.Join(r.dir, "deploy"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.change(t, "", "")
	apply(t, r.ns, r.text)
	want(t, fdb(t, "reconcile", "orders", "-n", r.ns, "--wait", "--yes"), 0)
	r.api = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.api.Close)
	return r
}

// change edits the manifest in the repository.
func (r *repository) change(t *testing.T, from, to string) {
	t.Helper()
	if !strings.Contains(r.text, from) {
		t.Fatalf("no %q in %s", from, r.text)
	}
	r.text = strings.Replace(r.text, from, to, 1)
	if err := os.WriteFile(filepath.Join(r.dir, "deploy", "orders.yaml"), []byte(r.text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pipeline runs the shipped script as a job does, in the checked out repository.
func (r *repository) pipeline(t *testing.T, mode string, variables ...string) result {
	t.Helper()
	script, err := filepath.Abs("../../manifests/pipelines/pipeline.sh")
	if err != nil {
		t.Fatal(err)
	}
	done := runWith(t, func(c *exec.Cmd) {
		c.Dir = r.dir
		c.Env = append(append(c.Env, "MODE="+mode, "CLUSTER=orders", "NAMESPACE="+r.ns, "RESULTS="+r.dir, "PULL_REQUEST=12", "TIMEOUT="+patience,
			"REPOSITORY=orders/infrastructure", "TOKEN=loopback", "API_URL="+r.api.URL), variables...)
	}, "/bin/sh", script)
	t.Log(done.stdout, done.stderr)
	return done
}

func (r *repository) result(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// state is all that a plan could change: the spec, its generation and the objects of the cluster.
func (r *repository) state(t *testing.T) string {
	t.Helper()
	objects := strings.Fields(kubectl(t, "get", "pods,pvc,configmap,service", "-n", r.ns, "-o", "jsonpath={range .items[*]}{.kind}/{.metadata.name}/{.metadata.uid} {end}"))
	slices.Sort(objects)
	return kubectl(t, "get", "fdb", "orders", "-n", r.ns, "-o", "jsonpath={.metadata.generation} {.spec}") + "\n" + strings.Join(objects, "\n")
}

// comment returns the one of a mode.
func (r *repository) comment(t *testing.T, mode string) string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.comments {
		if strings.HasPrefix(c, "<!-- kubectl-fdb "+mode+" "+r.ns+"/orders -->") {
			return c
		}
	}
	t.Fatalf("no comment about %s among %q", mode, r.comments)
	return ""
}

// serve is the part of the API of GitHub that the script uses.
func (r *repository) serve(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var sent struct{ Body string }
	content, err := io.ReadAll(request.Body)
	if err == nil && len(content) > 0 {
		err = json.Unmarshal(content, &sent)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const comments = "/repos/orders/infrastructure/issues/12/comments"
	switch path := request.URL.Path; {
	case path == "/graphql":
		fmt.Fprintf(w, `{"data":{"viewer":{"login":%q}}}`, bot)
	case request.Method == http.MethodGet && path == comments:
		type comment struct {
			ID   int               `json:"id"`
			Body string            `json:"body"`
			User map[string]string `json:"user"`
		}
		all := []comment{}
		for i, c := range r.comments {
			all = append(all, comment{i, c, map[string]string{"login": bot}})
		}
		_ = json.NewEncoder(w).Encode(all)
	case request.Method == http.MethodPost && path == comments:
		r.comments = append(r.comments, sent.Body)
		w.WriteHeader(http.StatusCreated)
	default:
		var i int
		if _, err := fmt.Sscanf(filepath.Base(path), "%d", &i); err != nil || request.Method != http.MethodPatch || i >= len(r.comments) {
			http.NotFound(w, request)
			return
		}
		r.comments[i] = sent.Body
	}
}
