package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestGetClustersListsANamespaceOrAll(t *testing.T) {
	g := up(t)
	elsewhere := other()
	elsewhere.Namespace = "elsewhere"
	g.objects = append(g.objects, elsewhere)
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
			code := g.run(append([]string{"get", "clusters"}, tc.args...)...)
			if code != tc.code || (tc.not != "" && strings.Contains(g.out.String(), tc.not)) {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.code, &g.out, &g.err)
			}
			for _, want := range tc.want {
				if !strings.Contains(g.out.String(), want) {
					t.Errorf("no %q in %s%s", want, &g.out, &g.err)
				}
			}
		})
	}
	g.run("get", "clusters", "-n", "nowhere")
	if !strings.Contains(g.err.String(), "no FoundationDBCluster found in namespace nowhere") || g.out.Len() > 0 {
		t.Errorf("an empty namespace: %s%s", &g.out, &g.err)
	}
}

// A list is no verdict: scripts that want one use status.
func TestGetClustersSucceedsForAnUnreachableDatabase(t *testing.T) {
	g := up(t)
	g.connect = func() (session.Session, error) { return mute{simulated{g.cluster, g}, nil}, nil }
	if code := g.run("get", "clusters"); code != exit.ExitDone || !strings.Contains(g.out.String(), "unknown") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}
