package lists_test

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestClientTable(t *testing.T) {
	target, err := fdb.ParseVersion("7.4.6")
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]lists.PodOwner{"10.7.0.1": {Pod: "shop/cart-1", Owner: "ReplicaSet/cart"}, "127.0.2.1": {Pod: "fdb/sample-storage-1"}}
	for name, q := range map[string]lists.ClientQuestion{
		"all":                  {Owners: owners},
		"judged by a version":  {Owners: owners, Target: &target},
		"only those who block": {Owners: owners, Target: &target, OnlyBlocking: true},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := ui.WriteList(&b, lists.NewClientListView(meta, of(inspecttest.Connected(t)), q), ui.ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
