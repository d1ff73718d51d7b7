package planned

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Pruned is a resource that the manifests of a plan do not have any more, and what its deletion would do. No pass deletes it.
type Pruned struct {
	// Resource is the cluster by its name, a backup as fdbbackup/NAME, or a restore as fdbrestore/NAME.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`
	// Delete is the command that deletes it.
	Delete string `json:"delete"`
	// AppliedBy is who applied its manifest: kubectl, or a field manager; empty for a resource that was created otherwise.
	AppliedBy string `json:"appliedBy,omitempty"`
	// Pods are those that its deletion deletes, and PVCs those whose volumes follow.
	Pods int `json:"pods"`
	PVCs int `json:"pvcs"`
	// DeletedVolumes and RetainedVolumes are volumes of its PVCs by their reclaim policies, and UnknownVolumes those whose
	// policy could not be read.
	DeletedVolumes  []string `json:"deletedVolumes,omitempty"`
	RetainedVolumes []string `json:"retainedVolumes,omitempty"`
	UnknownVolumes  []string `json:"unknownVolumes,omitempty"`
	// UnknownReason is why policies of volumes could not be read; empty if all were.
	UnknownReason string `json:"unknownReason,omitempty"`
	// Stops are the backups and restores of a cluster: its database is removed with it.
	Stops []string `json:"stops,omitempty"`
	// DeletionPolicy is what becomes of a backup; empty for others.
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
	// Finalizers keep the resource until they are removed.
	Finalizers []string `json:"finalizers,omitempty"`
}

// Consequences returns what the deletion would do, in one line each: what cannot be undone first.
func (p Pruned) Consequences() []string {
	var all []string
	add := func(names []string, words string) {
		if len(names) > 0 {
			all = append(all, phrase.Count(len(names), "volume")+" "+words+": "+phrase.Some(names, 3))
		}
	}
	add(p.DeletedVolumes, phrase.Is(len(p.DeletedVolumes))+" deleted with all data (reclaim policy Delete)")
	add(p.UnknownVolumes, phrase.Has(len(p.UnknownVolumes))+" an unknown reclaim policy ("+p.UnknownReason+"), and may be deleted with all data")
	add(p.RetainedVolumes, phrase.Is(len(p.RetainedVolumes))+" retained (reclaim policy Retain)")
	if p.Pods > 0 || p.PVCs > 0 {
		all = append(all, fmt.Sprintf("%s and %s are deleted", phrase.Count(p.Pods, "pod"), phrase.Count(p.PVCs, "PVC")))
	}
	if len(p.Stops) > 0 {
		all = append(all, phrase.List(p.Stops)+" "+phrase.Either(len(p.Stops), "stops, because its", "stop, because their")+" cluster is removed")
	}
	switch p.DeletionPolicy {
	case "":
	case "cleanup":
		all = append(all, "the backup is stopped, and a pass deletes its data (spec.deletionPolicy is cleanup)")
	case "stop":
		all = append(all, "a pass stops the backup, and its data stays (spec.deletionPolicy is stop)")
	default:
		all = append(all, "the backup goes on in the database and nothing is written, because its agents are deleted; its data stays")
	}
	if len(p.Finalizers) > 0 {
		all = append(all, phrase.Either(len(p.Finalizers), "finalizer ", "finalizers ")+phrase.List(p.Finalizers)+" "+phrase.Either(len(p.Finalizers), "holds", "hold")+" the resource until a pass or a controller removes "+phrase.Either(len(p.Finalizers), "it", "them"))
	}
	return all
}
