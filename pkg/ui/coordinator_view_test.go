package ui

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
)

func TestCoordinatorTable(t *testing.T) {
	leaving := healthy(t)
	leaving.Cluster.ProcessGroup("log-1").MarkForRemoval(noon)
	leaving.Database.Status.Client.Coordinators.Coordinators[1].Reachable = false
	for name, f := range map[string]Facts{"one leaves": leaving, "no answer": unanswered(t)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteCoordinators(&b, NewCoordinatorListView(meta, f), ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestACoordinatorIsFoundByItsPodsName(t *testing.T) {
	f := unanswered(t)
	f.Cluster.Status.ConnectionString = "sample:abc@sample-log-1.sample.fdb.svc.cluster.local:4500:tls"
	v := NewCoordinatorListView(meta, f)
	no := false
	want := CoordinatorDetailView{
		CoordinatorView: CoordinatorView{Address: "sample-log-1.sample.fdb.svc.cluster.local:4500:tls"},
		Group:           "log-1", Zone: v.Items[0].Zone, Removing: &no, TLS: true,
	}
	if diff := cmp.Diff([]CoordinatorDetailView{want}, v.Items); diff != "" {
		t.Error(diff)
	}
}
