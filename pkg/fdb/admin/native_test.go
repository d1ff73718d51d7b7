//go:build fdb_native && cgo

package admin_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
)

// TestNativeConforms runs the conformance suite through FoundationDB's own client
// library, with fdbcli for what that offers no call for. It changes the database.
func TestNativeConforms(t *testing.T) {
	clusterFile, scratch := os.Getenv("FDB_CLUSTER_FILE"), os.Getenv("FDB_CONFORMANCE")
	binary := os.Getenv("FDBCLI")
	if binary == "" {
		binary, _ = exec.LookPath("fdbcli") // not found is handled below
	}
	if clusterFile == "" || binary == "" || scratch != "scratch" {
		t.Skipf("NOT RUN: the conformance suite of the native bindings needs FDB_CLUSTER_FILE (%q), an fdbcli (%q) and FDB_CONFORMANCE=scratch (%q)",
			clusterFile, binary, scratch)
	}
	native, err := admin.OpenNative(clusterFile)
	if err != nil {
		t.Fatal(err)
	}
	admintest.Conformance(t, func(t *testing.T) (admin.Admin, admin.KV) {
		t.Helper()
		cli := admin.NewFDBCLI(admin.LocalExec{}, admin.FDBCLIOptions{Binaries: []string{binary}, ClusterFiles: []string{clusterFile}})
		return admin.NativeAdmin{Admin: cli, Native: native}, native
	})
}
