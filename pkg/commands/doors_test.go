package commands_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
)

// A list under a second name is a second place to look for the same answer. Backups and operations are in no
// other list.
func TestTheListsOfAClusterAreUnderGetAlone(t *testing.T) {
	kinds := map[string]bool{}
	eachPath(t, func(path string, cmd *cobra.Command) {
		if kind, is := strings.CutPrefix(path, "get "); is {
			for _, name := range append(slices.Clone(cmd.Aliases), kind) {
				kinds[strings.TrimSuffix(name, "s")] = true
			}
		}
	})
	eachPath(t, func(path string, cmd *cobra.Command) {
		if kind, is := strings.CutSuffix(path, " list"); is && kinds[strings.TrimSuffix(kind, "s")] {
			t.Errorf("%s lists the same as get %s", path, kind)
		}
	})
}

// What `wait --for` waits for has no second command or flag. The others wait for what is no state of a
// resource: the result of rules, and the end of what another run does.
func TestWaitIsTheOnlyCommandThatWaitsForAState(t *testing.T) {
	others := []string{"check", "operations follow", "recover verify"}
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, _ := declare.Of(cmd)
		if waits := d.Waits || cmd.Flags().Lookup("wait") != nil; waits && d.Effect == declare.Reads && path != "wait" && !slices.Contains(others, path) {
			t.Errorf("%s waits: it must be a condition of wait", path)
		}
	})
}

// What is approved under one name and applied under another must be the same.
func TestPlanPrintsWhatADryRunOfReconcilePrints(t *testing.T) {
	for _, words := range []string{"sample", "sample -o json", "sample --only AddPods", "sample --with-backups", "fdbbackup/nightly", "fdbbackup/nightly -o json"} {
		t.Run(words, func(t *testing.T) {
			var codes [2]int
			var printed [2]string
			for i, line := range []string{"plan " + words, "reconcile --dry-run " + words} {
				v := commandstest.NewVault(t)
				v.Cluster.Resource.Spec.ProcessCounts.Storage += 2
				codes[i], printed[i] = v.Run(strings.Fields(line)...), v.Out.String()
			}
			if codes[0] != codes[1] || printed[0] != printed[1] || printed[0] == "" {
				t.Errorf("exit codes %d\n%s", codes, cmp.Diff(printed[0], printed[1]))
			}
		})
	}
}
