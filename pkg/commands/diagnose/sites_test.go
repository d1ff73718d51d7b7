package diagnose_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestWhyAndCheckReportEachSiteAndUnreadOnesFirst(t *testing.T) {
	g := commandstest.OverSites(t, "dc1", "dc2")
	tests := map[string]struct {
		args       []string
		all        int // the exit code while all sites are read
		has, first string
	}{
		"why":            {args: []string{"why"}, has: "site dc1: fdb/sample-dc1: ", first: "site dc2: cannot read the cluster: the connection to the server dc2.example:6443 was refused"},
		"why as a table": {args: []string{"why", "-o", "wide"}, has: "site dc1: fdb/sample-dc1 ", first: "CLUSTER "},
		"why as JSON":    {args: []string{"why", "-o", "json"}, has: `"site": "dc1"`, first: "{"},
		"check":          {args: []string{"check"}, has: "fdb/sample-dc1", first: "CLUSTER "},
		"check as JUnit": {args: []string{"check", "-o", "junit"}, has: "sample-dc1", first: "<?xml"},
		"check as SARIF": {args: []string{"check", "-o", "sarif"}, has: "sample-dc1", first: "{"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dc2 := g.Sites["dc2"]
			defer func() { dc2.Down = nil }()
			args := append(tc.args, "--contexts", "dc1,dc2")
			if code := g.Run(args...); code != tc.all || !strings.Contains(g.Out.String()+g.Err.String(), tc.has) && tc.args[0] == "why" {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.all, &g.Out, &g.Err)
			}
			dc2.Down = commandstest.Refused("dc2.example:6443")
			if code := g.Run(args...); code != exit.ExitUnreachable {
				t.Errorf("with an unread site: exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if out := g.Out.String(); !strings.HasPrefix(out, tc.first) || !strings.Contains(out, "dc2.example:6443 was refused") {
				t.Errorf("does not begin with %q, or lacks the reason:\n%s", tc.first, out)
			}
		})
	}
}

func TestWhyAndCheckOverSitesConflictWithOtherScopes(t *testing.T) {
	g := commandstest.OverSites(t, "dc1")
	for _, args := range [][]string{
		{"why", "-A"}, {"why", "--performance"}, {"why", "sample-dc1", "dc1-log-1"}, {"why", "fdbbackup/nightly"}, {"check", "-A"}, {"check", "-f", "x.yaml"},
	} {
		if code := g.Run(append(args, "--contexts", "dc1")...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "conflict") {
			t.Errorf("%v: exit code %d: %s", args, code, &g.Err)
		}
	}
}
