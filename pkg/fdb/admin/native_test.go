//go:build fdb_native && cgo

package admin_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
)

// realFiles are the files of this machine, as the client library sees them.
type realFiles struct{}

func (realFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }
func (realFiles) WriteFile(name string, content []byte) error {
	return os.WriteFile(name, content, 0o600)
}
func (realFiles) Writable(string) bool { return true }

// serve serves the model to the client library that this test links, which
// internal/fdbsim/libfdb_c has, and returns the cluster file.
func serve(t *testing.T, simulation *fdbsim.Simulation, connection string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fdb") //nolint:usetesting // the path of a socket has at most 107 bytes, and t.TempDir the name of the test
	if err != nil {
		t.Fatal(err)
	}
	clusterFile := filepath.Join(dir, "fdb.cluster")
	if err := os.WriteFile(clusterFile, []byte(connection), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", clusterFile+".sock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context())) // cleanups of the test use it too
	t.Cleanup(func() {
		end()
		_ = listener.Close()
		_ = os.RemoveAll(dir)
	})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if err := fdbsim.ServeClient(ctx, func(string) *fdbsim.Simulation { return simulation }, "7.3.79", realFiles{}, c); err != nil && ctx.Err() == nil {
					t.Errorf("serving the client library: %v", err)
				}
			}()
		}
	}()
	return clusterFile
}

// newNative is a simulated database that is up, with a native client and fdbcli.
func newNative(t *testing.T) (*fdbsim.Simulation, *admin.LibraryClient, *admin.FDBCLI) {
	t.Helper()
	simulation, _, cli := newDatabaseFor(t)
	connection, err := cli.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	native, err := admin.OpenNative(serve(t, simulation, connection.String()))
	if err != nil {
		t.Fatal(err)
	}
	return simulation, native, cli
}

// TestTheNativeClientPassesTheConformanceSuite runs the conformance suite through the Go bindings and the C interface
// of the client library, on the model.
func TestTheNativeClientPassesTheConformanceSuite(t *testing.T) {
	admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
		t.Helper()
		simulation, _, cli := newDatabaseFor(t)
		connection, err := cli.ConnectionString(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o := direct.Options{
			Transport: direct.Auto, ClusterFile: serve(t, simulation, connection.String()),
			Open:    func(clusterFile string) (admin.Client, error) { return admin.OpenNative(clusterFile) },
			GivenUp: func(cause error) { t.Errorf("the native transport was given up: %v", cause) },
		}
		c := chosen(t, o, nil, cli)
		return c, c
	})
}

func TestNativeKillsProcesses(t *testing.T) {
	simulation, native, _ := newNative(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // the native client waits in real time
		for ctx.Err() == nil {
			simulation.Advance(time.Second)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if err := native.Kill(t.Context(), []fdb.Address{{Host: "10.1.0.1", Port: 4501}}); err != nil {
		t.Error(err)
	}
}

func TestNativeClientChangesCoordinators(t *testing.T) {
	_, native, cli := newNative(t)
	moved := []fdb.Address{{Host: "10.1.0.4", Port: 4501}, {Host: "10.1.0.5", Port: 4501}, {Host: "10.1.0.1", Port: 4501}}
	after, err := native.ChangeCoordinators(t.Context(), moved)
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := cli.ConnectionString(t.Context()); err != nil || seen.String() != after.String() {
		t.Errorf("got %s, fdbcli has %s (%v)", after, seen, err)
	}
}

func TestNativeClientReturnsWhenItsContextEnds(t *testing.T) {
	simulation, files := newSimulation(t) // never configured: its status takes seconds of the model
	connection, err := files.ReadFile(admin.LiveClusterFile)
	if err != nil {
		t.Fatal(err)
	}
	native, err := admin.OpenNative(serve(t, simulation, string(connection)))
	if err != nil {
		t.Fatal(err)
	}
	simulation.ManualAdvance()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := native.Status(ctx); admin.KindOf(err) != admin.KindTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestNativeNeedsAClusterFile(t *testing.T) {
	if _, err := admin.OpenNative(filepath.Join(t.TempDir(), "none")); admin.KindOf(err) != admin.KindBadClusterFile {
		t.Errorf("got %v", err)
	}
}

// TestRealNativeConforms runs the conformance suite on a real database, through the client
// library and with fdbcli for what that offers no call for. It changes the database.
func TestRealNativeConforms(t *testing.T) {
	clusterFile, scratch := os.Getenv("FDB_CLUSTER_FILE"), os.Getenv("FDB_CONFORMANCE")
	binary := os.Getenv("FDBCLI")
	if binary == "" {
		binary, _ = exec.LookPath("fdbcli") // not found is handled below
	}
	if clusterFile == "" || binary == "" || scratch != "scratch" {
		t.Skipf("NOT RUN: the conformance suite of the native transport on a real database needs FDB_CLUSTER_FILE (%q), an fdbcli (%q) and FDB_CONFORMANCE=scratch (%q)",
			clusterFile, binary, scratch)
	}
	cli := admin.NewFDBCLI(admin.LocalExec{}, admin.FDBCLIOptions{Binaries: []string{binary}, ClusterFiles: []string{clusterFile}})
	c := chosen(t, direct.Options{
		Transport: direct.Auto, ClusterFile: clusterFile,
		Open:    func(clusterFile string) (admin.Client, error) { return admin.OpenNative(clusterFile) },
		GivenUp: func(cause error) { t.Errorf("the native transport was given up: %v", cause) },
	}, nil, cli)
	admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
		t.Helper()
		return c, c
	})
}
