// Package recovery classifies what a FoundationDB cluster lost, and plans how to get it back. It
// is pure: package collect reads the facts, package execute carries out a plan.
package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Facts are what the resource, the pods, the volumes and the database of a cluster show. All of
// it can be read without a quorum of coordinators.
type Facts struct {
	// UID identifies the FoundationDBCluster.
	UID string `json:"uid"`
	// Recorded is the connection string in the status; empty if there is none. Of a resource with an empty
	// status, whose process groups are inferred, it is the one of the ConfigMap or of the spec's seed.
	Recorded string `json:"recorded"`
	// ConfigMap is the connection string from which new pods start; empty if there is none.
	ConfigMap string `json:"configMap"`
	// Queried are the coordinators that the database was queried with; empty if it was not.
	Queried []string `json:"queried"`
	// Quorum is whether a quorum of those answers; null when unknown.
	Quorum *bool `json:"quorum"`
	// Available is whether the database answers; null when unknown.
	Available *bool `json:"available"`
	// Unknown is why Quorum and Available are unknown; empty when they are known.
	Unknown string `json:"unknown,omitempty"`
	// Coordinators are those of the recorded connection string, in its order.
	Coordinators []Coordinator `json:"coordinators"`
	// Groups are the process groups of the status and their pods and volumes.
	Groups []Group `json:"groups"`
	// Released are volumes whose PVC was deleted.
	Released []ReleasedVolume `json:"released"`
	// Releasing are volumes of process groups whose PVC does not exist, and that are in another phase than Released.
	Releasing []ReleasingVolume `json:"releasing,omitempty"`
	// Placement is where coordinators can be.
	Placement Placement `json:"placement"`
	// Outage is what the database reports of itself while it is not available.
	Outage Outage `json:"outage"`
	// UsersUnknown is why it is unknown which other pods mount the PVCs; empty if it is known.
	UsersUnknown string `json:"usersUnknown,omitempty"`
}

// Coordinator is one coordinator of the recorded connection string.
type Coordinator struct {
	// Address is as the connection string has it.
	Address string `json:"address"`
	// Reachable is whether it answers; null when unknown.
	Reachable *bool `json:"reachable"`
}

// Group is a process group, and what its pod and its volume hold.
type Group struct {
	ID    string `json:"id"`
	Class string `json:"class"`
	// Addresses are those of the status: of the pod when the status was written.
	Addresses []string `json:"addresses"`
	// Pod is empty if there is none.
	Pod    string `json:"pod,omitempty"`
	PodUID string `json:"podUID,omitempty"`
	Node   string `json:"node,omitempty"`
	Phase  string `json:"phase,omitempty"`
	// Now are the addresses of the processes of the pod.
	Now []string `json:"now"`
	// PVC is empty if there is none; Volume if it is not bound.
	PVC    string `json:"pvc,omitempty"`
	Volume string `json:"volume,omitempty"`
	// Stateful is whether the class keeps data or coordination state.
	Stateful bool `json:"stateful"`
	// Files are what the pod has; null if it could not be read.
	Files *datadir.Files `json:"files"`
	// Unread is why Files could not be read; empty otherwise.
	Unread string `json:"unread,omitempty"`
	// Names are those that its objects have, or get when they are created again.
	Names Names `json:"names"`
	// Removed is whether the group is drained and only its objects are left: it gets no pod.
	Removed bool `json:"removed,omitempty"`
	// Inferred is whether the status lacks the group, which is known by the name of a volume's PVC alone.
	Inferred bool `json:"inferred,omitempty"`
	// PVCPhase is the phase of the PVC, Terminating if it is being deleted.
	PVCPhase string `json:"pvcPhase,omitempty"`
	// UsedBy are other pods that mount the PVC and have not ended.
	UsedBy []string `json:"usedBy,omitempty"`
}

// Names are the names of the objects of a process group, whether they exist or not.
type Names struct {
	Pod string `json:"pod"`
	PVC string `json:"pvc"`
	DNS string `json:"dns"`
}

// ReleasedVolume is a PersistentVolume whose PVC was deleted, or that is reserved for a PVC of this
// name and not bound yet.
type ReleasedVolume struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
	// PVC is the name of the deleted PVC.
	PVC string `json:"pvc"`
	// ClaimUID is the UID of the deleted PVC; empty once the volume is only reserved for a name.
	ClaimUID string `json:"claimUID,omitempty"`
	// Policy is the reclaim policy: Retain keeps the volume.
	Policy string `json:"policy"`
}

// ReleasingVolume is a PersistentVolume that its PVC has left, and that cannot be bound again in its phase.
type ReleasingVolume struct {
	Name string `json:"name"`
	// PVC is the name of the deleted PVC.
	PVC string `json:"pvc"`
	// Phase is Bound until Kubernetes notices that the PVC is deleted, or Failed.
	Phase string `json:"phase"`
}

