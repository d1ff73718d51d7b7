package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestLocksTakeAndRelease(t *testing.T) {
	answers := func(word string) func(*commandstest.Given) { return func(g *commandstest.Given) { g.Input = &word } }
	tests := map[string]struct {
		given []func(*commandstest.Given)
		args  []string
		want  int
		says  string
		// holder is the lock holder afterwards; empty for none.
		holder string
	}{
		"take":                              {args: []string{"take", "sample"}, says: "undo: kubectl fdb locks release sample -n fdb --context test", holder: "dc1, held manually by me@here"},
		"hold prints until when":            {args: []string{"take", "sample", "--for", "1h"}, says: "sample: the lock is held manually until 2026-", holder: "dc1, held manually by me@here"},
		"a dry run takes none":              {args: []string{"take", "sample", "--dry-run"}, want: exit.ExitNo, says: "+ lock   hold the lock as dc1"},
		"take what another has":             {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", time.Minute)}, args: []string{"take", "sample"}, want: exit.ExitConflict, says: "the database lock is held by dc2 until", holder: "dc2"},
		"take waits for it":                 {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", time.Minute)}, args: []string{"take", "sample", "--wait"}, says: "is held manually", holder: "dc1, held manually by me@here"},
		"take what a colleague keeps":       {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "bob@b", time.Minute)}, args: []string{"take", "sample"}, want: exit.ExitConflict, says: "dc1, held manually by bob@b", holder: "dc1, held manually by bob@b"},
		"take while denied":                 {given: []func(*commandstest.Given){func(g *commandstest.Given) { g.Cluster.Shared.DenyList["dc1"] = true }}, args: []string{"take", "sample"}, want: exit.ExitConflict, says: "dc1 is on the deny list"},
		"take where no locks are used":      {given: []func(*commandstest.Given){func(g *commandstest.Given) { g.Cluster.Resource.Spec.LockOptions.DisableLocks = new(true) }}, args: []string{"take", "sample"}, want: exit.ExitRefused, says: "set spec.lockOptions.disableLocks to false"},
		"take for no time":                  {args: []string{"take", "sample", "--for", "5s"}, want: exit.ExitUsage, says: "from 1m to 24h"},
		"hold forever":                      {args: []string{"take", "sample", "--for", "240h"}, want: exit.ExitUsage, says: "from 1m to 24h"},
		"release one's own":                 {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "me@here", time.Hour)}, args: []string{"release", "sample"}, says: "the lock is free"},
		"release what a run left":           {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "", 9*time.Minute)}, args: []string{"release", "sample"}, says: "the lock is free"},
		"release what a pass keeps":         {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "", time.Minute)}, args: []string{"release", "sample"}, want: exit.ExitWaiting, says: "it expires at", holder: "dc1"},
		"release none":                      {args: []string{"release", "sample"}, says: "the lock is free"},
		"release another's":                 {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", time.Minute)}, args: []string{"release", "sample"}, want: exit.ExitConflict, says: "held by dc2 until", holder: "dc2"},
		"nor by force":                      {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", time.Minute)}, args: []string{"release", "sample", "--force", "--yes"}, want: exit.ExitConflict, says: "held by dc2 until", holder: "dc2"},
		"release another's that ran out":    {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", -time.Minute)}, args: []string{"release", "sample"}, want: exit.ExitConflict, says: "held by dc2 until", holder: "dc2"},
		"by force":                          {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", -time.Minute)}, args: []string{"release", "sample", "--force", "--yes"}, says: "the lock is free"},
		"by force of a denied one":          {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", time.Hour), func(g *commandstest.Given) { g.Cluster.Shared.DenyList["dc2"] = true }}, args: []string{"release", "sample", "--force", "--yes"}, says: "the lock is free"},
		"force asks":                        {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", -time.Minute)}, args: []string{"release", "sample", "--force"}, want: exit.ExitUnconfirmed, says: "use --yes", holder: "dc2"},
		"force shows whose it was":          {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", -time.Minute), answers("n\n")}, args: []string{"release", "sample", "--force"}, want: exit.ExitUnconfirmed, says: "the lock of dc2 expired 1m0s ago", holder: "dc2"},
		"force on a terminal":               {given: []func(*commandstest.Given){commandstest.LockOf("dc2", "", -time.Minute), answers("y\n")}, args: []string{"release", "sample", "--force"}, says: "the lock is free"},
		"release what a colleague keeps":    {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "bob@b", time.Hour)}, args: []string{"release", "sample"}, want: exit.ExitConflict, says: "held manually by bob@b", holder: "dc1, held manually by bob@b"},
		"release that by force":             {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "bob@b", time.Hour)}, args: []string{"release", "sample", "--force", "--yes"}, says: "the lock is free"},
		"a pass waits for the one it is by": {given: []func(*commandstest.Given){commandstest.LockOf("dc1", "me@here", time.Hour), func(g *commandstest.Given) { g.Cluster.Resource.Spec.DatabaseConfiguration.Logs = 4 }}, args: nil, want: exit.ExitConflict, says: "the database lock is held by dc1, held manually by me@here until", holder: "dc1, held manually by me@here"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Together(t)
			g.Cluster.Tick(11 * time.Minute)
			for _, edit := range tc.given {
				edit(g)
			}
			args := append([]string{"locks"}, tc.args...)
			if tc.args == nil {
				args = []string{"reconcile", "sample", "--yes"}
			}
			code := g.Run(args...)
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
			holder := ""
			if l := g.Cluster.Shared.Lock; l != nil {
				holder = l.Holder()
			}
			if holder != tc.holder {
				t.Errorf("%q has the lock, want %q: %s", holder, tc.holder, output)
			}
		})
	}
}

func TestLocksListShowsTheManualLockHolder(t *testing.T) {
	g := commandstest.Together(t)
	commandstest.LockOf("dc1", "bob@b", time.Hour)(g)
	if code := g.Run("get", "locks", "sample"); code != exit.ExitDone || !strings.Contains(g.Out.String(), "sample: the lock is held manually by bob@b") {
		t.Errorf("exit code %d: %s", code, &g.Out)
	}
	if code := g.Run("get", "locks", "sample", "-o", "jsonpath={.items[0].manualHolder}"); code != exit.ExitDone || g.Out.String() != "bob@b" {
		t.Errorf("exit code %d: %q", code, &g.Out)
	}
}
