package lists

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ClientListView is the document of `get clients`: the clients of the database, and which
// of them are incompatible with another version.
type ClientListView struct {
	inspect.Document
	// Target is the version that clients are checked against; empty for none.
	Target string `json:"target,omitempty"`
	// Count is how many clients the database counts; null when it does not report that.
	Count *int         `json:"count"`
	Items []ClientView `json:"items"`
}

// ClientView is one client, or several that the database counts without addresses.
type ClientView struct {
	// Address is empty for clients that are not named.
	Address string `json:"address,omitempty"`
	// Unnamed is how many clients the row stands for that the database does not name.
	Unnamed int `json:"unnamed,omitempty"`
	// Pod is NAMESPACE/NAME of the pod with that IP; empty when none is known.
	Pod string `json:"pod,omitempty"`
	// Owner is KIND/NAME of the owner of the pod.
	Owner string `json:"owner,omitempty"`
	// BesideProcess is true for a client on the machine of an fdbserver process of the database.
	BesideProcess bool `json:"besideProcess"`
	// Ignored is true where the spec ignores its log group.
	Ignored bool `json:"ignored"`
	// Version is the newest that the client can use.
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	LogGroup string `json:"logGroup,omitempty"`
	// Blocks is whether it blocks an upgrade to the target; null without a target, and for
	// clients that have not reported their versions yet.
	Blocks *bool `json:"blocks"`
}

// PodOwner is a pod, and its owner.
type PodOwner struct{ Pod, Owner string }

// ClientQuestion selects clients.
type ClientQuestion struct {
	// Target is the version to check against; nil for none.
	Target *fdb.Version
	// OnlyBlocking leaves out those that do not block it.
	OnlyBlocking bool
	// Owners are pods by their IPs.
	Owners map[string]PodOwner
}

// clientsReconnect is how long after a recovery the database may count fewer clients than
// there are. Source: what passes wait before they believe the list.
const clientsReconnect = 30 * time.Second

// NewClientListView makes the document of a status document that lists clients.
func NewClientListView(m inspect.Metadata, f inspect.Facts, q ClientQuestion) ClientListView {
	clients := f.Database.Status.Cluster.Clients
	v := ClientListView{Document: inspect.NewDocument("ClientList", m, f.Database.AsOf, inspect.SourceLive), Count: clients.Count, Items: []ClientView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	for _, c := range []plan.Check{safety.Available(f.Database), safety.RecoveredFor(f.Database, clientsReconnect)} {
		if !c.OK {
			v.Warnings = append(v.Warnings, "clients may be missing from the list: "+c.Text())
		}
	}
	if q.Target != nil {
		v.Target = q.Target.String()
	}
	machines := safety.MachinesOfServers(f.Snapshot)
	for _, version := range clients.SupportedVersions {
		for _, c := range version.MaxProtocolClients {
			row := newClientView(version, c, q)
			row.BesideProcess, row.Ignored = machines.Has(c), safety.IsIgnoredClient(f.Cluster, c)
			row.judge(version, q.Target)
			v.add(row, q)
		}
		if n := safety.UnnamedClients(version); n > 0 {
			row := ClientView{Unnamed: n, Version: version.ClientVersion, Protocol: version.ProtocolVersion}
			row.judge(version, q.Target)
			v.add(row, q)
		}
	}
	return v
}

func (v *ClientListView) add(row ClientView, q ClientQuestion) {
	if !q.OnlyBlocking || (row.Blocks != nil && *row.Blocks) {
		v.Items = append(v.Items, row)
	}
}

func newClientView(version fdb.SupportedVersion, c fdb.ConnectedClient, q ClientQuestion) ClientView {
	v := ClientView{Address: c.Address, Version: version.ClientVersion, Protocol: version.ProtocolVersion, LogGroup: c.LogGroup}
	if a, err := fdb.ParseAddress(c.Address); err == nil {
		owner := q.Owners[a.Host]
		v.Pod, v.Owner = owner.Pod, owner.Owner
	}
	return v
}

// judge decides whether a pass would wait for the client. Ignored clients and those beside
// processes do not block; one without an address does, since it may be any client.
func (v *ClientView) judge(version fdb.SupportedVersion, target *fdb.Version) {
	if target == nil || !safety.ProtocolReported(version) {
		return
	}
	blocks := !safety.CanTalkTo(version, *target) && !v.BesideProcess && !v.Ignored
	v.Blocks = &blocks
}
