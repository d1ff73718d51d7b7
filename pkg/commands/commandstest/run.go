package commandstest

import (
	"os"
	"path/filepath"
	"testing"
)

// Book writes a runbook with these steps to a file. Its variable is the cluster.
func Book(t *testing.T, steps string) string {
	t.Helper()
	return BookFile(t, "apiVersion: runbook.kubectl-fdb/v1\nkind: Runbook\nmetadata: {name: book}\nvars:\n- {name: cluster, default: sample}\nsteps:\n"+steps)
}

// BookFile writes a runbook.
func BookFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
