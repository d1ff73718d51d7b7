package safety

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// unknownProtocol is the protocol in the status document of clients that have not reported
// theirs yet. They report it within moments, under their version.
const unknownProtocol = "Unknown"

// ProtocolReported reports whether the clients of this entry have reported their protocol.
func ProtocolReported(v fdb.SupportedVersion) bool { return v.ProtocolVersion != unknownProtocol }

// CanTalkTo reports whether clients of this version can use a database of the target
// version. Clients connect to processes of their own protocol; one that knows a newer protocol
// than the target's is of a later release, and brings the libraries of earlier ones.
func CanTalkTo(v fdb.SupportedVersion, target fdb.Version) bool {
	version, err := fdb.ParseVersion(v.ClientVersion)
	return err == nil && (version.ProtocolCompatible(target) || version.AtLeast(target))
}

// UnnamedClients is how many clients the document counts beyond those that it names.
func UnnamedClients(v fdb.SupportedVersion) int {
	if v.MaxProtocol == nil {
		return 0
	}
	return max(0, *v.MaxProtocol-len(v.MaxProtocolClients))
}

// IsIgnoredClient reports whether the spec ignores clients of this log group in upgrades: they may lose
// their connection to the database.
func IsIgnoredClient(c *v1beta2.FoundationDBCluster, client fdb.ConnectedClient) bool {
	return slices.Contains(c.IgnoreLogGroupsForUpgrade(), v1beta2.LogGroup(client.LogGroup))
}

// Machines are hosts by their IPs or names.
type Machines map[string]bool

// MachinesOfServers are the hosts that all processes report, and the IPs of
// the cluster's pods: where processes announce service addresses, a client in their pod
// still comes from the pod's. The status document must be present.
func MachinesOfServers(s plan.Snapshot) Machines {
	machines := ServerMachines(s.Database.Status)
	for _, pod := range s.Pods {
		for _, ip := range pod.Status.PodIPs {
			machines[ip.IP] = true
		}
	}
	return machines
}

// ServerMachines are the hosts that processes of any data center report from.
func ServerMachines(document *fdb.Status) Machines {
	machines := Machines{}
	for _, p := range document.ProcessList() {
		if p.Address.Host != "" {
			machines[p.Address.Host] = true
		}
	}
	return machines
}

// Has reports whether a client runs on the host of a process, as the fdbcli of a user or of a
// pass does. A client whose address cannot be parsed may run anywhere.
func (m Machines) Has(client fdb.ConnectedClient) bool {
	address, err := fdb.ParseAddress(client.Address)
	return err == nil && m[address.Host]
}
