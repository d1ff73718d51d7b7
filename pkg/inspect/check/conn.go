package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// connections returns the rules about connection strings.
func connections() []Rule {
	return []Rule{
		{
			Code: "CONN-001", Severity: Error, Title: "The resource has the connection string of the database", Needs: findings.NeedsAvailableDatabase,
			Why: "A client that uses the connection string of the resource looks for the wrong coordinators. A pass that ended right after a change of coordinators leaves this behind; the next one fixes it.",
			Find: func(f Facts) ([]Finding, string) {
				return f.sameString("foundationdbcluster/"+f.Cluster.Name, f.Cluster.Status.ConnectionString, f.Database.Status.Cluster.ConnectionString, "the database")
			},
		},
		{
			Code: "CONN-002", Severity: Error, Title: "The ConfigMap has the connection string of the resource",
			Why:  "New pods, and clients that mount the ConfigMap, start with its cluster file.",
			Find: configMapString,
		},
		{
			Code: "CONN-003", Severity: Warning, Title: "Coordinator names resolve in less than a second",
			Why:  "fdbserver processes resolve coordinators continuously, and their heartbeats time out after 2 s. A resolver that drops queries, or waits for a name that no longer exists, can make the database elect one cluster controller after the other and stop serving. Check the DNS servers of the Kubernetes cluster and how many queries they drop.",
			Find: coordinatorNames,
		},
		{
			Code: "CONN-004", Severity: Error, Title: "Coordinator names resolve to their pods",
			Why:  "A name that resolves to another address makes processes and clients ask a process that is no coordinator, or that of another database, so a vote of the quorum is missing. The resolver of a Kubernetes cluster keeps an address for some seconds: if the address remains, compare the EndpointSlices of the headless Service with the pods, and look for a second record of the same name.",
			Find: coordinatorAddresses,
		},
	}
}

func configMapString(f Facts) ([]Finding, string) {
	name := "configmap/" + f.Cluster.ConfigMapName()
	switch {
	case f.ConfigMap == nil:
		return with(one(name, "not found", f.fix("reconcile")...))
	case f.Cluster.Status.ConnectionString == "" && f.ConfigMap.Data[objects.KeyClusterFile] == "":
		return nil, "" // there is no database yet
	default:
		return f.sameString(name, f.ConfigMap.Data[objects.KeyClusterFile], f.Cluster.Status.ConnectionString, "the resource")
	}
}

// sameString compares connection strings as text, without surrounding white space: both the
// coordinators and the ID count.
// connectionWords returns a connection string without its ID, which grants access to the database. It mentions the ID
// if two strings differ in nothing else.
func connectionWords(text, other string) string {
	shown := redact.Kept(text)
	if shown == redact.Kept(other) {
		return strconv.Quote(shown) + " with another ID"
	}
	return strconv.Quote(shown)
}

func (f Facts) sameString(subject, have, want, whose string) ([]Finding, string) {
	switch have, want = strings.TrimSpace(have), strings.TrimSpace(want); {
	case want == "":
		return nil, "the connection string of " + whose + " is unknown"
	case have == want:
		return nil, ""
	default:
		return with(one(subject, fmt.Sprintf("it has %s, %s %s", connectionWords(have, want), whose, connectionWords(want, have)), f.fix("reconcile")...))
	}
}
