package admin_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
)

// TestRealDatabaseConforms runs the conformance suite against a real database: that
// of FDB_CLUSTER_FILE, through the fdbcli of FDBCLI or of the path. It changes that
// database, so FDB_CONFORMANCE has to say "scratch".
func TestRealDatabaseConforms(t *testing.T) {
	clusterFile, scratch := os.Getenv("FDB_CLUSTER_FILE"), os.Getenv("FDB_CONFORMANCE")
	binary := os.Getenv("FDBCLI")
	if binary == "" {
		binary, _ = exec.LookPath("fdbcli") // not found is handled below
	}
	if clusterFile == "" || binary == "" || scratch != "scratch" {
		t.Skipf("NOT RUN: the conformance suite on a real database needs FDB_CLUSTER_FILE (%q), an fdbcli (%q) and FDB_CONFORMANCE=scratch (%q)",
			clusterFile, binary, scratch)
	}
	admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
		t.Helper()
		cli := admin.NewFDBCLI(admin.LocalExec{}, admin.FDBCLIOptions{
			Binaries: []string{binary}, ClusterFiles: []string{clusterFile},
		})
		return cli, cli
	})
}
