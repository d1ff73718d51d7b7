package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
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
		d, _ := session.Declared(cmd)
		if waits := d.Waits || cmd.Flags().Lookup("wait") != nil; waits && d.Effect == session.EffectReads && path != "wait" && !slices.Contains(others, path) {
			t.Errorf("%s waits: it must be a condition of wait", path)
		}
	})
}
