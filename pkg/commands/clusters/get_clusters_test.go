package clusters_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestGetClustersListsANamespaceOrAll(t *testing.T) {
	g := commandstest.Up(t)
	elsewhere := other()
	elsewhere.Namespace = "elsewhere"
	g.Objects = append(g.Objects, elsewhere)
	tests := map[string]struct {
		args []string
		want []string
		not  string
		code int
	}{
		"those of the namespace": {want: []string{"NAMESPACE", "fdb         sample"}, not: "elsewhere"},
		"those of another":       {args: []string{"-n", "elsewhere"}, want: []string{"elsewhere   other"}, not: "sample"},
		"all":                    {args: []string{"-A"}, want: []string{"elsewhere   other", "fdb         sample"}},
		"their names":            {args: []string{"-o", "name"}, want: []string{"foundationdbcluster/sample\n"}},
		"one field":              {args: []string{"-o", "jsonpath={.items[0].state}"}, want: []string{"healthy"}},
		"an argument":            {args: []string{"sample"}, code: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code := g.Run(append([]string{"get", "clusters"}, tc.args...)...)
			if code != tc.code || (tc.not != "" && strings.Contains(g.Out.String(), tc.not)) {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.code, &g.Out, &g.Err)
			}
			for _, want := range tc.want {
				if !strings.Contains(g.Out.String(), want) {
					t.Errorf("no %q in %s%s", want, &g.Out, &g.Err)
				}
			}
		})
	}
	g.Run("get", "clusters", "-n", "nowhere")
	if !strings.Contains(g.Err.String(), "no FoundationDBCluster found in namespace nowhere") || g.Out.Len() > 0 {
		t.Errorf("an empty namespace: %s%s", &g.Out, &g.Err)
	}
}

// A list is no verdict: scripts that want one use status.
func TestGetClustersSucceedsForAnUnreachableDatabase(t *testing.T) {
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	if code := g.Run("get", "clusters"); code != exit.ExitDone || !strings.Contains(g.Out.String(), "unknown") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
