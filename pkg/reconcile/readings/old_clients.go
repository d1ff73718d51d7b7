package readings

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// OldClients returns the clients that have no version compatible with target. The status
// document names only a sample of clients; those that it only counts are old as well.
func OldClients(s plan.Snapshot, target fdb.Version) []string {
	machines := safety.MachinesOfServers(s)
	var old []string
	for _, v := range s.Database.Status.Cluster.Clients.SupportedVersions {
		if !safety.ProtocolReported(v) || safety.CanTalkTo(v, target) {
			continue
		}
		for _, client := range v.MaxProtocolClients {
			if !safety.IsIgnoredClient(s.Cluster, client) && !machines.Has(client) {
				old = append(old, fmt.Sprintf("%s (version %s, log group %s)", client.Address, v.ClientVersion, orNone(client.LogGroup)))
			}
		}
		if unnamed := safety.UnnamedClients(v); unnamed > 0 {
			old = append(old, fmt.Sprintf("%d more of version %s, not named in the status document", unnamed, v.ClientVersion))
		}
	}
	return old
}

func orNone(logGroup string) string {
	if logGroup == "" {
		return "none"
	}
	return logGroup
}
