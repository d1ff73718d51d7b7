package commands

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// dumpable is a reconciled cluster that commands read through a Kubernetes client and fdbcli in pods,
// as they do outside of tests.
func dumpable(t *testing.T) *given {
	t.Helper()
	return readable(up(t))
}

// readable makes what the simulation has readable through a Kubernetes client and fdbcli in pods.
func readable(g *given) *given {
	t := g.t
	t.Helper()
	g.objects = append(g.objects, g.cluster.ConfigMap)
	for _, o := range g.cluster.Pods {
		g.objects = append(g.objects, o)
	}
	for _, o := range g.cluster.Volumes {
		g.objects = append(g.objects, o)
	}
	for _, o := range g.cluster.Services {
		g.objects = append(g.objects, o)
	}
	g.tool = func(pod *corev1.Pod, _ string) (admin.Transport, error) { return modelPod{g, pod.Name}, nil }
	g.logs = func(_ context.Context, _, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("started " + pod + " " + o.Container + " with password: hunter2logged\n")), nil
	}
	g.connect = func() (session.Session, error) {
		return live.New(live.Options{
			Client: g.client(), Key: types.NamespacedName{Namespace: "fdb", Name: "sample"}, Clock: g.theClock(), Holder: "me@here pid 1",
			Nonce:   func() string { return "nonce" },
			Command: func(words ...string) string { return g.environment().KubectlIn("fdb", words...) },
			Transport: func(pod *corev1.Pod) admin.Transport {
				opened, err := g.tool(pod, v1beta2.ContainerMain)
				if err != nil {
					t.Error(err)
				}
				return opened
			},
		}), nil
	}
	return g
}

// modelPod runs the model's tools in a pod.
type modelPod struct {
	g   *given
	pod string
}

func (p modelPod) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	switch c.Argv[0] {
	case "cat":
		return admin.Result{Stdout: []byte(p.g.cluster.Resource.Status.ConnectionString + "\n")}, nil
	case "ls":
		return admin.Result{Stdout: []byte("trace.10.1.0.1.4501.xml\n")}, nil
	case "tail":
		return admin.Result{Stdout: []byte(`<Event Type="ProcessMetrics" KeyBegin="private-key-of-a-user" />` + "\n")}, nil
	}
	var stdout, stderr bytes.Buffer
	code := fdbsim.Of(p.g.cluster.FDB).RunCommand(ctx, c.Argv, p.tool(c.Stdin, &stdout, &stderr))
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: code}, nil
}

func (p modelPod) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	return admintest.Serve(ctx, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		return fdbsim.Of(p.g.cluster.FDB).RunCommand(ctx, c.Argv, p.tool(stdin, stdout, stderr))
	}), nil
}

func (p modelPod) tool(stdin io.Reader, stdout, stderr io.Writer) fdbsim.Tool {
	return fdbsim.Tool{Version: "7.3.79", Files: modelFiles{p.g}, Stdin: stdin, Stdout: stdout, Stderr: stderr}
}

// modelFiles are the cluster files of a pod.
type modelFiles struct{ g *given }

func (f modelFiles) ReadFile(name string) ([]byte, error) {
	if name != admin.LiveClusterFile {
		return nil, fmt.Errorf("no file %s", name)
	}
	return []byte(f.g.cluster.Resource.Status.ConnectionString), nil
}

func (modelFiles) WriteFile(string, []byte) error { return nil }

func (modelFiles) Writable(string) bool { return false }

