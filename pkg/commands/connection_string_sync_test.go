package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const stale = "sample:old@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501"

func staleResource(g *given) { g.cluster.Resource.Status.ConnectionString = stale }

func staleConfigMap(g *given) { g.cluster.ConfigMap.Data[objects.KeyClusterFile] = stale }

func staleSeed(g *given) { g.cluster.Resource.Spec.SeedConnectionString = stale }

func staleBoth(g *given) { staleResource(g); staleConfigMap(g) }

func TestConnectionStringSync(t *testing.T) {
	tests := map[string]struct {
		given func(*given)
		args  []string
		want  int
		says  string
		// left is true when the resource keeps what it had.
		left bool
	}{
		"nothing differs":                       {given: func(*given) {}, says: "status and ConfigMap have the current connection string"},
		"the record":                            {given: staleResource, says: "status and ConfigMap have the current connection string"},
		"the ConfigMap":                         {given: staleConfigMap, says: "update ConfigMap sample-config (cluster-file)"},
		"both":                                  {given: staleBoth, says: "status and ConfigMap have the current connection string"},
		"a dry run shows what would be written": {given: staleBoth, args: []string{"--dry-run"}, want: exit.ExitNo, says: "the status has " + stale, left: true},
		"the seed is left to users":             {given: staleSeed, says: "kubectl patch foundationdbcluster sample -n fdb --context test --type merge -p '{\"spec\":{\"seedConnectionString\":\"sample:"},
		"a pod's file is its servers' own":      {given: otherPod, want: exit.ExitPartly, says: "have an outdated connection string in their cluster file"},
		"nothing is written while the one in force is unknown": {given: func(g *given) { staleResource(g); withSilentStorage(g) }, want: exit.ExitUnreachable, says: "so none is written", left: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := up(t)
			g.cluster.Tick(6 * time.Minute)
			good := g.cluster.Resource.Status.ConnectionString
			tc.given(g)
			args := append([]string{"connection-string", "sync", "sample", "--yes"}, tc.args...)
			code := g.run(args...)
			output := g.out.String() + g.err.String()
			if code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
			if tc.left {
				good = stale
			}
			if got := g.cluster.Resource.Status.ConnectionString; got != good {
				t.Errorf("the record has %s, want %s", got, good)
			}
			if got := g.cluster.ConfigMap.Data[objects.KeyClusterFile]; !tc.left && got != good {
				t.Errorf("the ConfigMap has %s, want %s", got, good)
			}
		})
	}
}

// The prompt shows what is replaced.
func TestAConnectionStringSyncPromptShowsWhatItReplaces(t *testing.T) {
	g := up(t)
	staleBoth(g)
	if code := g.run("connection-string", "sync", "sample"); code != exit.ExitUnconfirmed || g.cluster.Resource.Status.ConnectionString != stale {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	g.input = new("n\n")
	if code := g.run("connection-string", "sync", "sample"); code != exit.ExitUnconfirmed || !strings.Contains(g.err.String(), "ConfigMap sample-config has "+stale) {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}
