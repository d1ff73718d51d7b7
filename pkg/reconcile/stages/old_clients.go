package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// unknownProtocol is what the status document calls clients that have not said yet what
// they can speak. They say so within moments, under their version.
const unknownProtocol = "Unknown"

// oldClients are the clients that know no version which can talk to target, in words.
// The document names samples of clients; those that it only counts are old as well.
func oldClients(s plan.Snapshot, target fdb.Version) []string {
	machines := machinesOfServers(s)
	var old []string
	for _, v := range s.Database.Status.Cluster.Clients.SupportedVersions {
		if v.ProtocolVersion == unknownProtocol || canTalkTo(v, target) {
			continue
		}
		for _, client := range v.MaxProtocolClients {
			if !mayLose(s.Cluster, client, machines) {
				old = append(old, fmt.Sprintf("%s (version %s, log group %s)", client.Address, v.ClientVersion, orNone(client.LogGroup)))
			}
		}
		if unnamed := unnamedClients(v); unnamed > 0 {
			old = append(old, fmt.Sprintf("%d more of version %s that the status document does not name", unnamed, v.ClientVersion))
		}
	}
	return old
}

// canTalkTo reports whether clients of this version can use a database of the target
// version. Clients talk to servers of their own protocol; one that knows a newer protocol
// than the target's is of a later release, and brings the libraries of earlier ones.
func canTalkTo(v fdb.SupportedVersion, target fdb.Version) bool {
	version, err := fdb.ParseVersion(v.ClientVersion)
	return err == nil && (version.ProtocolCompatible(target) || version.AtLeast(target))
}

// mayLose reports whether a client may lose the database: its log group says that it does
// not matter, or it runs beside a server, as the fdbcli of a person or of a pass does. A
// client whose address cannot be read may be anybody.
func mayLose(c *v1beta2.FoundationDBCluster, client fdb.ConnectedClient, machines map[string]bool) bool {
	if slices.Contains(c.IgnoreLogGroupsForUpgrade(), v1beta2.LogGroup(client.LogGroup)) {
		return true
	}
	address, err := fdb.ParseAddress(client.Address)
	return err == nil && machines[address.Host]
}

// unnamedClients is how many clients the document counts beyond those that it names.
func unnamedClients(v fdb.SupportedVersion) int {
	if v.MaxProtocol == nil {
		return 0
	}
	return max(0, *v.MaxProtocol-len(v.MaxProtocolClients))
}

// machinesOfServers are the hosts of all servers, as they call themselves, and the IPs of
// the cluster's pods: where servers announce addresses of services, a client in their pod
// still comes from the pod's.
func machinesOfServers(s plan.Snapshot) map[string]bool {
	machines := serverMachines(s.Database.Status)
	for _, pod := range s.Pods {
		for _, ip := range pod.Status.PodIPs {
			machines[ip.IP] = true
		}
	}
	return machines
}

// serverMachines are the hosts that servers of any data center report from.
func serverMachines(document *fdb.Status) map[string]bool {
	machines := map[string]bool{}
	for _, p := range document.ProcessList() {
		if p.Address.Host != "" {
			machines[p.Address.Host] = true
		}
	}
	return machines
}

func orNone(logGroup string) string {
	if logGroup == "" {
		return "none"
	}
	return logGroup
}
