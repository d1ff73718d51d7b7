package dashboard_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// looks are commands that only look, in the order in which a terminal runs them.
func looks(g *commandstest.Given) [][]string {
	storage := string(g.Cluster.Resource.Status.ProcessGroups[len(g.Cluster.Resource.Status.ProcessGroups)-1].ProcessGroupID)
	return [][]string{
		{"status", "sample"},
		{"status", "-A"},
		{"get", "clients", "sample"},
		{"get", "clusters"},
		{"get", "configuration", "sample"},
		{"get", "coordinators", "sample"},
		{"get", "exclusions", "sample"},
		{"get", "locks", "sample"},
		{"get", "nodes", "sample"},
		{"get", "process-groups", "sample", "-o", "wide"},
		{"get", "processes", "sample"},
		{"describe", "sample"},
		{"describe", "process-group", "sample", storage},
		{"why", "sample"},
		{"check", "sample"},
		{"events", "sample"},
		{"can", "delete", "sample", storage},
		{"can", "drain", "node-1", "-c", "sample"},
		{"can", "reconcile", "sample"},
		{"can", "replace", "sample", storage},
		{"can", "restart", "sample", "--class", "storage"},
		{"can", "upgrade", "sample", "--to", "7.3.80"},
		{"exclusion", "status", "sample"},
		{"connection-string", "show", "sample"},
		{"connection-string", "drift", "sample"},
		{"maintenance", "status", "sample"},
		{"plan", "sample"},
		{"wait", "sample", "--for", "reconciled"},
	}
}

// terminal is how a user runs the program.
type terminal struct {
	env map[string]string
	// is true where stdout and stderr are a terminal, and not a file or a pipe.
	is bool
}

// shown is the output of all read-only commands, one after the other, on a constant cluster
// state.
func (tm terminal) shown(t *testing.T) []string {
	t.Helper()
	g := commandstest.Up(t)
	var all []string
	for _, args := range looks(g) {
		g.Out.Reset()
		g.Err.Reset()
		env := g.Environment()
		env.Getenv = func(name string) string { return tm.env[name] }
		env.IsTerminal = func(any) bool { return tm.is }
		code := commands.Run(t.Context(), env, args) // stdin is empty, as </dev/null is
		if code == exit.ExitUsage || g.Out.Len()+g.Err.Len() == 0 {
			t.Fatalf("%s shows nothing: exit code %d: %s", strings.Join(args, " "), code, &g.Err)
		}
		all = append(all, strings.Join(args, " ")+"\n"+strings.Repeat("!", code)+g.Out.String()+g.Err.String())
	}
	return all
}

var color = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A pipe, a terminal without colors, with 80 columns or without capabilities shows the same
// content.
func TestOutputContentIsTheSameWithoutColorsOrTerminal(t *testing.T) {
	best := terminal{env: map[string]string{"TERM": "xterm-256color", "COLUMNS": "200"}, is: true}.shown(t)
	if !color.MatchString(best[0]) {
		t.Fatalf("nothing is colored where it could be: %q", best[0])
	}
	tests := map[string]terminal{
		"a pipe":                         {env: map[string]string{"TERM": "xterm-256color"}},
		"NO_COLOR":                       {env: map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}, is: true},
		"a dumb terminal":                {env: map[string]string{"TERM": "dumb"}, is: true},
		"80 columns":                     {env: map[string]string{"TERM": "xterm-256color", "COLUMNS": "80"}, is: true},
		"nothing in the environment":     {is: true},
		"a pipe, and nothing is printed": {},
	}
	for name, tm := range tests {
		t.Run(name, func(t *testing.T) {
			for i, got := range tm.shown(t) {
				if diff := cmp.Diff(color.ReplaceAllString(best[i], ""), color.ReplaceAllString(got, "")); diff != "" {
					t.Errorf("shows something else (-best +here):\n%s", diff)
				}
				if colored := color.MatchString(got); colored && (!tm.is || tm.env["NO_COLOR"] != "" || tm.env["TERM"] == "dumb") {
					t.Errorf("colored: %q", got)
				}
			}
		})
	}
}
