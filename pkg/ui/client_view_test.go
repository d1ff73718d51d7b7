package ui

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// connected is the healthy cluster with clients of several kinds.
func connected(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Cluster.Spec.AutomationOptions.IgnoreLogGroupsForUpgrade = []v1beta2.LogGroup{"reports"}
	f.Database.Status.Cluster.Clients = &fdb.ClientsStatus{Count: new(9), SupportedVersions: []fdb.SupportedVersion{
		{
			ClientVersion: "7.3.79", ProtocolVersion: "fdb00b073000000", MaxProtocol: new(5),
			MaxProtocolClients: []fdb.ConnectedClient{
				{Address: "10.7.0.1:33000", LogGroup: "shop"}, {Address: "10.7.0.2:33000", LogGroup: "reports"}, {Address: "127.0.2.1:33000", LogGroup: "default"},
			},
		},
		{ClientVersion: "7.4.6", ProtocolVersion: "fdb00b074000000", MaxProtocol: new(1), MaxProtocolClients: []fdb.ConnectedClient{{Address: "10.7.0.3:33000"}}},
		{ClientVersion: "Unknown", ProtocolVersion: "Unknown", MaxProtocolClients: []fdb.ConnectedClient{{Address: "10.7.0.4:33000"}}},
	}}
	return f
}

func TestClientTable(t *testing.T) {
	target, err := fdb.ParseVersion("7.4.6")
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]PodOwner{"10.7.0.1": {Pod: "shop/cart-1", Owner: "ReplicaSet/cart"}, "127.0.2.1": {Pod: "fdb/sample-storage-1"}}
	for name, q := range map[string]ClientQuestion{
		"all":                  {Owners: owners},
		"judged by a version":  {Owners: owners, Target: &target},
		"only those who block": {Owners: owners, Target: &target, OnlyBlocking: true},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteClients(&b, NewClientListView(meta, connected(t), q), ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestAListOfClientsSoonAfterARecoveryComesWithAWarning(t *testing.T) {
	f := connected(t)
	if v := NewClientListView(meta, f, ClientQuestion{}); len(v.Warnings) != 0 {
		t.Errorf("%q", v.Warnings)
	}
	f.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(3.0)
	if v := NewClientListView(meta, f, ClientQuestion{}); len(v.Warnings) != 1 {
		t.Errorf("%q", v.Warnings)
	}
}
