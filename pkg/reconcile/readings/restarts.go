package readings

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Bounce lists the process groups whose processes have to restart.
type Bounce struct {
	Groups    []v1beta2.ProcessGroupID
	Addresses []fdb.Address
	// outdated groups have not loaded the configuration that they would start with.
	outdated []string
	// notReporting groups have to restart, and the database does not report their addresses.
	notReporting []string
	// Spared groups have to restart, and the spec prevents it.
	Spared []v1beta2.ProcessGroupID
	// Missing counts the groups of each class that are not waited for.
	Missing map[v1beta2.ProcessClass]int
	// MarkedForRemoval counts the groups of each class that are marked for removal.
	MarkedForRemoval map[v1beta2.ProcessClass]int
	// Excepted counts the groups of each class that the spec keeps from restarting.
	Excepted map[v1beta2.ProcessClass]int
	// processes are those of the status document by process group; nil without one. Where the
	// localities are wrong, they are those at the address of the group's pod.
	processes map[string][]fdb.Process
}

// CollectBounce classifies the process groups of a snapshot by whether they have to restart, and can.
func CollectBounce(s plan.Snapshot) Bounce {
	b := Bounce{
		Missing: map[v1beta2.ProcessClass]int{}, MarkedForRemoval: map[v1beta2.ProcessClass]int{}, Excepted: map[v1beta2.ProcessClass]int{},
		processes: s.Database.Status.ProcessesByGroup(),
	}
	for _, g := range s.Groups() {
		if g.ProcessClass.IsTester() || g.HasCondition(v1beta2.ConditionResourcesTerminating) {
			continue
		}
		if misnamed := b.misnamed(s, g); len(misnamed) > 0 {
			b.found(s, g, misnamed)
			continue
		}
		b.classify(s, g)
	}
	return b
}

// misnamed returns the processes of a group that must restart, and that only the address of its pod identifies.
func (b *Bounce) misnamed(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []fdb.Process {
	if b.processes == nil || !mustRestart(s, g) || len(b.addressesOf(g)) > 0 && !g.HasCondition(v1beta2.ConditionMissingProcesses) {
		return nil
	}
	return safety.Misnamed(s, g)
}

// found adds a group whose processes report another process group, from the address of its pod. They are
// not missing, and only a restart makes them report as the group's.
func (b *Bounce) found(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, misnamed []fdb.Process) {
	switch {
	case IsSpared(s, g.ProcessGroupID):
		b.Excepted[g.ProcessClass]++
		b.Spared = append(b.Spared, g.ProcessGroupID)
	case g.HasCondition(v1beta2.ConditionIncorrectConfigMap):
		b.outdated = append(b.outdated, string(g.ProcessGroupID))
	default:
		b.processes[string(g.ProcessGroupID)] = misnamed
		b.add(g)
	}
}

func (b *Bounce) classify(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	upgrade := IncompatibleUpgrade(s.Cluster)
	if g.IsRemovable() && b.unaddressed(g) {
		return // it is drained and has no process, so that none is waited for
	}
	if g.IsMarkedForRemoval() {
		b.MarkedForRemoval[g.ProcessClass]++
		if upgrade && g.IsExcluded() && !IsSpared(s, g.ProcessGroupID) && !MissingTooLong(s, g) {
			b.add(g) // no process may remain that uses the old protocol
			return
		}
	}
	switch {
	case MissingTooLong(s, g), PendingTooLong(s, g):
		b.Missing[g.ProcessClass]++
	case IsSpared(s, g.ProcessGroupID):
		b.Excepted[g.ProcessClass]++
		if mustRestart(s, g) {
			b.Spared = append(b.Spared, g.ProcessGroupID)
		}
	case g.HasCondition(v1beta2.ConditionIncorrectConfigMap) && KeepsItsConfig(s.Cluster, g):
		// it is drained with its current arguments
	case g.HasCondition(v1beta2.ConditionIncorrectConfigMap):
		b.outdated = append(b.outdated, string(g.ProcessGroupID))
	case !mustRestart(s, g):
	case b.unaddressed(g) && KeepsItsConfig(s.Cluster, g):
		// it starts with its new arguments when it comes back
	case b.unaddressed(g):
		b.notReporting = append(b.notReporting, string(g.ProcessGroupID))
		b.Groups = append(b.Groups, g.ProcessGroupID)
	default:
		b.add(g)
	}
}

// unaddressed reports whether the database reports no address of a group that could be restarted.
func (b *Bounce) unaddressed(g *v1beta2.ProcessGroupStatus) bool {
	return b.processes != nil && len(b.addressesOf(g)) == 0
}

func (b *Bounce) add(g *v1beta2.ProcessGroupStatus) {
	b.Groups = append(b.Groups, g.ProcessGroupID)
	b.Addresses = append(b.Addresses, b.addressesOf(g)...)
}

func (b *Bounce) addressesOf(g *v1beta2.ProcessGroupStatus) []fdb.Address {
	return addressesOf(b.processes[string(g.ProcessGroupID)])
}

// IsSpared reports whether the spec keeps a process group of this cluster from restarting.
func IsSpared(s plan.Snapshot, id v1beta2.ProcessGroupID) bool {
	return slices.Contains(s.Cluster.Spec.Buggify.IgnoreDuringRestart, id)
}

// MissingTooLong reports whether a restart no longer waits for the processes of a group.
func MissingTooLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
	return missing && s.Now.Sub(since) > s.Cluster.IgnoreMissingProcessesFor()
}

