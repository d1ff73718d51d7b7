package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A forecast that rests on unread facts promises nothing.
func TestWhatAPlanDoesNotKnowStandsAboveItsChanges(t *testing.T) {
	tests := map[string]struct {
		given func(g *commandstest.Given)
		want  string
	}{
		"what the API server would store": {func(g *commandstest.Given) {
			g.OnStore = func(name string, _ bool) error { return forbidden(name) }
		}, "unknown: what the API server would store was not read: its defaults, conversions and refusals are not in this plan"},
		"a database that is unavailable": {
			func(g *commandstest.Given) { g.Lose(2, false) },
			"unknown: what passes do after the next one: the database status cannot be read",
		},
		"nodes": {
			func(g *commandstest.Given) { g.Cluster.NodesHidden = "cannot list nodes" },
			"unknown: where new pods fit, the forecast assumes all nodes to be there: cannot list nodes",
		},
		"quotas": {func(g *commandstest.Given) {
			g.RulesHidden = forbidden("compute")
		}, "unknown: what quotas and limit ranges have room for: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := readThrough(t)
			tc.given(g)
			code := g.Run("plan", "-f", manifest(t, grown))
			at, changes := strings.Index(g.Out.String(), tc.want), strings.Index(g.Out.String(), "\n+ process groups")
			if code != exit.ExitNo || at < 0 || changes < at || strings.Index(g.Out.String(), "not stored yet") < at {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}
