package commandstest

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
)

// AuditFile is where the lines of a run are.
func (g *Given) AuditFile() string {
	return filepath.Join(g.Env["XDG_STATE_HOME"], "kubectl-fdb", "audit.jsonl")
}

// Audited are the lines of the audit file.
func (g *Given) Audited() []audit.Entry {
	g.T.Helper()
	file, err := os.Open(g.AuditFile())
	if err != nil {
		g.T.Fatal(err)
	}
	defer file.Close()
	var entries []audit.Entry
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e audit.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			g.T.Fatalf("%s: %v", lines.Text(), err)
		}
		entries = append(entries, e)
	}
	return entries
}

// Unwritable makes the audit file one that exists and takes no line.
func (g *Given) Unwritable() {
	g.T.Helper()
	if err := os.RemoveAll(g.AuditFile()); err != nil {
		g.T.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(g.AuditFile(), "in the way"), 0o700); err != nil {
		g.T.Fatal(err)
	}
}
