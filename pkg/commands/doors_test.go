package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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
