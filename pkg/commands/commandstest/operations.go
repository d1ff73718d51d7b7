package commandstest

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// History returns what `history` shows.
func (g *Given) History(args ...string) inspect.HistoryView {
	g.T.Helper()
	if code := g.Run(append([]string{"history", "sample", "-o", "json"}, args...)...); code != exit.ExitDone {
		g.T.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	var v inspect.HistoryView
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		g.T.Fatal(err)
	}
	return v
}

// AppendAudit appends a line to the audit file.
func (g *Given) AppendAudit(line string) {
	g.T.Helper()
	file, err := os.OpenFile(g.AuditFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		g.T.Fatal(err)
	}
	if _, err := file.WriteString(line + "\n"); err != nil {
		g.T.Fatal(err)
	}
	if err := file.Close(); err != nil {
		g.T.Fatal(err)
	}
}

// LeaseKey is the Lease of the cluster.
var LeaseKey = types.NamespacedName{Namespace: "fdb", Name: live.LeaseName("sample")}

// RunOn runs a command whose requests all reach the same API server.
func (g *Given) RunOn(c client.Client, args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	env := g.Environment()
	env.Client = func() (client.Client, error) { return c, nil }
	code := commands.Run(g.T.Context(), env, args)
	if commands.JSONRequested(args) {
		Valid(g.T, strings.Join(args, " "), g.Out.Bytes())
	}
	return code
}

// EndsAfter ends the operation at the nth wait of a command.
func (g *Given) EndsAfter(c client.Client, n int) {
	g.Clock.OnTimer = func(time.Duration) bool {
		if n--; n == 0 {
			lease := &coordinationv1.Lease{}
			if err := c.Get(g.T.Context(), LeaseKey, lease); err != nil {
				g.T.Error(err)
			}
			lease.Annotations = nil
			if err := c.Update(g.T.Context(), lease); err != nil {
				g.T.Error(err)
			}
		}
		return false
	}
}
