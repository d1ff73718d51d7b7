package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestWhichClientVersionsAreCompatibleWithAVersion(t *testing.T) {
	target := fdb.Version{Major: 7, Minor: 3, Patch: 79}
	for version, want := range map[string]bool{
		"7.3.79": true, "7.3.1": true, "7.4.6": true, "7.1.61": false, "6.3.25": false, "": false, "Unknown": false,
	} {
		if got := CanTalkTo(fdb.SupportedVersion{ClientVersion: version}, target); got != want {
			t.Errorf("%q: %t, want %t", version, got, want)
		}
	}
}

func TestAnUnknownProtocolVersionCountsAsNotReported(t *testing.T) {
	for protocol, want := range map[string]bool{"Unknown": false, "fdb00b073000000": true} {
		if got := ProtocolReported(fdb.SupportedVersion{ProtocolVersion: protocol}); got != want {
			t.Errorf("%s: %t, want %t", protocol, got, want)
		}
	}
}

func TestUnnamedClientsAreCounted(t *testing.T) {
	named := make([]fdb.ConnectedClient, 2)
	tests := map[string]struct {
		entry fdb.SupportedVersion
		want  int
	}{
		"all are named":      {fdb.SupportedVersion{MaxProtocol: new(2), MaxProtocolClients: named}, 0},
		"one is not":         {fdb.SupportedVersion{MaxProtocol: new(3), MaxProtocolClients: named}, 1},
		"more named":         {fdb.SupportedVersion{MaxProtocol: new(1), MaxProtocolClients: named}, 0},
		"without a count":    {fdb.SupportedVersion{MaxProtocolClients: named}, 0},
		"a count of no name": {fdb.SupportedVersion{MaxProtocol: new(1)}, 1},
	}
	for name, tc := range tests {
		if got := UnnamedClients(tc.entry); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestClientsAreIgnoredByLogGroup(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	c.Spec.AutomationOptions.IgnoreLogGroupsForUpgrade = []v1beta2.LogGroup{"batch"}
	for group, want := range map[string]bool{"batch": true, "web": false, "": false} {
		if got := IsIgnoredClient(c, fdb.ConnectedClient{LogGroup: group}); got != want {
			t.Errorf("%q: %t, want %t", group, got, want)
		}
	}
}

func TestClientsOnMachinesOfProcessesAreRecognized(t *testing.T) {
	s := leavable(t)
	pod := &corev1.Pod{}
	pod.Status.PodIPs = []corev1.PodIP{{IP: "10.1.0.1"}, {IP: "fd00::1"}}
	s.Pods = map[string]*corev1.Pod{"any": pod}
	edit("test-1", func(p *fdb.Process) { p.Address = fdb.Address{} })(&s)
	machines := MachinesOfServers(plan.Snapshot{Database: s.Database, Pods: s.Pods})
	for address, want := range map[string]bool{
		"10.0.0.1:4000": true, "10.1.0.1:4000": true, "[fd00::1]:4000": true, "10.9.0.1:4000": false, "": false, "no address": false,
	} {
		if got := machines.Has(fdb.ConnectedClient{Address: address}); got != want {
			t.Errorf("%q: %t, want %t", address, got, want)
		}
	}
	if machines[""] {
		t.Error("a process without an address makes a machine without a name")
	}
}
