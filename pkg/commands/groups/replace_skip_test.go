package groups_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestReplaceSkipExclusionRequiresNamePlanAndReason(t *testing.T) {
	tests := map[string]struct {
		args   []string // besides --skip-exclusion; PLAN is a plan of it
		typed  string   // on a terminal; empty for none
		want   int
		says   string
		marked bool
	}{
		"all four":                          {args: []string{"--yes", "--confirm", "sample", "--plan", "PLAN", "--reason", "its disk failed"}, marked: true},
		"without --yes":                     {args: []string{"--confirm", "sample", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed},
		"without --confirm":                 {args: []string{"--yes", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed, says: "all of these flags are required: --yes --confirm CLUSTER --plan FILE --reason TEXT"},
		"without a plan":                    {args: []string{"--yes", "--confirm", "sample", "--reason", "x"}, want: exit.ExitUnconfirmed},
		"without a reason":                  {args: []string{"--yes", "--confirm", "sample", "--plan", "PLAN"}, want: exit.ExitUnconfirmed},
		"with the name of another cluster":  {args: []string{"--yes", "--confirm", "other", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed, says: "--confirm other does not match the name of the cluster"},
		"the name is typed":                 {typed: "sample\n", marked: true, says: "Type the name of the cluster"},
		"--yes on a terminal is not enough": {args: []string{"--yes"}, typed: "y\n", want: exit.ExitUnconfirmed, says: "the answer does not match sample"},
		"another name is typed":             {typed: "samples\n", want: exit.ExitUnconfirmed, says: "(nothing was changed)"},
		"nothing is typed":                  {typed: "\n", want: exit.ExitUnconfirmed},
		"the name is typed for a plan":      {args: []string{"--plan", "PLAN"}, typed: "sample\n", marked: true},
		"a dry run needs none of it":        {args: []string{"--dry-run"}, want: exit.ExitNo, says: "data-loss"},
		"together with --undo":              {args: []string{"--undo", "--yes"}, want: exit.ExitUsage},
		"many at once":                      {args: []string{"--max-concurrent", "3", "--yes"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Spacious(t)
			args := []string{"replace", "sample", g.Storage()[0], "--skip-exclusion"}
			path := g.Planned(args...)
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "PLAN", path))
			}
			if tc.typed != "" {
				g.Input = &tc.typed
			}
			if code := g.Run(args...); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			if marked := len(g.Marked()) > 0; marked != tc.marked || (!marked && len(g.Changes()) > 0) {
				t.Errorf("marked %v, did %v", g.Marked(), g.Changes())
			}
		})
	}
	g := commandstest.Spacious(t)
	if code := g.Run("replace", "sample", g.Storage()[0], "--yes", "--confirm", "sample"); code != exit.ExitUsage {
		t.Errorf("--confirm without --skip-exclusion: exit code %d", code)
	}
}

// The group is removed in the end without an exclusion, and no data was lost.
func TestAGroupWithSkippedExclusionIsRemovedWithoutDataLoss(t *testing.T) {
	g := commandstest.Spacious(t)
	old := g.Storage()[0]
	args := []string{"replace", "sample", old, "--skip-exclusion"}
	path := g.Planned(args...)
	if code := g.Run(append(args, "--yes", "--confirm", "sample", "--plan", path, "--reason", "its disk failed")...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if now := g.Storage(); slices.Contains(now, old) || len(now) != 4 || len(g.Did("Exclude")) > 0 {
		t.Errorf("%v after %s, excluded %v", now, old, g.Did("Exclude"))
	}
	g.Cluster.Tick(5 * time.Minute)
	var s plan.Snapshot
	if err := g.Cluster.Observe(t.Context(), &s, plan.ClusterResource|plan.Database); err != nil {
		t.Fatal(err)
	}
	if n, known := s.Database.Status.MinReplicasRemaining(); !known || n != 2 || !s.Database.Available() {
		t.Errorf("%d copies, known %t", n, known)
	}
}

func TestReplaceSkipExclusionRefusesToRemoveTheLastReplica(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 3, Stateless: 3}
	g.Cluster.Resource.Spec.DatabaseConfiguration.RedundancyMode = "single"
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	g.Cluster.Tick(time.Hour)
	args := []string{"replace", "sample", g.Storage()[0], "--skip-exclusion"}
	path := g.Planned(args...)
	code := g.Run(append(args, "--yes", "--confirm", "sample", "--plan", path, "--reason", "x")...)
	if code != exit.ExitRefused || !strings.Contains(g.Out.String(), "1 replica of the data now, 0 after the removal") || len(g.Marked()) > 0 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
