package inspect_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestLockTables(t *testing.T) {
	f := inspect.Shared(t)
	f.Coordination.DenyList = []string{"west", "north", "south"}
	f.Cluster.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "north"}, {ID: "south", Allow: true}, {ID: "old"}, {ID: "back", Allow: true}}
	f.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"west-storage-1", "east-storage-1"}, "7.10.0": {"east-log-1"}}
	f.Coordination.Lists = plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{
		fdb.PendingForRestart: {{Instance: "west", Group: "west-storage-1"}: noon.Add(-time.Minute)},
		fdb.ReadyForRestart:   {{Instance: "", Group: "storage-9"}: noon.Add(-time.Hour)},
	}}
	f.Lease = inspect.Lease{Read: true, Holder: "alice@laptop pid 7", Until: noon.Add(30 * time.Second)}
	for name, o := range map[string]ui.ListOptions{"table": {}, "wide": {Wide: true}, "no-headers": {NoHeaders: true}, "absolute": {Absolute: true}} {
		t.Run(name, func(t *testing.T) {
			o.Now = noon
			var b bytes.Buffer
			if err := ui.WriteLocks(&b, inspect.NewLockListView(meta, f), o); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
	t.Run("free and unused", func(t *testing.T) {
		f := healthy(t)
		f.Coordination.Read, f.Lease = true, inspect.Lease{}
		var b bytes.Buffer
		if err := ui.WriteLocks(&b, inspect.NewLockListView(meta, f), ui.ListOptions{Now: noon}); err != nil {
			t.Fatal(err)
		}
		golden.RequireEqual(t, b.Bytes())
	})
}
