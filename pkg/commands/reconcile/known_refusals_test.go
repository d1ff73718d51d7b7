package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A control-plane instance that will get no lock is refused before a group is marked, a pod is
// created, or anything is waited for.
func TestAKnownLockRefusalIsReportedBeforeAnyAction(t *testing.T) {
	nameless := func(g *commandstest.Given) { g.Cluster.Resource.Spec.LockOptions.DisableLocks = new(bool) }
	denied := func(g *commandstest.Given) {
		nameless(g)
		g.Cluster.Resource.Spec.ProcessGroupIDPrefix = "dc1"
		g.Cluster.Shared.DenyList["dc1"] = true
	}
	grows := func(with func(*commandstest.Given)) func(*commandstest.Given) {
		return func(g *commandstest.Given) {
			with(g)
			g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
			g.Cluster.Resource.Generation++
		}
	}
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string
	}{
		"replace without a name":             {nameless, []string{"replace", "sample", "STORAGE0", "--wait", "--yes"}, exit.ExitRefused, "G-LOCK-OWNER"},
		"replace without --wait":             {nameless, []string{"replace", "sample", "STORAGE0", "--yes"}, exit.ExitRefused, "G-LOCK-OWNER"},
		"drain without a name":               {nameless, []string{"drain", "node-1", "-c", "sample", "--yes"}, exit.ExitRefused, "G-LOCK-OWNER"},
		"a pass without a name":              {grows(nameless), []string{"reconcile", "sample", "--yes"}, exit.ExitRefused, "G-LOCK-OWNER"},
		"exclude on the deny list":           {denied, []string{"exclude", "sample", "STORAGE0", "--yes", "--wait"}, exit.ExitConflict, "G-DENY"},
		"restart on the deny list":           {denied, []string{"restart", "sample", "--class", "stateless", "--yes", "--wait"}, exit.ExitConflict, "G-DENY"},
		"a pass on the deny list":            {grows(denied), []string{"reconcile", "sample", "--yes", "--wait"}, exit.ExitConflict, "G-DENY"},
		"a plan shows it and what it is for": {grows(denied), []string{"plan", "sample"}, exit.ExitNo, "a pass would refuse to start: G-DENY"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			tc.given(g)
			g.Cluster.Acted = nil
			ids := strings.NewReplacer("STORAGE0", g.Storage()[0])
			for i, word := range tc.args {
				tc.args[i] = ids.Replace(word)
			}
			if code := g.Run(tc.args...); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			for _, a := range g.Cluster.Acted {
				if !plan.Records(a) {
					t.Errorf("it did: %s", a.Describe())
				}
			}
		})
	}
}

func TestAKnownLockRefusalDoesNotBlockCommandsThatNeedNoLock(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
	}{
		"a pass with nothing to do":    {func(*commandstest.Given) {}, []string{"reconcile", "sample", "--yes"}},
		"an instance is allowed again": {func(*commandstest.Given) {}, []string{"locks", "allow", "sample", "dc1"}},
		"operators are paused":         {func(*commandstest.Given) {}, []string{"pause", "sample"}},
		"the spec takes the instance off": {func(g *commandstest.Given) {
			g.Cluster.Resource.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "dc1", Allow: true}}
			g.Cluster.Resource.Generation++
		}, []string{"reconcile", "sample", "--yes", "--wait"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Together(t)
			g.Run("reconcile", "sample", "--yes", "--wait")
			g.Cluster.Shared.DenyList["dc1"] = true
			tc.given(g)
			if code := g.Run(tc.args...); code != exit.ExitDone {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}
