package inspect

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// DeletionView is an object that is being deleted, and takes data with it.
type DeletionView struct {
	// Kind is FoundationDBCluster, Namespace or PersistentVolumeClaim.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Since is when the deletion was requested.
	Since time.Time `json:"since"`
	// Finalizers keep the object until they are removed.
	Finalizers []string `json:"finalizers"`
	// ProcessGroup is whose data is on the volume of a PVC.
	ProcessGroup string `json:"processGroup,omitempty"`
	// ReclaimPolicy is what becomes of the volume of a PVC; empty if it could not be read.
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// Message is what the deletion means, in one sentence.
	Message string `json:"message"`
}

// cell returns the deletion as lists show it beside the state: a PVC takes less with it than the others.
func (d DeletionView) cell() string {
	if d.ProcessGroup != "" {
		return "pvc-being-deleted"
	}
	return "being-deleted"
}

// Deletions returns what is being deleted, what takes most first: the resource, its namespace, and the
// PVCs of process groups that are not drained.
func (f Facts) Deletions() []DeletionView {
	var all []DeletionView
	for _, d := range safety.Deletions(f.Snapshot) {
		all = append(all, DeletionView{Kind: d.Kind, Name: d.Name, Since: d.Since, Finalizers: OrEmpty(d.Finalizers), Message: d.Text()})
	}
	for _, g := range f.Groups() {
		if claim := f.GoingPVC(g); claim != nil {
			all = append(all, f.deletionOf(g, claim))
		}
	}
	return all
}

// GoingPVC returns the PVC of a process group if it is being deleted and the group is not drained; nil
// otherwise.
func (f Facts) GoingPVC(g *v1beta2.ProcessGroupStatus) *corev1.PersistentVolumeClaim {
	claim := f.Volumes[g.PVCName(f.Cluster)]
	if claim == nil || claim.DeletionTimestamp == nil || g.IsRemovable() {
		return nil
	}
	return claim
}

func (f Facts) deletionOf(g *v1beta2.ProcessGroupStatus, claim *corev1.PersistentVolumeClaim) DeletionView {
	d := DeletionView{
		Kind: "PersistentVolumeClaim", Name: claim.Name, Since: claim.DeletionTimestamp.Time, Finalizers: OrEmpty(claim.Finalizers), ProcessGroup: string(g.ProcessGroupID),
		Message: fmt.Sprintf("PVC %s is being deleted since %s; it ends with the pod of %s", claim.Name, claim.DeletionTimestamp.UTC().Format(time.RFC3339), g.ProcessGroupID),
	}
	policy, known := safety.PolicyOf(f.Snapshot, claim)
	switch {
	case !known:
		d.Message += ", and the reclaim policy of its volume is unknown"
	case policy == corev1.PersistentVolumeReclaimRetain:
		d.ReclaimPolicy = string(policy)
		d.Message += ", and its volume is retained"
	default:
		d.ReclaimPolicy = string(policy)
		d.Message += ", and the data with it"
	}
	return d
}

// VolumeNames returns the PersistentVolumes of the cluster's PVCs, sorted.
func (f Facts) VolumeNames() []string {
	var names []string
	for _, claim := range f.Volumes {
		if claim.Spec.VolumeName != "" {
			names = append(names, claim.Spec.VolumeName)
		}
	}
	slices.Sort(names)
	return names
}

// RetainArgs returns the arguments of the kubectl command that keeps volumes when their PVCs are
// deleted; nil without volumes.
func RetainArgs(volumes ...string) []string {
	if len(volumes) == 0 {
		return nil
	}
	return slices.Concat([]string{"patch", "pv"}, volumes, []string{"-p", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`})
}
