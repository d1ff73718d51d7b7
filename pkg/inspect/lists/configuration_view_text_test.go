package lists_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestConfigurationTable(t *testing.T) {
	same, different := healthy(t), healthy(t)
	different.Desired.RedundancyMode, different.Desired.Logs = "triple", 4
	wiggles := healthy(t)
	wiggles.Desired.PerpetualStorageWiggle = new(1)
	for name, f := range map[string]inspect.Facts{"the same": same, "different": different, "one that was not asked for before": wiggles, "no answer": unanswered(t)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := ui.WriteConfiguration(&b, lists.NewConfigurationListView(meta, f, ""), ui.ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
