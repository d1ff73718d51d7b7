package commands_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// The real environment, but for its streams and variables.
func realEnv(t *testing.T) (env *session.Env, out, errOut *bytes.Buffer) {
	t.Helper()
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	env = session.NewEnv()
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	env.IOStreams = genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: errOut}
	return env, out, errOut
}

func TestAPIServerErrorsMapToExitCodes(t *testing.T) {
	const refusal = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,` +
		`"message":"foundationdbclusters.apps.foundationdb.org \"c\" is forbidden: User \"ci\" cannot get resource \"foundationdbclusters\" in API group \"apps.foundationdb.org\" in the namespace \"prod\""}`
	tests := map[string]struct {
		answer http.HandlerFunc
		want   int
		says   string
	}{
		"forbidden": {
			answer: status(http.StatusForbidden, refusal), want: exit.ExitForbidden,
			says: `cannot get resource "foundationdbclusters" in API group "apps.foundationdb.org" in the namespace "prod"`,
		},
		"who are you": {
			answer: status(http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","reason":"Unauthorized","code":401,"message":"Unauthorized"}`), want: exit.ExitUsage,
			says: "error: the credentials of the API server $SERVER are missing or expired: ; hint: log in again with the tool that issues the credentials",
		},
		"no such kind": {
			answer: status(http.StatusNotFound, "404 page not found"), want: exit.ExitUsage,
			says: "error: the API server $SERVER: this Kubernetes cluster has no FoundationDBCluster resources: ; hint: list other contexts: kubectl config get-contexts; hint: if this is the right cluster, install the custom resource definitions: kubectl fdb install crds --dry-run",
		},
		"broken":        {answer: status(http.StatusInternalServerError, "oops"), want: exit.ExitUnreachable},
		"never answers": {answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: exit.ExitUnreachable, says: "no answer from the server $HOST within the limit of a request"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.answer)
			defer server.Close()
			for _, command := range [][]string{{"status", "c"}, {"reconcile", "c", "--yes"}, {"plan", "c"}, {"get", "pg", "c"}} {
				env, _, errOut := realEnv(t)
				env.Clock = hasty{}
				got := commands.Run(t.Context(), env, append(command, "-n", "prod", "--server", server.URL, "--request-timeout", "200ms"))
				for says := range strings.SplitSeq(strings.NewReplacer("$SERVER", server.URL, "$HOST", server.Listener.Addr().String()).Replace(tc.says), "; ") {
					if got != tc.want || !strings.Contains(strings.Join(strings.Fields(errOut.String()), " "), says) {
						t.Errorf("%q: exit code %d, want %d, and %q on stderr: %s", command, got, tc.want, says, errOut)
					}
				}
			}
		})
	}
}

// hasty is a clock on which pauses are over at once; what is longer is a limit.
type hasty struct{ clock.RealClock }

