package commandstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
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

// Dumpable is a reconciled cluster that commands read through a Kubernetes client and fdbcli in pods,
// as they do outside of tests.
func Dumpable(t *testing.T) *Given {
	t.Helper()
	return Readable(Up(t))
}

// Readable makes what the simulation has readable through a Kubernetes client and fdbcli in pods.
func Readable(g *Given) *Given {
	t := g.T
	t.Helper()
	g.Objects = append(g.Objects, g.Cluster.ConfigMap)
	for _, o := range g.Cluster.Pods {
		g.Objects = append(g.Objects, o)
	}
	for _, o := range g.Cluster.Volumes {
		g.Objects = append(g.Objects, o)
	}
	for _, o := range g.Cluster.Services {
		g.Objects = append(g.Objects, o)
	}
	g.Tool = func(pod *corev1.Pod, _ string) (admin.Transport, error) { return modelPod{g, pod.Name}, nil }
	g.Logs = func(_ context.Context, _, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("started " + pod + " " + o.Container + " with password: hunter2logged\n")), nil
	}
	g.Connect = func() (session.Session, error) {
		return live.New(live.Options{
			Client: g.Client(), Key: types.NamespacedName{Namespace: "fdb", Name: "sample"}, Clock: g.theClock(), Holder: "me@here pid 1",
			Nonce:   func() string { return "nonce" },
			Command: func(words ...string) string { return g.Environment().KubectlIn("fdb", words...) },
			Transport: func(pod *corev1.Pod) admin.Transport {
				opened, err := g.Tool(pod, v1beta2.ContainerMain)
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
	g   *Given
	pod string
}

func (p modelPod) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	switch c.Argv[0] {
	case "cat":
		return admin.Result{Stdout: []byte(p.g.Cluster.Resource.Status.ConnectionString + "\n")}, nil
	case "ls":
		return admin.Result{Stdout: []byte("trace.10.1.0.1.4501.xml\n")}, nil
	case "tail":
		return admin.Result{Stdout: []byte(`<Event Type="ProcessMetrics" KeyBegin="private-key-of-a-user" />` + "\n")}, nil
	}
	var stdout, stderr bytes.Buffer
	code := fdbsim.Of(p.g.Cluster.FDB).RunCommand(ctx, c.Argv, p.tool(c.Stdin, &stdout, &stderr))
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: code}, nil
}

func (p modelPod) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	return admintest.Serve(ctx, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		return fdbsim.Of(p.g.Cluster.FDB).RunCommand(ctx, c.Argv, p.tool(stdin, stdout, stderr))
	}), nil
}

func (p modelPod) tool(stdin io.Reader, stdout, stderr io.Writer) fdbsim.Tool {
	return fdbsim.Tool{Version: "7.3.79", Files: modelFiles{p.g}, Stdin: stdin, Stdout: stdout, Stderr: stderr}
}

// modelFiles are the cluster files of a pod.
type modelFiles struct{ g *Given }

func (f modelFiles) ReadFile(name string) ([]byte, error) {
	if name != admin.LiveClusterFile {
		return nil, fmt.Errorf("no file %s", name)
	}
	return []byte(f.g.Cluster.Resource.Status.ConnectionString), nil
}

func (modelFiles) WriteFile(string, []byte) error { return nil }

func (modelFiles) Writable(string) bool { return false }

// Dumped writes a dump of the cluster and returns its path.
func (g *Given) Dumped(flags ...string) string {
	g.T.Helper()
	path := filepath.Join(g.T.TempDir(), "sample.tar.zst")
	if code := g.Run(append([]string{"dump", "sample", "-f", path, "--duration", "0"}, flags...)...); code != exit.ExitDone {
		g.T.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return path
}

// ViewsOfDumps are a command line for every command that can read a dump.
func ViewsOfDumps(g *Given) []string {
	storage := ""
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == "storage" {
			storage = string(group.ProcessGroupID)
		}
	}
	return []string{
		"status sample", "status", "status -o wide", "status --sections fault-tolerance,coordinators", "describe sample", "describe process-group sample " + storage, "describe sample --tree",
		"why sample", "why sample --performance", "why sample " + storage, "top sample", "top processes sample", "top processes sample --class storage -o wide", "check sample", "plan sample", "plan sample --forecast=false", "events sample", "history sample",
		"get clients sample", "get clusters", "get configuration sample", "get coordinators sample", "get exclusions sample", "get locks sample",
		"get nodes sample", "get process-groups sample", "get process-groups sample -o wide", "get processes sample",
		"can delete sample " + storage, "can drain " + g.Cluster.Nodes[0] + " -c sample", "can reconcile sample", "can replace sample " + storage, "can restart sample " + storage, "can upgrade sample --to 7.3.80",
		"exclusion status sample", "connection-string drift sample",
		"maintenance status sample", "operations list", "backup list", "version",
		"status missing",
	}
}

// Frozen makes every command read the same answers at the same time, as long as the model of the
// database moves with each program that is run.
func (g *Given) Frozen() {
	g.T.Helper()
	g.Cluster.Tick(5 * time.Minute)
	g.Now = clocktesting.NewFakeClock(g.Cluster.Now())
	answers := &dumps.Runs{Dump: dumps.New(), Live: func(_, pod, _ string) (admin.Transport, error) { return modelPod{g, pod}, nil }}
	g.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		return answers.In(pod.Namespace, pod.Name, container), nil
	}
}

// ConnectionID returns the ID of a connection string.
func ConnectionID(t *testing.T, text string) string {
	t.Helper()
	c, err := fdb.ParseConnectionString(text)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// DumpAt reads a dump.
func DumpAt(t *testing.T, path string) *dumps.Dump {
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

// Leaves returns all commands that do something, by name.
func Leaves(root *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			all[strings.TrimPrefix(c.CommandPath(), "kubectl fdb ")] = c
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
	return all
}
