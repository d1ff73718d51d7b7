package dump_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCommandsOnADumpPrintTheSameAsOnTheCluster(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	g.Server = serverOfVersion(t)
	type result struct {
		Code     int
		Out, Err string
	}
	run := func(line string, more ...string) result {
		code := g.Run(append(strings.Fields(line), more...)...)
		return result{code, g.Out.String(), g.Err.String()}
	}
	live := map[string]result{}
	for _, line := range commandstest.ViewsOfDumps(g) {
		live[line] = run(line)
		live[line+" -o json"] = run(line, "-o", "json")
	}
	path := g.Dumped()
	id, pseudonym := commandstest.ConnectionID(t, g.Cluster.Resource.Status.ConnectionString), pseudonymIn(t, path)
	g.Connect, g.Tool, g.Objects, g.Cluster.Resource, g.Now, g.Server = nil, nil, nil, nil, nil, "" // nothing but the dump can answer
	for line, want := range live {
		want.Out, want.Err = strings.ReplaceAll(want.Out, id, pseudonym), strings.ReplaceAll(want.Err, id, pseudonym)
		got := run(line, "--from", path)
		if strings.HasPrefix(line, "can replace ") { // no dry run of the successor is possible
			if got.Code != exit.ExitUnreachable && want.Code == exit.ExitDone || got.Code == exit.ExitDone || !strings.Contains(got.Out, "a dump is read-only") {
				t.Errorf("%s: exit code %d, %s", line, got.Code, got.Out)
			}
			continue
		}
		want.Out, got.Out = withoutDigests(want.Out), withoutDigests(got.Out)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

// digestOfConnection are the digests of a plan that change with the ID of the connection string, which a dump hides.
var digestOfConnection = regexp.MustCompile(`("connectionDigest"|"observed"): "[a-z0-9:]+"`)

func withoutDigests(text string) string {
	return digestOfConnection.ReplaceAllString(text, "$1: DIGEST")
}

func TestARedactedDumpShowsNoSpecChange(t *testing.T) {
	g := commandstest.NewGiven(t)
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "AWS_SECRET_ACCESS_KEY", Value: "hunter2template"}}}}}}
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: template}}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	commandstest.Readable(g).Frozen()
	type result struct {
		Code int
		Out  string
	}
	want := map[string]result{}
	for _, line := range []string{"plan sample", "why sample", "status sample", "check sample", "get process-groups sample"} {
		code := g.Run(strings.Fields(line)...)
		want[line] = result{code, strings.ReplaceAll(g.Out.String(), "hunter2template", "REDACTED")}
	}
	path := g.Dumped()
	text, err := json.Marshal(commandstest.DumpAt(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("hunter2template")) {
		t.Error("the dump contains the secret")
	}
	g.Connect, g.Tool, g.Objects, g.Cluster.Resource, g.Now = nil, nil, nil, nil, nil
	for line, want := range want {
		code := g.Run(append(strings.Fields(line), "--from", path)...)
		if diff := cmp.Diff(want, result{code, g.Out.String()}); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

// serverOfVersion is an API server that answers what it is.
func serverOfVersion(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := map[string]string{
			"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`,
			"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
			"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps.foundationdb.org","versions":[{"groupVersion":"apps.foundationdb.org/v1beta2","version":"v1beta2"}]}]}`,
		}[r.URL.Path]
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// pseudonymIn returns the ID in the connection string of a dump.
func pseudonymIn(t *testing.T, path string) string {
	t.Helper()
	for _, l := range commandstest.DumpAt(t, path).Lists {
		if l.Resource == "foundationdbclusters" {
			c := &session.Cluster{}
			if err := json.Unmarshal(l.Items[0], c); err != nil {
				t.Fatal(err)
			}
			return commandstest.ConnectionID(t, c.Status.ConnectionString)
		}
	}
	t.Fatal("the dump has no cluster")
	return ""
}

func TestTheDumpCommandWritesNoClusterSecret(t *testing.T) {
	g := commandstest.Dumpable(t)
	id := commandstest.ConnectionID(t, g.Cluster.Resource.Status.ConnectionString)
	text, err := json.Marshal(commandstest.DumpAt(t, g.Dumped()))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{id, "private-key-of-a-user", "hunter2logged"} {
		for _, encoded := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if bytes.Contains(text, []byte(encoded)) {
				t.Errorf("the dump contains %q", secret)
			}
		}
	}
}
