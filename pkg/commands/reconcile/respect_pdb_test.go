package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// With --respect-pdb no running pod is deleted other than by the eviction API, and a refusal is a wait
// that ends when the budget allows it.
func TestARemovalRespectsDisruptionBudgetsOnRequest(t *testing.T) {
	g := commandstest.Roomy(t)
	g.Cluster.Tick(20 * time.Minute)
	refusals, evicted, deleted := 0, 0, 0
	g.Cluster.Refuse = func(a plan.Action) error {
		d, is := a.(plan.DeleteGroupObjects)
		switch {
		case !is || d.Pod == "":
			return nil
		case !d.Evict:
			deleted++
			return nil
		case refusals < 2:
			refusals++
			hold := &plan.Hold{Code: plan.HoldEvictionRefused, Reason: "pod " + d.Pod + " may not be evicted", Detail: "the disruption budget apps", RetryAfter: time.Second}
			return &reconcile.NotYetError{Err: exit.ErrTimeout, Hold: hold}
		}
		evicted++
		return nil
	}
	id := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
	if code := g.Run("replace", "sample", id, "--yes", "--wait", "--respect-pdb", "--timeout", "3h"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if refusals != 2 || evicted != 1 || deleted != 0 {
		t.Errorf("%d refusals, %d evictions, %d deletions, want 2, 1 and 0", refusals, evicted, deleted)
	}
	if !strings.Contains(g.Out.String()+g.Err.String(), "may not be evicted: the disruption budget apps") {
		t.Errorf("the budget is not named:\n%s%s", &g.Out, &g.Err)
	}
}

func TestRespectPDBRequiresEvictionPermissionAndACluster(t *testing.T) {
	tests := map[string]struct {
		denied []string
		args   []string
		want   int
		says   string
	}{
		"no permission to evict":         {denied: []string{"create pods/eviction"}, args: []string{"reconcile", "sample", "--yes", "--respect-pdb"}, want: exit.ExitForbidden, says: "create pods/eviction"},
		"it is not needed without it":    {denied: []string{"create pods/eviction"}, args: []string{"reconcile", "sample", "--yes"}, want: exit.ExitDone},
		"a backup":                       {args: []string{"reconcile", "fdbbackup/nightly", "--yes", "--respect-pdb"}, want: exit.ExitUsage, says: "--respect-pdb requires a cluster"},
		"a command that deletes no pods": {args: []string{"restart", "sample", "--all", "--yes", "--respect-pdb"}, want: exit.ExitUsage, says: "unknown flag"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Denied = tc.denied
			if code := g.Run(tc.args...); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}