// mustRestart reports whether a group's processes would start with other arguments than they
// run with, and their pod needs no other change first. While listeners change, pods wait for
// the restart, so the restart must not wait for the pods.
func mustRestart(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	if !g.HasCondition(v1beta2.ConditionIncorrectCommandLine) {
		return false
	}
	first := []v1beta2.ProcessGroupConditionType{v1beta2.ConditionSidecarUnreachable, v1beta2.ConditionIncorrectPodSpec}
	switch {
	case IncompatibleUpgrade(s.Cluster):
		first = []v1beta2.ProcessGroupConditionType{v1beta2.ConditionIncorrectSidecarImage}
	case TLSConversion(s.Cluster):
		first = first[:1]
	}
	return !slices.ContainsFunc(first, g.HasCondition)
}

// NotReady describes why no process restarts yet: a restart of only some of the processes
// has to be repeated, and costs another recovery.
func (b *Bounce) NotReady() string {
	switch {
	case len(b.notReporting) > 0:
		return fmt.Sprintf("the processes of %s have to restart, and the database does not report their addresses", SomeOf(b.notReporting))
	case len(b.outdated) > 0:
		return fmt.Sprintf("all processes restart together, and these process groups have not loaded the current configuration: %s", SomeOf(b.outdated))
	default:
		return ""
	}
}

// AddressesOf returns the addresses of a group's processes in the status document.
func AddressesOf(status *fdb.Status, id v1beta2.ProcessGroupID) []fdb.Address {
	return addressesOf(status.ProcessesOf(string(id)))
}

func addressesOf(processes []fdb.Process) []fdb.Address {
	var addresses []fdb.Address
	for _, p := range processes {
		if !p.Address.IsZero() {
			addresses = append(addresses, p.Address)
		}
	}
	return addresses
}

// Restartable returns the own groups that can restart together with others': all that have
// to, once all of them can. It returns none during an upgrade to another protocol, which has
// announcements of its own.
func Restartable(s plan.Snapshot, b Bounce) []v1beta2.ProcessGroupID {
	if b.NotReady() != "" || s.Cluster.IsBeingUpgradedIncompatibly() {
		return nil
	}
	return slices.Clone(b.Groups)
}

// PendingTooLong reports whether a pod has been pending for too long to wait for it.
func PendingTooLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, pending := g.Condition(v1beta2.ConditionPodPending)
	return pending && s.Now.Sub(since) > s.Cluster.IgnorePendingPodsFor()
}

// DifferingKeys returns the sorted data keys in which two ConfigMaps differ.
func DifferingKeys(have, want *corev1.ConfigMap) []string {
	if maps.Equal(have.Data, want.Data) && reflect.DeepEqual(have.BinaryData, want.BinaryData) {
		return nil
	}
	differs := map[string]bool{}
	for key, value := range want.Data {
		if old, ok := have.Data[key]; !ok || old != value {
			differs[key] = true
		}
	}
	for key := range have.Data {
		if _, ok := want.Data[key]; !ok {
			differs[key] = true
		}
	}
	return slices.Sorted(maps.Keys(differs))
}

// InvalidSpec returns the decision of a stage that cannot reconcile the spec: only a change of the
// spec can resolve it.
func InvalidSpec(err error) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldSpecContradiction, Reason: "invalid spec: " + err.Error(), Manual: true}}
}

// KeepsItsConfig reports whether a process group is neither synced nor waited for, because it is
// marked for removal: an unreachable pod then blocks nothing. During an upgrade to another
// protocol, and a conversion to or from TLS, it has to restart with all others: the data on it
// could not be reached otherwise.
func KeepsItsConfig(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) bool {
	return g.IsMarkedForRemoval() && !IncompatibleUpgrade(c) && !TLSConversion(c)
}

// SomeOf returns the first few of many reasons, which have commas, and how many more there are.
func SomeOf[T ~string](reasons []T) string { return phrase.SomeBy(reasons, 3, "; ") }

// CompatibleUpgrade reports whether the cluster is between two compatible versions, so that its
// processes may run either. Pods are created for the new version at once.
func CompatibleUpgrade(c *v1beta2.FoundationDBCluster) bool {
	running, err := fdb.ParseVersion(c.RunningVersion())
	if err != nil {
		return false
	}
	desired, err := fdb.ParseVersion(c.Spec.Version)
	return err == nil && running != desired && running.ProtocolCompatible(desired)
}

// IncompatibleUpgrade reports whether the cluster is between two incompatible versions, so that
// all of its processes have to restart at once. A new pod would start with a version that the
// database does not run: none should be created needlessly. Versions that cannot be compared
// count as incompatible. A status without a running version means that no upgrade is active.
func IncompatibleUpgrade(c *v1beta2.FoundationDBCluster) bool {
	return c.IsBeingUpgradedIncompatibly()
}

// TLSConversion reports whether the cluster is being converted to or from TLS: its processes have
// to be reachable both ways, because the spec sets one and a coordinator still uses the other.
func TLSConversion(c *v1beta2.FoundationDBCluster) bool {
	return c.Status.RequiredAddresses.TLS && c.Status.RequiredAddresses.NonTLS
}

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
