package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// AddPVCs creates the PVC of every stateful process group without one, also of a group that
// is marked for removal but not yet excluded: without a process its data cannot be moved.
//
// A group that had a PVC gets no empty one that hides what was lost: not while its pod still runs with
// the volume, and not before the database shows that it needs nothing of that volume. The operator
// creates the PVC at once.
var AddPVCs = plan.Stage{
	Name:  plan.StageAddPVCs,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	More:  plan.Database,
	Matters: func(s plan.Snapshot) bool {
		lost, _ := lostVolumes(s)
		return len(lost) > 0
	},
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		lost, inUse := lostVolumes(s)
		for _, g := range s.Groups() {
			if !lacksPVC(s, g) || inUse.Has(g) || lost[g] && !mayStartEmpty(s, g, &d) {
				continue
			}
			create, err := createPVC(s, g)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			d.Actions = append(d.Actions, create)
		}
		if len(d.Actions) > 0 {
			d.Why = "stateful process groups without a PVC"
		}
		d.Hold = inUse.HoldBefore(d.Hold)
		return d
	},
}

// MissingPVCs returns the PVCs of all stateful process groups without one, also of those that lost theirs: for a
// recovery, which binds them to the volumes that they had.
func MissingPVCs(s plan.Snapshot) ([]plan.CreatePVC, error) {
	var all []plan.CreatePVC
	for _, g := range s.Groups() {
		if !lacksPVC(s, g) {
			continue
		}
		create, err := createPVC(s, g)
		if err != nil {
			return nil, err
		}
		all = append(all, create)
	}
	return all, nil
}

func createPVC(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) (plan.CreatePVC, error) {
	want, err := objects.PersistentVolumeClaim(s.Cluster, g)
	if err != nil {
		return plan.CreatePVC{}, err
	}
	return plan.CreatePVC{Group: g.ProcessGroupID, Name: want.Name, Object: want}, nil
}

func lacksPVC(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return g.ProcessClass.IsStateful() && !g.IsRemovable() && s.Volumes[g.PVCName(s.Cluster)] == nil
}

// lostVolumes returns the groups of a database whose PVCs were deleted, and apart those whose pods still
// run with the volumes. Only a group whose pod had an address ever had a volume, and one of class coordinator has no data.
func lostVolumes(s plan.Snapshot) (lost map[*v1beta2.ProcessGroupStatus]bool, inUse readings.VolumesGoing) {
	lost = map[*v1beta2.ProcessGroupStatus]bool{}
	for _, g := range s.Groups() {
		if !lacksPVC(s, g) || g.ProcessClass == v1beta2.ProcessClassCoordinator || len(g.Addresses) == 0 || !s.Cluster.Status.Configured {
			continue
		}
		if pod := s.Pod(g); pod != nil && pod.Status.Phase == corev1.PodRunning {
			inUse.Keeps(s, g)
			continue
		}
		lost[g] = true
	}
	return lost, inUse
}

// mayStartEmpty reports whether a group that lost its volume may get an empty one; else it adds what
// the group waits for.
func mayStartEmpty(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, d *plan.Decision) bool {
	c := safety.DataElsewhere(s, g)
	d.Checks = append(d.Checks, c)
	if c.OK {
		return true
	}
	id := string(g.ProcessGroupID)
	if d.Hold == nil {
		d.Hold = &plan.Hold{Code: plan.HoldVolumeLost, RetryAfter: plan.PodDelay, Reason: fmt.Sprintf(
			"PVC %s of %s no longer exists, and no empty one is created: %s; bind its volume again if that still exists, or replace the process group without exclusion",
			g.PVCName(s.Cluster), id, c.Evidence)}
	}
	d.Hold.Subjects = append(d.Hold.Subjects, id)
	d.Hold.Manual = d.Hold.Manual || s.Database.Available()
	return false
}
