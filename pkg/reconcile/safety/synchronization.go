package safety

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ActsTogether reports whether this control-plane instance excludes, restarts and includes
// process groups together with all others that share the database.
func ActsTogether(c *v1beta2.FoundationDBCluster) bool {
	return c.SynchronizationMode() == v1beta2.SynchronizationModeGlobal
}

// How long lists must be unchanged before control-plane instances act on them together.
const (
	// SynchronizationQuiet gives every control-plane instance the time to add its own process groups.
	// Default 30 s; source: the operator's flag global-synchronization-wait-duration.
	SynchronizationQuiet = 30 * time.Second
	// partialLimit is how long after the last change an exclusion proceeds without those
	// that are not ready: they may be waiting for their exclusion budget. Default the longer
	// of 5 × SynchronizationQuiet and 5 min; source: the operator's rules.
	partialLimit = max(5*SynchronizationQuiet, 5*time.Minute)
)

// SynchronizedAction is an action that all control-plane instances take together.
type SynchronizedAction struct {
	// Name is what happens to the process groups: "exclusion".
	Name string
	// Pending lists the process groups that need it, Ready those that may have it now.
	Pending, Ready fdb.SharedList
	// partial is after how long it proceeds with only some of the pending; 0 for never.
	partial time.Duration
}

// CommonExclusion starts draining process groups of all control-plane instances.
func CommonExclusion() SynchronizedAction {
	return SynchronizedAction{Name: "exclusion", Pending: fdb.PendingForExclusion, Ready: fdb.ReadyForExclusion, partial: partialLimit}
}

// CommonInclusion ends the exclusions of process groups of all control-plane instances.
func CommonInclusion() SynchronizedAction {
	return SynchronizedAction{Name: "inclusion", Pending: fdb.PendingForInclusion, Ready: fdb.ReadyForInclusion}
}

// CommonRestart restarts process groups of all control-plane instances.
func CommonRestart() SynchronizedAction {
	return SynchronizedAction{Name: "restart", Pending: fdb.PendingForRestart, Ready: fdb.ReadyForRestart}
}

// Synchronized checks whether all control-plane instances are ready for a synchronized
// action: its lists have not just changed, and all that are pending are ready. Members are the
// process groups to act on, all of them listed as pending and ready. Missing is how long to
// wait at least.
//
// The operator takes equal numbers of entries for equal sets, and proceeds with all that are
// ready; here a process group must be on both lists.
func Synchronized(s plan.Snapshot, action SynchronizedAction) (members []fdb.Member, check plan.Check, missing time.Duration) {
	check = plan.Check{ID: plan.CheckInstancesReady, Subject: action.Name, Question: fmt.Sprintf("are all control-plane instances ready for the synchronized %s?", action.Name), Gate: plan.GateSync}
	lists := s.Coordination.Lists
	if !lists.Read {
		check.Evidence = "the shared lists of control-plane instances could not be read"
		return nil, check, SynchronizationQuiet
	}
	agreed, open := split(lists, action)
	last, age := lastChange(s, action)
	switch {
	case len(agreed) == 0:
		check.Evidence, missing = "no process group is both pending and ready", SynchronizationQuiet
	case age < SynchronizationQuiet:
		missing = SynchronizationQuiet - age
		check.Evidence = fmt.Sprintf("%s was listed %s ago, %s required", last, age.Round(time.Second), SynchronizationQuiet)
	case len(open) == 0:
		check.OK = true
		check.Evidence = fmt.Sprintf("%s %s ready, unchanged for %s", phrase.CountOf(len(agreed), len(agreed), "pending process group"), phrase.Is(len(agreed)), age.Round(time.Second))
	case action.partial > 0 && age >= action.partial:
		check.OK = true
		check.Evidence = fmt.Sprintf("%s %s ready, unchanged for %s; not ready and left out: %s", phrase.Count(len(agreed), "process group"), phrase.Is(len(agreed)), age.Round(time.Second), someMembers(open))
	default:
		missing = SynchronizationQuiet
		check.Evidence = "not both pending and ready: " + someMembers(open)
	}
	if !check.OK {
		return nil, check, missing
	}
	return agreed, check, 0
}

// split returns the process groups that are pending and ready, and those that are only
// one of the two.
func split(lists plan.ListFacts, action SynchronizedAction) (agreed, open []fdb.Member) {
	for _, m := range lists.Members(action.Pending) {
		if lists.Has(action.Ready, m) {
			agreed = append(agreed, m)
		} else {
			open = append(open, m)
		}
	}
	for _, m := range lists.Members(action.Ready) {
		if !lists.Has(action.Pending, m) {
			open = append(open, m)
		}
	}
	return agreed, open
}

// lastChange is the latest entry, and how long ago it was listed. An entry of the future, by a
// clock that is ahead, counts as listed now.
func lastChange(s plan.Snapshot, action SynchronizedAction) (last fdb.Member, age time.Duration) {
	var at time.Time
	for _, list := range []fdb.SharedList{action.Pending, action.Ready} {
		for _, m := range s.Coordination.Lists.Members(list) {
			if since := s.Coordination.Lists.Entries[list][m]; since.After(at) {
				last, at = m, since
			}
		}
	}
	return last, max(0, s.Now.Sub(at))
}

func someMembers(members []fdb.Member) string {
	const most = 3
	var words []string
	for _, m := range members[:min(most, len(members))] {
		words = append(words, m.String())
	}
	if left := len(members) - most; left > 0 {
		words = append(words, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(words, ", ")
}

// Others are the process groups among the members that belong to other control-plane
// instances. Only this cluster announces a group of its own status, whatever an entry contains.
func Others(s plan.Snapshot, members []fdb.Member) []*v1beta2.ProcessGroupStatus {
	var others []*v1beta2.ProcessGroupStatus
	for _, m := range members {
		id := v1beta2.ProcessGroupID(m.Group)
		if m.Instance == s.Cluster.Spec.ProcessGroupIDPrefix || s.Cluster.ProcessGroup(id) != nil {
			continue
		}
		others = append(others, &v1beta2.ProcessGroupStatus{ProcessGroupID: id, Addresses: s.Coordination.Lists.Addresses[m]})
	}
	return others
}

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
