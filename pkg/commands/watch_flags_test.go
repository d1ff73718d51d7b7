package commands

import (
	"strings"
	"testing"

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
			g := newGiven(t)
			if code := g.run(append([]string{"reconcile", "sample"}, tc.args...)...); code != tc.want || !strings.Contains(g.err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, &g.err)
			}
			if len(g.cluster.Acted) > 0 {
				t.Errorf("did %s", g.cluster.Acted[0].Describe())
			}
		})
	}
}

func TestAWatchChecksItsPermissionsFirst(t *testing.T) {
	g := newGiven(t)
	g.denied = []string{"watch pods"}
	if code := g.run("reconcile", "sample", "--yes", "--watch"); code != exit.ExitForbidden || !strings.Contains(g.err.String(), "watch pods") {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}

func TestAWatchOnATerminalPromptsOnce(t *testing.T) {
	for answer, want := range map[string]int{"y\n": exit.ExitDone, "n\n": exit.ExitUnconfirmed, "": exit.ExitUnconfirmed} {
		t.Run(answer, func(t *testing.T) {
			w := &watched{given: newGiven(t)}
			w.input = &answer
			code := w.run()
			if code != want || strings.Count(w.err.String(), "[y/N]") != 1 || !strings.Contains(w.err.String(), "without another prompt?") {
				t.Errorf("exit code %d, want %d: %s", code, want, &w.err)
			}
			if done := w.cluster.Resource.Status.Configured; done != (want == exit.ExitDone) {
				t.Errorf("the cluster came up: %t", done)
			}
		})
	}
}

func TestARefusedWatchShowsNoPrompt(t *testing.T) {
	g := newGiven(t)
	g.gates, g.input = operatorLives, new("y\n")
	if code := g.run("reconcile", "sample", "--watch"); code != exit.ExitRefused || strings.Contains(g.err.String(), "[y/N]") {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}
