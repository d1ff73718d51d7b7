package lists_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestProcessTable(t *testing.T) {
	f := healthy(t)
	inspecttest.Unresponsiveness(f.Snapshot, "log-4", 0)
	for name, o := range map[string]ui.ListOptions{"table": {}, "wide": {Wide: true}} {
		t.Run(name, func(t *testing.T) {
			o.Now = noon
			var b bytes.Buffer
			if err := ui.WriteList(&b, lists.NewProcessListView(meta, f), o); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
