package admin_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
)

// simulated runs fdbcli against a simulated FoundationDB in this process, by the same
// command lines that a pod would get.
type simulated struct {
	cluster *fdbsim.Simulation
	files   *simulatedFiles
}

func (s simulated) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	var stdout, stderr bytes.Buffer
	exitCode := s.cluster.RunCommand(ctx, admin.Wrapped(c), fdbsim.Tool{
		Version: "7.3.79", Files: s.files, Stdin: c.Stdin, Stdout: &stdout, Stderr: &stderr,
	})
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exitCode}, nil
}

func (s simulated) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	return admintest.Serve(ctx, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		return s.cluster.RunCommand(ctx, admin.Wrapped(c), fdbsim.Tool{
			Version: "7.3.79", Files: s.files, Stdin: stdin, Stdout: stdout, Stderr: stderr,
		})
	}), nil
}

// simulatedFiles are the files of a pod.
type simulatedFiles struct {
	mu       sync.Mutex
	contents map[string]string
}

func (f *simulatedFiles) ReadFile(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, ok := f.contents[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (f *simulatedFiles) WriteFile(name string, content []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.contents[name] = string(content)
	return nil
}

func (f *simulatedFiles) Writable(string) bool { return true }

type simulatedFile struct {
	files *simulatedFiles
	name  string
}

func (f simulatedFile) Read() ([]byte, error)      { return f.files.ReadFile(f.name) }
func (f simulatedFile) Write(content []byte) error { return f.files.WriteFile(f.name, content) }

// simulatedClock shows the simulation's time, and passes it instead of waiting.
type simulatedClock struct {
	clock.Clock
	cluster *fdbsim.Simulation
}

func (c simulatedClock) Now() time.Time                  { return c.cluster.Now() }
func (c simulatedClock) Since(t time.Time) time.Duration { return c.cluster.Now().Sub(t) }

func (c simulatedClock) NewTimer(d time.Duration) clock.Timer {
	c.cluster.Advance(d)
	fake := clocktesting.NewFakeClock(c.cluster.Now())
	timer := fake.NewTimer(d)
	fake.Step(d)
	return timer
}

// newSimulation is a simulated cluster that was never configured, and the files of its pods.
func newSimulation(t *testing.T) (*fdbsim.Simulation, *simulatedFiles) {
	t.Helper()
	cluster := fdbsim.NewSimulation(fdbsim.Options{Seed: 1})
	cluster.AutoAdvance()
	const connection = "sample_cluster:abcdefgh@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501\n"
	files := &simulatedFiles{contents: map[string]string{
		admin.LiveClusterFile: connection, admin.SeedClusterFile: connection,
	}}
	for i, class := range []string{"log", "log", "log", "storage", "storage", "storage", "storage", "stateless", "stateless", "stateless"} {
		name, address := fmt.Sprintf("%s-%d", class, i+1), fmt.Sprintf("10.1.0.%d:4501", i+1)
		_, err := cluster.StartServer(fdbsim.Server{
			Args: []string{
				"/usr/bin/fdbserver", "--class=" + class, "--cluster_file=" + admin.LiveClusterFile, "--datadir=/var/fdb/data/" + name,
				"--listen_address=" + address, "--locality_instance_id=" + name, "--locality_machineid=" + name,
				"--locality_zoneid=" + name, "--logdir=/var/log/fdb-trace-logs", "--loggroup=sample-cluster",
				"--public_address=" + address, "--seed_cluster_file=" + admin.SeedClusterFile,
			},
			Version: "7.3.79", DataKey: name,
			ClusterFile:  simulatedFile{files, admin.LiveClusterFile},
			Seed:         simulatedFile{files, admin.SeedClusterFile},
			RestartDelay: 300 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cluster.Advance(20 * time.Second)
	return cluster, files
}

func newSimulatedCLI(cluster *fdbsim.Simulation, transport admin.Transport) *admin.FDBCLI {
	return admin.NewFDBCLI(transport, admin.FDBCLIOptions{
		Clock:  simulatedClock{clock.RealClock{}, cluster},
		Jitter: func(d time.Duration) time.Duration { return d },
	})
}

// newSimulated is a simulated cluster that was never configured, and its client.
func newSimulated(t *testing.T) (*fdbsim.Simulation, *admin.FDBCLI) {
	t.Helper()
	cluster, files := newSimulation(t)
	return cluster, newSimulatedCLI(cluster, simulated{cluster, files})
}

// newDatabase is a simulated database that is up.
func newDatabase(t *testing.T) (*fdbsim.Simulation, *admin.FDBCLI) {
	t.Helper()
	cluster, cli := newSimulated(t)
	if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(5 * time.Minute)
	return cluster, cli
}

func TestSimulatedDatabaseConforms(t *testing.T) {
	admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
		t.Helper()
		_, cli := newDatabase(t)
		return cli, cli
	})
}

func TestASimulatedDatabaseBecomesAvailableAfterConfigure(t *testing.T) {
	cluster, cli := newSimulated(t)
	before, err := cli.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !before.NeverConfigured() || before.Available() {
		t.Errorf("before: never configured %v, available %v", before.NeverConfigured(), before.Available())
	}
	if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(5 * time.Minute)
	after, err := cli.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.NeverConfigured() || !after.Available() || !after.FullyRecovered() || !after.DataHealthy() {
		t.Errorf("after: %+v, recovered %v, data healthy %v", after.Client.DatabaseStatus, after.FullyRecovered(), after.DataHealthy())
	}
}

func TestSimulatedProcessesAreKilledAndCoordinatorsMoved(t *testing.T) {
	_, cli := newDatabase(t)
	victims := []fdb.Address{{Host: "10.1.0.1", Port: 4501}, {Host: "10.1.0.8", Port: 4501}}
	if err := cli.Kill(t.Context(), victims); err != nil {
		t.Error(err)
	}
	moved := []fdb.Address{{Host: "10.1.0.4", Port: 4501}, {Host: "10.1.0.5", Port: 4501}, {Host: "10.1.0.1", Port: 4501}}
	before, err := cli.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, err := cli.ChangeCoordinators(t.Context(), moved)
	if err != nil {
		t.Fatal(err)
	}
	if !after.SameCoordinators(moved) || after.ID == before.ID {
		t.Errorf("got %s, before %s", after, before)
	}
}
