package admin_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// upgrading is a pod whose main container is of the old version and whose sidecar has
// copied the binaries of the new one. Servers that end start in the new version.
type upgrading struct {
	simulated

	restart func()
}

const copiedBinaries = "/var/fdb/shared-binaries/bin/"

func (u upgrading) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	var stdout, stderr bytes.Buffer
	version := "7.3.79"
	if strings.Contains(strings.Join(c.Argv, " "), copiedBinaries+"7.4.6/") {
		version = "7.4.6"
	}
	exitCode := u.cluster.RunCommand(ctx, admin.Wrapped(c), fdbsim.Tool{
		Version: version, Files: u.files, Stdin: c.Stdin, Stdout: &stdout, Stderr: &stderr,
	})
	if strings.Contains(strings.Join(c.Argv, " "), "sleep 1") {
		u.restart()
		u.cluster.Advance(20 * time.Second)
	}
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exitCode}, nil
}

// upgradable is a database of eight processes that stay down when they are killed until
// restart starts them in another version.
func upgradable(t *testing.T) (cli *admin.FDBCLI, addresses []fdb.Address) {
	t.Helper()
	cluster := fdbsim.NewSimulation(fdbsim.Options{Seed: 1})
	cluster.AutoAdvance()
	const connection = "sample_cluster:abcdefgh@10.1.0.1:4501,10.1.0.2:4501,10.1.0.3:4501\n"
	files := &simulatedFiles{contents: map[string]string{admin.LiveClusterFile: connection, admin.SeedClusterFile: connection}}
	start := func(version string) {
		for i, class := range []string{"log", "log", "log", "storage", "storage", "storage", "stateless", "stateless"} {
			name, address := fmt.Sprintf("%s-%d", class, i+1), fmt.Sprintf("10.1.0.%d:4501", i+1)
			_, err := cluster.StartServer(fdbsim.Server{
				Args: []string{
					"/usr/bin/fdbserver", "--class=" + class, "--cluster_file=" + admin.LiveClusterFile, "--seed_cluster_file=" + admin.SeedClusterFile, "--datadir=/var/fdb/data/" + name, "--locality_instance_id=" + name,
					"--locality_zoneid=" + name, "--public_address=" + address, "--listen_address=" + address,
				},
				Version: version, DataKey: name,
				ClusterFile: simulatedFile{files, admin.LiveClusterFile}, Seed: simulatedFile{files, admin.SeedClusterFile},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	start("7.3.79")
	cluster.Advance(20 * time.Second)
	cli = admin.NewFDBCLI(upgrading{simulated{cluster, files}, func() { start("7.4.6") }}, admin.FDBCLIOptions{
		Clock:    simulatedClock{clock.RealClock{}, cluster},
		Binaries: admin.BinariesFor(fdb.Version{Major: 7, Minor: 3, Patch: 79}, fdb.Version{Major: 7, Minor: 4, Patch: 6}),
	})
	if err := cli.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(5 * time.Minute)
	for i := range 8 {
		addresses = append(addresses, fdb.Address{Host: fmt.Sprintf("10.1.0.%d", i+1), Port: 4501})
	}
	return cli, addresses
}

func TestAfterAnUpgradeTheNewFdbcliIsUsed(t *testing.T) {
	cli, addresses := upgradable(t)
	if err := cli.KillForUpgrade(t.Context(), addresses); err != nil {
		t.Fatal(err)
	}
	status, err := cli.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range status.ProcessList() {
		if p.Version != "7.4.6" {
			t.Errorf("%s runs %s", p.Address, p.Version)
		}
	}
	if want := copiedBinaries + "7.4.6/fdbcli"; cli.Binary() != want {
		t.Errorf("asks through %s, want %s", cli.Binary(), want)
	}
	if v, err := cli.Version(t.Context()); err != nil || v.String() != "7.4.6" {
		t.Errorf("client version %s (%v)", v, err)
	}
}

// Servers of two protocols cannot work together, so all of them restart or none does.
func TestAnUpgradeKillsNoProcessIfOneIsUnreachable(t *testing.T) {
	cli, addresses := upgradable(t)
	err := cli.KillForUpgrade(t.Context(), append(addresses, fdb.Address{Host: "10.1.0.99", Port: 4501}))
	if admin.KindOf(err) != admin.KindRefused || !strings.Contains(err.Error(), "10.1.0.99:4501") {
		t.Errorf("got %v", err)
	}
	status, err := cli.Status(t.Context())
	if err != nil || len(status.ProcessList()) != len(addresses) {
		t.Fatalf("%v", err)
	}
	for _, p := range status.ProcessList() {
		if p.Version != "7.3.79" {
			t.Errorf("%s was restarted", p.Address)
		}
	}
}
