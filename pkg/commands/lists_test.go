package commands_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What a list can do is declared once for all: a new one has it too.
func TestEveryListSortsSelectsAndHasTheLabelsOfItsObjects(t *testing.T) {
	single := map[string]bool{"get configuration": true, "get locks": true} // one item
	objects := map[string]bool{"get clusters": true, "get process-groups": true, "get nodes": true, "backup list": true}
	lists := 0
	eachPath(t, func(path string, cmd *cobra.Command) {
		isList := strings.HasPrefix(path, "get ") || strings.HasSuffix(path, " list") || path == "events" || path == "history"
		if !isList || single[path] {
			return
		}
		lists++
		for flag, has := range map[string]bool{"sort-by": true, "field-selector": true, "no-headers": true, "label-columns": objects[path], "show-labels": objects[path]} {
			if (cmd.Flags().Lookup(flag) != nil) != has {
				t.Errorf("%s has --%s: %t, want %t", path, flag, !has, has)
			}
		}
	})
	if lists < len(objects)+5 {
		t.Errorf("%d lists", lists)
	}
}