// dumped writes a dump of the cluster and returns its path.
func (g *given) dumped(flags ...string) string {
	g.t.Helper()
	path := filepath.Join(g.t.TempDir(), "sample.tar.zst")
	if code := g.run(append([]string{"dump", "sample", "-f", path, "--duration", "0"}, flags...)...); code != exit.ExitDone {
		g.t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	return path
}

// viewsOfDumps are a command line for every command that can read a dump.
func viewsOfDumps(g *given) []string {
	storage := ""
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == "storage" {
			storage = string(group.ProcessGroupID)
		}
	}
	return []string{
		"status sample", "status", "status -o wide", "status --sections fault-tolerance,coordinators", "describe sample", "describe process-group sample " + storage, "describe sample --tree",
		"why sample", "why sample --performance", "why sample " + storage, "top sample", "top processes sample", "top processes sample --class storage -o wide", "check sample", "plan sample", "plan sample --forecast=false", "events sample", "history sample",
		"get clients sample", "get clusters", "get configuration sample", "get coordinators sample", "get exclusions sample", "get locks sample",
		"get nodes sample", "get process-groups sample", "get process-groups sample -o wide", "get processes sample",
		"can delete sample " + storage, "can drain " + g.cluster.Nodes[0] + " -c sample", "can reconcile sample", "can replace sample " + storage, "can restart sample " + storage, "can upgrade sample --to 7.3.80",
		"exclusion status sample", "connection-string drift sample",
		"maintenance status sample", "operations list", "backup list", "version",
		"status missing",
	}
}

// frozen makes every command read the same answers at the same time, as long as the model of the
// database moves with each program that is run.
func (g *given) frozen() {
	g.t.Helper()
	g.cluster.Tick(5 * time.Minute)
	g.now = clocktesting.NewFakeClock(g.cluster.Now())
	answers := &dumps.Runs{Dump: dumps.New(), Live: func(_, pod, _ string) (admin.Transport, error) { return modelPod{g, pod}, nil }}
	g.tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		return answers.In(pod.Namespace, pod.Name, container), nil
	}
}

func TestCommandsOnADumpPrintTheSameAsOnTheCluster(t *testing.T) {
	g := dumpable(t)
	g.frozen()
	g.server = serverOfVersion(t)
	type result struct {
		Code     int
		Out, Err string
	}
	run := func(line string, more ...string) result {
		code := g.run(append(strings.Fields(line), more...)...)
		return result{code, g.out.String(), g.err.String()}
	}
	live := map[string]result{}
	for _, line := range viewsOfDumps(g) {
		live[line] = run(line)
		live[line+" -o json"] = run(line, "-o", "json")
	}
	path := g.dumped()
	id, pseudonym := connectionID(t, g.cluster.Resource.Status.ConnectionString), pseudonymIn(t, path)
	g.connect, g.tool, g.objects, g.cluster.Resource, g.now, g.server = nil, nil, nil, nil, nil, "" // nothing but the dump can answer
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
	g := newGiven(t)
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "AWS_SECRET_ACCESS_KEY", Value: "hunter2template"}}}}}}
	g.cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: template}}
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	readable(g).frozen()
	type result struct {
		Code int
		Out  string
	}
	want := map[string]result{}
	for _, line := range []string{"plan sample", "why sample", "status sample", "check sample", "get process-groups sample"} {
		code := g.run(strings.Fields(line)...)
		want[line] = result{code, strings.ReplaceAll(g.out.String(), "hunter2template", "REDACTED")}
	}
	path := g.dumped()
	text, err := json.Marshal(dumpAt(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("hunter2template")) {
		t.Error("the dump contains the secret")
	}
	g.connect, g.tool, g.objects, g.cluster.Resource, g.now = nil, nil, nil, nil, nil
	for line, want := range want {
		code := g.run(append(strings.Fields(line), "--from", path)...)
		if diff := cmp.Diff(want, result{code, g.out.String()}); diff != "" {
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

func connectionID(t *testing.T, text string) string {
	t.Helper()
	c, err := fdb.ParseConnectionString(text)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// pseudonymIn returns the ID in the connection string of a dump.
func pseudonymIn(t *testing.T, path string) string {
	t.Helper()
	for _, l := range dumpAt(t, path).Lists {
		if l.Resource == "foundationdbclusters" {
			c := &session.Cluster{}
			if err := json.Unmarshal(l.Items[0], c); err != nil {
				t.Fatal(err)
			}
			return connectionID(t, c.Status.ConnectionString)
		}
	}
	t.Fatal("the dump has no cluster")
	return ""
}

func dumpAt(t *testing.T, path string) *dumps.Dump {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d, err := dumps.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDumpCommandWritesNoClusterSecret(t *testing.T) {
	g := dumpable(t)
	id := connectionID(t, g.cluster.Resource.Status.ConnectionString)
	text, err := json.Marshal(dumpAt(t, g.dumped()))
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
