package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestReconcileWatchValidatesItsFlags(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"without a terminal a user has to have agreed": {[]string{"--watch"}, exit.ExitUnconfirmed, "--yes"},
		"--wait ends":                    {[]string{"--watch", "--yes", "--wait"}, exit.ExitUsage, "--wait conflicts with --watch"},
		"a dry run looks once":           {[]string{"--watch", "--dry-run"}, exit.ExitUsage, "--dry-run conflicts with --watch"},
		"also one that the server tries": {[]string{"--watch", "--yes", "--dry-run=server"}, exit.ExitUsage, "--dry-run conflicts with --watch"},
		"it does not give up":            {[]string{"--watch", "--yes", "--timeout", "1m"}, exit.ExitUsage, "--timeout conflicts with --watch"},
		"no interval at all":             {[]string{"--watch", "--yes", "--interval", "0s"}, exit.ExitUsage, "at least 1s"},
		"a resync below the interval":    {[]string{"--watch", "--yes", "--interval", "1m", "--resync", "30s"}, exit.ExitUsage, "must not be less"},
		"--dump-dir alone":               {[]string{"--yes", "--dump-dir", "d"}, exit.ExitUsage, "--dump-dir requires --watch"},
		"limits without a directory":     {[]string{"--watch", "--yes", "--dump-keep", "1h"}, exit.ExitUsage, "require --dump-dir"},
		"dumps all the time":             {[]string{"--watch", "--yes", "--dump-dir", "d", "--dump-interval", "1s"}, exit.ExitUsage, "--dump-interval must be at least 60s"},
		"dumps that are removed at once": {[]string{"--watch", "--yes", "--dump-dir", "d", "--dump-keep", "1m"}, exit.ExitUsage, "--dump-keep (1m0s) must not be less than --dump-interval (5m0s)"},
		"a size that is none":            {[]string{"--watch", "--yes", "--dump-dir", "d", "--dump-max-bytes", "much"}, exit.ExitUsage, `invalid --dump-max-bytes "much"`},
		"a directory that is none":       {[]string{"--watch", "--yes", "--dump-dir", "/dev/null/d"}, exit.ExitUsage, "--dump-dir: mkdir /dev/null"},
		"--resync alone":                 {[]string{"--yes", "--resync", "30s"}, exit.ExitUsage, "--resync requires --watch"},
		"--metrics-addr alone":           {[]string{"--yes", "--metrics-addr", ":8080"}, exit.ExitUsage, "--metrics-addr requires --watch"},
		"an address without a port":      {[]string{"--watch", "--yes", "--metrics-addr", "localhost"}, exit.ExitUsage, "HOST:PORT"},
		"a port that is none":            {[]string{"--watch", "--yes", "--metrics-addr", ":http"}, exit.ExitUsage, "up to 65535"},
		"a port that is too large":       {[]string{"--watch", "--yes", "--metrics-addr", ":65536"}, exit.ExitUsage, "up to 65535"},
		"an address of another user's":   {[]string{"--watch", "--yes", "--metrics-addr", "192.0.2.1:0"}, exit.ExitUsage, "set another address"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if code := g.Run(append([]string{"reconcile", "sample"}, tc.args...)...); code != tc.want || !strings.Contains(g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, &g.Err)
			}
			if len(g.Cluster.Acted) > 0 {
				t.Errorf("did %s", g.Cluster.Acted[0].Describe())
			}
		})
	}
}

func TestAWatchChecksItsPermissionsFirst(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Denied = []string{"watch pods"}
	if code := g.Run("reconcile", "sample", "--yes", "--watch"); code != exit.ExitForbidden || !strings.Contains(g.Err.String(), "watch pods") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestAWatchOnATerminalPromptsOnce(t *testing.T) {
	for answer, want := range map[string]int{"y\n": exit.ExitDone, "n\n": exit.ExitUnconfirmed, "": exit.ExitUnconfirmed} {
		t.Run(answer, func(t *testing.T) {
			w := &commandstest.Watched{Given: commandstest.NewGiven(t)}
			w.Input = &answer
			code := w.Run()
			if code != want || strings.Count(w.Err.String(), "[y/N]") != 1 || !strings.Contains(w.Err.String(), "without another prompt?") {
				t.Errorf("exit code %d, want %d: %s", code, want, &w.Err)
			}
			if done := w.Cluster.Resource.Status.Configured; done != (want == exit.ExitDone) {
				t.Errorf("the cluster came up: %t", done)
			}
		})
	}
}

func TestARefusedWatchShowsNoPrompt(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Evaluated, g.Input = commandstest.OperatorLives, new("y\n")
	if code := g.Run("reconcile", "sample", "--watch"); code != exit.ExitRefused || strings.Contains(g.Err.String(), "[y/N]") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}
