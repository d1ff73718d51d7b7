package inspect_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestExclusionTable(t *testing.T) {
	f := inspect.Excluded(t)
	f.Coordination.Exclusions = append(f.Coordination.Exclusions, "10.9.9.9:4501", "locality_instance_id:west-storage-1")
	f.Cluster.ProcessGroup("storage-2").MarkForRemoval(noon)
	inspecttest.Unresponsiveness(f.Snapshot, "log-4", time.Hour)
	inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: f.Cluster.ProcessGroup("log-4").ExclusionString()})
	observed := func() *inspect.DrainHistory {
		h := &inspect.DrainHistory{}
		for i := range 4 {
			f.Database.AsOf = noon.Add(time.Duration(i) * 15 * time.Second)
			f.Hold("storage-1", int64(900-100*i)<<20)
			inspect.NewExclusionStatusView(meta, f, inspect.ExclusionQuestion{}, h)
		}
		f.Database.AsOf = noon.Add(time.Minute)
		f.Hold("storage-1", 480<<20)
		return h
	}
	for name, q := range map[string]inspect.ExclusionQuestion{"own": {}, "all": {Others: true}} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			h := observed()
			if err := ui.WriteList(&b, inspect.NewExclusionStatusView(meta, f, q, h), ui.ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
	t.Run("list", func(t *testing.T) {
		var b bytes.Buffer
		if err := ui.WriteList(&b, lists.NewExclusionListView(meta, f), ui.ListOptions{Now: noon}); err != nil {
			t.Fatal(err)
		}
		golden.RequireEqual(t, b.Bytes())
	})
}
