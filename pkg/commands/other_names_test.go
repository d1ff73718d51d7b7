package commands_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Whoever knows the operator's plugin, or the names of the design, finds the command of the same meaning.
func TestOtherNamesOfCommandsAreAccepted(t *testing.T) {
	g := commandstest.Up(t)
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"analyze --list": {says: "AVAIL-001"},
		"exclusion-status sample -o jsonpath={.kind}":  {says: "ExclusionStatus"},
		"get exclusion-status -o jsonpath={.kind}":     {says: "ExclusionStatus"},
		"-n fdb exclusion-status sample":               {says: "no matching process group of sample is excluded"},
		"--namespace=fdb -q exclusion-status -o name":  {},
		"__complete exclusion-status ":                 {says: "sample"},
		"cordon-by-taint NODE -c sample":               {code: exit.ExitUsage, says: "use --evacuate=now or none"},
		"get pg --process-class storage -o name":       {says: "processgroup/storage-"},
		"get pg --process-condition PodFailing":        {says: "no process group of sample matches"},
		"get pg --match-labels no=pod":                 {says: "no process group of sample matches"},
		"restart sample --process-class log --dry-run": {code: exit.ExitNo, says: "log-"},
		"cordon --node-selector no=node -c sample":     {code: exit.ExitUsage, says: "no=node"},
	} {
		args := strings.Split(strings.ReplaceAll(line, "NODE", g.Cluster.Nodes[0]), " ")
		if code := g.Run(args...); code != want.code || !strings.Contains(g.Out.String()+g.Err.String(), want.says) {
			t.Errorf("%s: exit code %d, want %d with %q: %s%s", line, code, want.code, want.says, &g.Out, &g.Err)
		}
	}
}

// A name that means something else here is answered with one line, and nothing is run.
func TestOtherNamesWithoutTheSameMeaningNameTheCommandToUse(t *testing.T) {
	g := commandstest.NewGiven(t)
	for line, want := range map[string]string{
		"remove process-groups sample-storage-1 -c sample": `error: unknown command "remove process-groups": use kubectl fdb replace`,
		"remove":                               `error: unknown command "remove": use kubectl fdb replace`,
		"fix-coordinator-ips -c sample":        "use kubectl fdb coordinators repair",
		"update connection-string a:b@1.1.1.1": "use kubectl fdb connection-string sync",
		"update":                               "use kubectl fdb connection-string sync",
		"recover-multi-region-cluster sample":  "use kubectl fdb recover plan",
		"deprecation":                          "use kubectl fdb plan",
		"buggify crash-loop -c sample":         "use kubectl fdb reconcile",
		"lock deny-list sample":                "use kubectl fdb get locks",
		"-n fdb tree sample":                   "use kubectl fdb describe --tree",
	} {
		if code, text := g.Run(strings.Fields(line)...), g.Err.String(); code != exit.ExitUsage || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 || g.Out.Len() > 0 {
			t.Errorf("%s: exit code %d, want one line with %q: %s%s", line, code, want, &g.Out, text)
		}
	}
}

// A name that is none of ours must lead to one that is.
func TestOtherNamesLeadToCommands(t *testing.T) {
	root := commands.NewRoot(commandstest.NewGiven(t).Environment())
	for _, other := range commands.OtherNames() {
		if cmd, rest, err := root.Find(strings.Fields(other.Words)); err == nil && cmd != root && len(rest) == 0 {
			t.Errorf("%s is a command of its own", other.Words)
		}
		_, named, _ := strings.Cut(other.Use, "kubectl fdb ")
		words := append(strings.Fields(other.Means), strings.Fields(strings.NewReplacer(",", "", ":", "").Replace(named))...)
		if cmd, _, err := root.Find(words); err != nil || cmd == root {
			t.Errorf("%s leads nowhere: %q", other.Words, words)
		}
	}
}