func (c hasty) NewTimer(d time.Duration) clock.Timer {
	if d > 30*time.Second {
		return c.RealClock.NewTimer(d)
	}
	return c.RealClock.NewTimer(0)
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func TestWithoutAKubeconfigNoServerIsContacted(t *testing.T) {
	for _, command := range [][]string{{"status", "c"}, {"status", "-A"}, {"reconcile", "c", "--yes"}, {"plan", "c"}, {"get", "pg", "c"}, {"version"}} {
		env, _, errOut := realEnv(t)
		if code := commands.Run(t.Context(), env, command); code != exit.ExitUsage || !strings.Contains(errOut.String(), "--kubeconfig") || strings.Contains(errOut.String(), "localhost") {
			t.Errorf("%q: exit code %d: %s", command, code, errOut)
		}
	}
}

func TestObjectsAreChangedWithTheRequestedFieldManager(t *testing.T) {
	var by string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by = r.URL.Query().Get("fieldManager")
		status(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)(w, r)
	}))
	defer server.Close()
	for requested, want := range map[string]string{"": "kubectl-fdb", "ci": "ci"} {
		env, _, _ := realEnv(t)
		env.Kube.APIServer = &server.URL
		if err := (apply.ChangeFlags{Output: "text", DryRun: apply.DryRunNone, Yes: true, FieldManager: requested}).Check(env); err != nil {
			t.Fatal(err)
		}
		c, err := env.Client()
		if err != nil {
			t.Fatal(err)
		}
		for operation, err := range map[string]error{
			"creating": c.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "p"}}),
			"updating": c.Status().Update(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "p"}}),
		} {
			if err == nil || by != want {
				t.Errorf("%s by %q, want %q (%v)", operation, by, want, err)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{
			"/version": `{"gitVersion":"v1.36.3"}`,
			"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
			"/apis":    `{"kind":"APIGroupList","groups":[{"name":"apps.foundationdb.org","versions":[{"groupVersion":"apps.foundationdb.org/v1beta2","version":"v1beta2"}]}]}`,
			"/apis/apps.foundationdb.org/v1beta2/namespaces/default/foundationdbclusters": `{"kind":"FoundationDBClusterList","apiVersion":"apps.foundationdb.org/v1beta2","items":[` +
				`{"metadata":{"name":"a","namespace":"default"},"spec":{"version":"7.3.79"},"status":{"runningVersion":"7.1.57"}}]}`,
		}
		status(http.StatusOK, answers[r.URL.Path])(w, r)
	}))
	defer server.Close()
	env, out, errOut := realEnv(t)
	if code := commands.Run(t.Context(), env, []string{"version", "--server", server.URL}); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	for _, want := range []string{"Client: dev", "Server: v1.36.3\n", "Resources: apps.foundationdb.org/v1beta2\n", "default     a      7.3.79   7.1.57    ?           ?        ?\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

func TestAQuotedHintCanBePasted(t *testing.T) {
	g := commandstest.NewGiven(t)
	env := g.Environment()
	*env.Kube.Context = "it's; rm -rf"
	if got, want := env.Command("status", "c"), `kubectl fdb status c -n '' --context 'it'\''s; rm -rf'`; !strings.HasPrefix(got, "kubectl fdb status c") || !strings.HasSuffix(got, `'it'\''s; rm -rf'`) {
		t.Errorf("%s, want something like %s", got, want)
	}
}

// A wrong place is named, with the right ones.
func TestAWrongNamespaceOrContextErrorSuggestsTheRightOne(t *testing.T) {
	for line, want := range map[string][]string{
		"status sample -n nowhere":     {"error: FoundationDBCluster sample not found in namespace nowhere; fdb has one\n", "hint: kubectl fdb status sample -n fdb --context test\n"},
		"status other -n nowhere":      {"in namespace nowhere, which has no FoundationDBCluster\n"},
		"status sample --context tset": {`context "tset" not found: must be one of test; did you mean test?`, "hint: kubectl config get-contexts\n"},
	} {
		t.Run(line, func(t *testing.T) {
			g := commandstest.Up(t)
			e := g.Environment()
			if strings.Contains(line, "--context") {
				e.Client = func() (client.Client, error) { _, err := e.Connection().Config(); return nil, err }
			}
			code := commands.Run(t.Context(), e, strings.Fields(line))
			for _, words := range want {
				if code != exit.ExitUsage || !strings.Contains(g.Err.String(), words) {
					t.Errorf("exit code %d, want %q: %s", code, words, &g.Err)
				}
			}
		})
	}
}

// The error for a resource that was deleted before its objects names them, and what to do.
func TestTheNotFoundErrorListsRemainingPodsAndPVCs(t *testing.T) {
	left := metav1.ObjectMeta{Name: "lost-storage-1", Namespace: "there", Labels: map[string]string{v1beta2.LabelClusterName: "lost"}}
	for line, want := range map[string]string{
		"why lost -n there": "error: FoundationDBCluster lost not found in namespace there, but 1 pod and 1 PVC of it exist\n",
		"why -n there":      "error: no FoundationDBCluster found in namespace there, but 1 pod and 1 PVC of lost exist\n",
	} {
		g := commandstest.NewGiven(t)
		g.Objects = []client.Object{&corev1.Pod{ObjectMeta: left}, &corev1.PersistentVolumeClaim{ObjectMeta: left}}
		code := g.Run(strings.Fields(line)...)
		if said := g.Err.String(); code != exit.ExitUsage || !strings.Contains(said, want) || !strings.Contains(said, "hint: kubectl fdb recover manifest lost -n there --context test\n") {
			t.Errorf("%s: exit code %d: %s", line, code, said)
		}
	}
}

// A refused connection is explained as kubectl does, without the path of the request.
func TestARefusedConnectionIsExplained(t *testing.T) {
	err := fmt.Errorf("read FoundationDBCluster sample: %w", &url.Error{Op: "Get", URL: "https://127.0.0.1:1/apis/apps.foundationdb.org?limit=500", Err: syscall.ECONNREFUSED})
	const want = "the connection to the server 127.0.0.1:1 was refused: check the host and the port, --context and --kubeconfig"
	if got := exit.Explain(err); got != want || exit.Code(err) != exit.ExitUnreachable {
		t.Errorf("%q, exit code %d", got, exit.Code(err))
	}
}
