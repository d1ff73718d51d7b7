package safety

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// unknownProtocol is what the status document calls clients that have not said yet what
// they can speak. They say so within moments, under their version.
const unknownProtocol = "Unknown"

// ProtocolTold reports whether the clients of this entry have said what they can speak.
func ProtocolTold(v fdb.SupportedVersion) bool { return v.ProtocolVersion != unknownProtocol }

// CanTalkTo reports whether clients of this version can use a database of the target
// version. Clients talk to servers of their own protocol; one that knows a newer protocol
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

// IsIgnoredClient reports whether the spec says that clients of this log group may lose
// the database.
func IsIgnoredClient(c *v1beta2.FoundationDBCluster, client fdb.ConnectedClient) bool {
	return slices.Contains(c.IgnoreLogGroupsForUpgrade(), v1beta2.LogGroup(client.LogGroup))
}

// Machines are hosts by their IPs or names.
type Machines map[string]bool

// MachinesOfServers are the hosts of all servers, as they call themselves, and the IPs of
// the cluster's pods: where servers announce addresses of services, a client in their pod
// still comes from the pod's. The database has to have answered.
func MachinesOfServers(s plan.Snapshot) Machines {
	machines := ServerMachines(s.Database.Status)
	for _, pod := range s.Pods {
		for _, ip := range pod.Status.PodIPs {
			machines[ip.IP] = true
		}
	}
	return machines
}

// ServerMachines are the hosts that servers of any data center report from.
func ServerMachines(document *fdb.Status) Machines {
	machines := Machines{}
	for _, p := range document.ProcessList() {
		if p.Address.Host != "" {
			machines[p.Address.Host] = true
		}
	}
	return machines
}

// Has reports whether a client runs beside a server, as the fdbcli of a person or of a
// pass does. One whose address cannot be read may be anywhere.
func (m Machines) Has(client fdb.ConnectedClient) bool {
	address, err := fdb.ParseAddress(client.Address)
	return err == nil && m[address.Host]
}
