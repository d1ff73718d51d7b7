package safety

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// VolumeStays checks whether a process group keeps its volume when its pod ends, and the recreated
// pod has the same data. Everything that takes a pod down asks it. A PVC that is being deleted stays
// until no pod uses it: the end of the pod is the end of the volume, and of the last copy of the data
// on it that is nowhere else.
func VolumeStays(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckKeepsVolume, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("does %s keep its volume?", g.ProcessGroupID), Gate: plan.GateReplicas}
	name := g.PVCName(s.Cluster)
	claim := s.Volumes[name]
	switch {
	case !g.ProcessClass.IsStateful():
		c.OK, c.Evidence = true, "it has no PVC"
	case claim == nil:
		c.Evidence = "PVC " + name + " not found"
	case claim.DeletionTimestamp != nil:
		c.Evidence = fmt.Sprintf("PVC %s is being deleted since %s", name, claim.DeletionTimestamp.UTC().Format(time.RFC3339))
	case startedBefore(s.Pod(g), claim):
		c.Evidence = "PVC " + name + " is younger than the pod, which uses the volume of a deleted PVC of that name"
	default:
		c.OK, c.Evidence = true, "PVC "+name+" remains"
	}
	return c
}

// startedBefore reports whether a pod runs since before a PVC of the name that it mounts was created.
// The kubelet starts no pod without its PVC, so the pod has another volume.
func startedBefore(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	return pod != nil && pod.Status.StartTime != nil && !claim.CreationTimestamp.IsZero() && pod.Status.StartTime.Before(&claim.CreationTimestamp)
}

// DataElsewhere checks whether the database needs nothing of the volume that a process group lost: data
// and logs have more than one copy, and the database is available and fully recovered without this one.
// Of two regions the one with the data counts: the copies of a lost one are what its volumes had. A database without copies
// shows the loss of its only one a minute later.
func DataElsewhere(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckCopyElsewhere, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("is all data of %s elsewhere?", g.ProcessGroupID), Gate: plan.GateReplicas, Need: "at least 1"}
	if available := Available(s.Database); !available.OK {
		c.Evidence = available.Evidence
		return c
	}
	least, known := s.Database.Status.RegionReplicas()
	switch {
	case withoutCopies(s):
		c.Evidence = "redundancy mode " + redundancyOf(s) + " keeps one copy, which was on that volume"
	case !s.Database.Status.FullyRecovered() && !hasTwoRegions(s): // of two regions a recovery ends only with both
		c.Evidence = "the database is not fully recovered"
	case !known:
		c.Evidence = "the number of replicas of the data is unknown"
	default:
		c.OK, c.Have = least >= 1, strconv.Itoa(least)
		c.Evidence = fmt.Sprintf("all data has %s without it, 1 required", phrase.Count(least, "replica"))
	}
	return c
}

func hasTwoRegions(s plan.Snapshot) bool {
	c := s.Database.Status.Cluster.Configuration
	return c != nil && c.UsableRegions > 1
}
