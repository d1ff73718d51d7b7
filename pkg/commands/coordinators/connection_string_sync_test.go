package coordinators_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func staleSeed(g *commandstest.Given) {
	g.Cluster.Resource.Spec.SeedConnectionString = commandstest.Stale
}

func TestConnectionStringSync(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string
		// left is true when the resource keeps what it had.
		left bool
	}{
		"nothing differs":                       {given: func(*commandstest.Given) {}, says: "status and ConfigMap have the current connection string"},
		"the record":                            {given: commandstest.StaleResource, says: "status and ConfigMap have the current connection string"},
		"the ConfigMap":                         {given: commandstest.StaleConfigMap, says: "update ConfigMap sample-config (cluster-file)"},
		"both":                                  {given: commandstest.StaleBoth, says: "status and ConfigMap have the current connection string"},
		"a dry run shows what would be written": {given: commandstest.StaleBoth, args: []string{"--dry-run"}, want: exit.ExitNo, says: "the status has " + commandstest.Stale, left: true},
		"the seed is left to users":             {given: staleSeed, says: "kubectl patch foundationdbcluster sample -n fdb --context test --type merge -p '{\"spec\":{\"seedConnectionString\":\"sample:"},
		"a pod's file is its servers' own":      {given: commandstest.OtherPod, want: exit.ExitPartly, says: "have an outdated connection string in their cluster file"},
		"nothing is written while the one in force is unknown": {given: func(g *commandstest.Given) { commandstest.StaleResource(g); commandstest.WithSilentStorage(g) }, want: exit.ExitUnreachable, says: "so none is written", left: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Cluster.Tick(6 * time.Minute)
			good := g.Cluster.Resource.Status.ConnectionString
			tc.given(g)
			args := append([]string{"connection-string", "sync", "sample", "--yes"}, tc.args...)
			code := g.Run(args...)
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
			if tc.left {
				good = commandstest.Stale
			}
			if got := g.Cluster.Resource.Status.ConnectionString; got != good {
				t.Errorf("the record has %s, want %s", got, good)
			}
			if got := g.Cluster.ConfigMap.Data[objects.KeyClusterFile]; !tc.left && got != good {
				t.Errorf("the ConfigMap has %s, want %s", got, good)
			}
		})
	}
}

// The prompt shows what is replaced.
func TestAConnectionStringSyncPromptShowsWhatItReplaces(t *testing.T) {
	g := commandstest.Up(t)
	commandstest.StaleBoth(g)
	if code := g.Run("connection-string", "sync", "sample"); code != exit.ExitUnconfirmed || g.Cluster.Resource.Status.ConnectionString != commandstest.Stale {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	g.Input = new("n\n")
	if code := g.Run("connection-string", "sync", "sample"); code != exit.ExitUnconfirmed || !strings.Contains(g.Err.String(), "ConfigMap sample-config has "+commandstest.Stale) {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}