// Generation returns the description and ID of a connection string, empty if it is invalid.
func Generation(connectionString string) string {
	s, err := fdb.ParseConnectionString(connectionString)
	if err != nil {
		return ""
	}
	return s.Description + ":" + s.ID
}

// Coordinates reports whether the volume has coordination state of the recorded generation, as far
// as could be read.
func (g Group) Coordinates() bool {
	return g.Files != nil && slices.ContainsFunc(g.Files.Coordination, func(f datadir.File) bool { return f.Current })
}

// isAt reports whether the status has the host of a coordinator as an address of the group.
func (g Group) isAt(host string) bool {
	return slices.ContainsFunc(g.Addresses, func(a string) bool { return fdb.SameHost(a, host) })
}

// nowAt reports whether the pod has this address now.
func (g Group) nowAt(host string) bool {
	return slices.ContainsFunc(g.Now, func(a string) bool { return fdb.SameHost(a, host) })
}

// Name returns the name of the pod, or of the PVC, or the ID: what users look for.
func (g Group) Name() string {
	for _, name := range []string{g.Pod, g.PVC} {
		if name != "" {
			return name
		}
	}
	return g.ID
}

// strings returns every different connection string of the facts, in any order of coordinators, with
// the places that have it.
func (f Facts) strings() map[string][]string {
	all := map[string][]string{}
	note := func(text, place string) {
		if text = canonical(text); text != "" {
			all[text] = append(all[text], place)
		}
	}
	note(f.Recorded, "status")
	note(f.ConfigMap, "configmap")
	for _, g := range f.Groups {
		if g.Files != nil {
			note(g.Files.ClusterFile, "pod/"+g.Pod)
		}
	}
	return all
}

// canonical returns a connection string with its coordinators sorted; an invalid one as it is.
func canonical(text string) string {
	s, err := fdb.ParseClusterFile(text)
	if err != nil {
		return strings.TrimSpace(text)
	}
	stable.Sort(s.Coordinators, func(a, b fdb.Address) int { return strings.Compare(a.Coordinator(), b.Coordinator()) })
	return s.String()
}

// asks reports whether the database was queried with the coordinators of a connection string.
func (f Facts) asks(connectionString string) bool {
	s, err := fdb.ParseConnectionString(connectionString)
	if err != nil || len(f.Queried) == 0 {
		return false
	}
	queried, err := fdb.ParseAddresses(strings.Join(f.Queried, ","))
	return err == nil && s.SameCoordinators(queried)
}

// SameConnectionString reports whether two texts are the same connection string, in any order of
// coordinators.
func SameConnectionString(a, b string) bool { return canonical(a) == canonical(b) }

// Placement is where coordinators can be, and which volumes of lost PVCs may still exist.
type Placement struct {
	// Desired is how many coordinators the redundancy mode requires.
	Desired int `json:"desired"`
	// Shared is why the pods of the cluster are not all processes of a database in one data center;
	// empty if they are.
	Shared string `json:"shared,omitempty"`
	// Regions is how many regions the spec has: in several, each has resources of its own.
	Regions int `json:"regions,omitempty"`
	// Candidates are the process groups that can be coordinators: of an eligible class, not marked for
	// removal, in a known zone, and with a process that runs.
	Candidates []Candidate `json:"candidates"`
	// Volumes are PersistentVolumes of a deleted PVC that were not released, as those in deletion.
	Volumes []string `json:"volumes"`
	// Claims are PVCs of the cluster that no process group in the status has.
	Claims []string `json:"claims"`
	// VolumesUnknown is why PersistentVolumes could not be listed; empty otherwise.
	VolumesUnknown string `json:"volumesUnknown,omitempty"`
}

// Candidate is a process group that can be a coordinator.
type Candidate struct {
	Group string `json:"group"`
	Zone  string `json:"zone"`
	// Address is how a connection string names its process.
	Address string `json:"address"`
	// Directory is the data directory of that process.
	Directory string `json:"directory"`
	// Priority of its class: the higher one is preferred.
	Priority int `json:"priority"`
}

// obstacles are volumes that may have the state of a coordinator that counts as lost.
func (p Placement) obstacles() (all []string) {
	if p.VolumesUnknown != "" {
		all = append(all, "whether volumes of deleted PVCs exist is unknown: "+p.VolumesUnknown)
	}
	for _, name := range p.Claims {
		all = append(all, fmt.Sprintf("PVC %s of the cluster is of no process group in the status", name))
	}
	for _, name := range p.Volumes {
		all = append(all, fmt.Sprintf("volume %s of a deleted PVC still exists", name))
	}
	return all
}
