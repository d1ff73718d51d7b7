package clusters_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// apiServer is an API server with one FoundationDBCluster, of which nothing runs yet, in the namespace of its name.
func apiServer(t *testing.T, name, uid string) *httptest.Server {
	t.Helper()
	resource := fmt.Sprintf(`{"apiVersion":"apps.foundationdb.org/v1beta2","kind":"FoundationDBCluster","metadata":{"name":"sample","namespace":"in-%s","uid":"of-%s","generation":1},"spec":{"version":"7.3.79","processGroupIDPrefix":"%s"}}`, name, name, name)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case path == "/api/v1/namespaces/kube-system":
			fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"%s"}}`, uid)
		case strings.HasSuffix(path, "/namespaces/in-"+name+"/foundationdbclusters/sample"):
			fmt.Fprint(w, resource)
		case strings.HasSuffix(path, "/namespaces/in-"+name+"/foundationdbclusters"):
			fmt.Fprintf(w, `{"apiVersion":"apps.foundationdb.org/v1beta2","kind":"FoundationDBClusterList","items":[%s]}`, resource)
		case strings.HasPrefix(path, "/api/v1/namespaces/in-"+name+"/") && !strings.Contains(path, "configmaps"):
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"List","items":[]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{"name":"x"},"message":"%s"}`, path)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// The other tests replace what opens an API server.
func TestEachSiteIsReadThroughItsOwnContext(t *testing.T) {
	lost := apiServer(t, "dc3", "server-3")
	servers := map[string]*httptest.Server{"dc1": apiServer(t, "dc1", "server-1"), "dc2": apiServer(t, "dc2", "server-2"), "dc3": lost, "dc4": apiServer(t, "dc4", "server-1")}
	lost.Close()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: dc1\n"
	for _, kind := range []string{"contexts", "clusters"} {
		text += kind + ":\n"
		for name, server := range servers {
			text += map[string]string{
				"contexts": fmt.Sprintf("- {name: %s, context: {cluster: %s, namespace: in-%s}}\n", name, name, name),
				"clusters": fmt.Sprintf("- {name: %s, cluster: {server: %q}}\n", name, server.URL),
			}[kind]
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	run := func(args ...string) (code int, out, errOut string) {
		env, stdout, stderr := session.NewEnv(), &bytes.Buffer{}, &bytes.Buffer{}
		env.IOStreams = genericiooptions.IOStreams{In: strings.NewReader(""), Out: stdout, ErrOut: stderr}
		code = commands.Run(t.Context(), env, append(args, "--kubeconfig", file))
		return code, stdout.String(), stderr.String()
	}
	code, out, errOut := run("get", "clusters", "--contexts", "dc1,dc2,dc3")
	if code != exit.ExitUnreachable {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	contains(t, "stdout", out, []string{"dc1    in-dc1      sample", "dc2    in-dc2      sample", "dc3    in-dc3      -", "was refused"})
	if code, _, errOut := run("get", "clusters", "--contexts", "dc1,dc4"); code != exit.ExitUsage || !strings.Contains(errOut, "sites dc1 and dc4 are the same Kubernetes cluster") {
		t.Errorf("two contexts of one: exit code %d: %s", code, errOut)
	}
	if _, out, _ := run("get", "clusters", "--contexts", "dc2", "-o", "jsonpath={.items[0].metadata}"); !strings.Contains(out, `"context":"dc2"`) {
		t.Errorf("the context of a site: %s", out)
	}
}
