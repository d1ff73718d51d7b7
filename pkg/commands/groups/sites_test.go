package groups_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestProcessGroupsOfAllSitesAreOneList(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	over := func(more ...string) []string {
		return append([]string{"get", "pg", "--contexts", "dc1,dc2"}, more...)
	}
	if code := g.Run(over("--class", "log")...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	for _, row := range []string{"SITE ", "dc1    fdb/sample-dc1   dc1-log-", "dc2    fdb/sample-dc2   dc2-log-"} {
		if !strings.Contains(g.Out.String(), row) {
			t.Errorf("no %q:\n%s", row, &g.Out)
		}
	}
	g.Sites["dc1"].Down = commandstest.Refused("dc1.example:6443")
	if code := g.Run(over()...); code != exit.ExitUnreachable || !strings.Contains(g.Err.String(), "warning: site dc1 could not be read: ") || strings.Contains(g.Out.String(), "dc1-") {
		t.Errorf("unread: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if g.Run(over("-o", "json")...); !strings.Contains(g.Out.String(), `"unread": [`) || !strings.Contains(g.Out.String(), `"site": "dc2"`) {
		t.Errorf("JSON: %s", &g.Out)
	}
	for _, args := range [][]string{over("sample-dc1", "dc1-log-1"), over("--process-group", "dc1-log-1"), over("-A")} {
		if code := g.Run(args...); code != exit.ExitUsage {
			t.Errorf("%v: exit code %d: %s", args, code, &g.Err)
		}
	}
}
