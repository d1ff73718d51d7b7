// Package simtest types command lines in a simulated cluster. The simulation itself knows none.
package simtest

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// Type runs commands of fdbcli as a user with a shell in a pod would.
func Type(w *sim.Cluster, script string) (string, error) {
	program, err := w.Client()
	if err != nil {
		return "", fmt.Errorf("run fdbcli: %w", err)
	}
	var out, errOut bytes.Buffer
	code := fdbsim.Of(w.FDB).RunTool(context.Background(), fdbsim.Tool{
		Name: "fdbcli", Version: program.Version, Host: program.Host, Files: program.Files, Stdout: &out, Stderr: &errOut,
		Env: map[string]string{
			v1beta2.EnvTLSCertificateFile: program.TLS.Certificate, v1beta2.EnvTLSKeyFile: program.TLS.Key, v1beta2.EnvTLSCAFile: program.TLS.Authorities,
		},
		Args: []string{"-C", program.ClusterFile, "--timeout", strconv.Itoa(int(program.Timeout.Seconds())), "--exec", script},
	})
	if code != 0 {
		return "", fmt.Errorf("fdbcli %s: exit code %d: %s%s", script, code, out.String(), errOut.String())
	}
	return out.String(), nil
}

// Run is Type for those who do not need its output.
func Run(w *sim.Cluster, script string) error {
	_, err := Type(w, script)
	return err
}
