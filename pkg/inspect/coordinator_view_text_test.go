package inspect_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestCoordinatorTable(t *testing.T) {
	marked := healthy(t)
	marked.Cluster.ProcessGroup("log-1").MarkForRemoval(noon)
	marked.Database.Status.Client.Coordinators.Coordinators[1].Reachable = false
	for name, f := range map[string]inspect.Facts{"one leaves": marked, "no answer": unanswered(t)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := ui.WriteList(&b, inspect.NewCoordinatorListView(meta, f), ui.ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
