package groups_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// excluded is a cluster of which the first storage group is marked for removal and excluded.
func excluded(t *testing.T) (g *commandstest.Given, id string) {
	t.Helper()
	g = commandstest.Up(t)
	id = g.Storage()[0]
	g.Run("replace", "sample", id, "--yes")
	if _, err := simtest.Type(g.Cluster, "exclude no_wait locality_instance_id:"+id); err != nil {
		t.Fatal(err)
	}
	return g, id
}

// A user can include an excluded group again once, and learns how to keep it from then on.
func TestReplaceUndoWithIncludeRevertsAnExcludedReplacement(t *testing.T) {
	g, id := excluded(t)
	if code := g.Run("replace", "sample", id, "--undo", "--yes"); code != exit.ExitRefused || !strings.Contains(g.Err.String(), "hint: to include excluded ones first: kubectl fdb replace sample "+id+" --undo --include") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("replace", "sample", id, "--undo", "--include", "--yes"); code != exit.ExitWaiting || len(g.Marked()) != 1 {
		t.Errorf("right after a recovery: exit code %d, marked %v: %s%s", code, g.Marked(), &g.Out, &g.Err)
	}
	if code := g.Run("replace", "sample", id, "--undo", "--include", "--wait", "--yes"); code != exit.ExitDone || len(g.Marked()) > 0 {
		t.Fatalf("exit code %d, marked %v: %s%s", code, g.Marked(), &g.Out, &g.Err)
	}
	if left := g.Cluster.FDB.Databases()[0].Excluded(); len(left) > 0 {
		t.Errorf("still excluded: %v", left)
	}
	const hint = "hint: to keep them from being marked again: kubectl patch foundationdbcluster sample -n fdb --context test --type merge -p "
	if !strings.Contains(g.Err.String(), hint+`'{"spec":{"cancelReplacementsForInstance":["`+id+`"]}}'`) {
		t.Errorf("no hint for the spec: %s", &g.Err)
	}
	g.Keeps(id)
	if code := g.Run("replace", "sample", id, "--undo", "--yes"); code != exit.ExitDone || strings.Contains(g.Err.String(), "hint:") {
		t.Errorf("of a kept group: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// The commands that would remove a process group, or move its data, refuse one that the spec keeps.
func TestCommandsRefuseToRemoveKeptProcessGroups(t *testing.T) {
	const named = "spec.cancelReplacementsForInstance keeps STORAGE: remove it from the list first"
	// A plan from before the spec changed is refused for that, whatever it would do.
	const skipping = "replace without draining"
	tests := map[string][]string{
		"replace":                       {"replace", "sample", "STORAGE", "--yes"},
		"replace, followed to its end":  {"replace", "sample", "STORAGE", "--wait", "--yes"},
		skipping:                        {"replace", "sample", "STORAGE", "--skip-exclusion", "--yes", "--confirm", "sample", "--plan", "PLAN", "--reason", "x"},
		"exclude":                       {"exclude", "sample", "STORAGE", "--yes"},
		"drain":                         {"drain", "NODE", "-c", "sample", "--yes"},
		"cordon, and evacuate the node": {"cordon", "NODE", "-c", "sample", "--evacuate=now", "--yes"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Spacious(t)
			id := g.Storage()[0]
			names := strings.NewReplacer("STORAGE", id, "NODE", g.Cluster.Pods["sample-"+id].Spec.NodeName)
			line := make([]string, len(args))
			for i, arg := range args {
				if line[i] = names.Replace(arg); arg == "PLAN" {
					line[i] = g.Planned(line[:4]...)
				}
			}
			g.Keeps(id)
			want, says := exit.ExitRefused, names.Replace(named)
			if name == skipping {
				want, says = exit.ExitConflict, "generation 1 when it was approved, now generation 2"
			}
			code := g.Run(slices.Concat(line, []string{"--timeout", "10m"})...)
			if printed := g.Out.String() + g.Err.String(); code != want || !strings.Contains(printed, says) {
				t.Errorf("exit code %d, want %d: %s", code, want, printed)
			}
			if group := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)); group.IsMarkedForRemoval() || len(g.Cluster.FDB.Databases()[0].Excluded()) > 0 {
				t.Errorf("marked %v, excluded %v", g.Marked(), g.Cluster.FDB.Databases()[0].Excluded())
			}
		})
	}
}

// What the spec keeps is in every view of the process group.
func TestEveryViewShowsAKeptGroup(t *testing.T) {
	g, id := excluded(t)
	g.Cluster.Tick(20 * time.Minute)
	g.Keeps(id)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"plan", "sample"}, "CancelReplacements"},
		{[]string{"plan", "sample"}, "spec.cancelReplacementsForInstance keeps " + id},
		{[]string{"get", "pg", "sample"}, "kept("},
		{[]string{"describe", "pg", "sample", id}, "by spec.cancelReplacementsForInstance"},
		{[]string{"status", "sample"}, "1 process group by spec.cancelReplacementsForInstance"},
		{[]string{"why", "sample", id}, "the next pass will include locality_instance_id:" + id},
	} {
		g.Run(tc.args...)
		if !strings.Contains(g.Out.String(), tc.want) {
			t.Errorf("%v: %q is missing:\n%s%s", tc.args, tc.want, &g.Out, &g.Err)
		}
	}
	if code := g.Run("reconcile", "sample", "--wait", "--yes"); code != exit.ExitDone || len(g.Marked()) > 0 {
		t.Errorf("exit code %d, marked %v: %s%s", code, g.Marked(), &g.Out, &g.Err)
	}
}
