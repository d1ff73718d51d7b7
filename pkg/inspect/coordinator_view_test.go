package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACoordinatorAddressWithAPodHostNameFindsItsGroup(t *testing.T) {
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
