package collect

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/rebuild"
)

// readReleased lists the volumes whose PVC, one of the cluster, was deleted, and those that are
// reserved for a PVC of this name. Where the status has no process groups, and no PVC and pod of the cluster
// exists, the process groups are inferred from the names of the PVCs.
func (r Reader) readReleased(ctx context.Context, s plan.Snapshot, f *recovery.Facts) (warnings []string) {
	claims := claimsOf(s)
	var free []recovery.ReleasedVolume
	for next := ""; ; {
		page := &corev1.PersistentVolumeList{}
		if err := r.Client.List(ctx, page, client.Limit(pageSize), client.Continue(next)); err != nil {
			f.Placement.VolumesUnknown = err.Error()
			return []string{"released volumes are unknown: list PersistentVolumes: " + err.Error()}
		}
		for i := range page.Items {
			v := &page.Items[i]
			if !isClaimedFrom(s, v) {
				continue
			}
			if isFree(v) {
				free = append(free, released(v))
			} else if name := v.Spec.ClaimRef.Name; isReleasing(s, claims, name) {
				f.Releasing = append(f.Releasing, recovery.ReleasingVolume{Name: v.Name, PVC: name, Phase: string(v.Status.Phase)})
			}
			if isLeftover(s, claims, *v) {
				f.Placement.Volumes = append(f.Placement.Volumes, v.Name)
			}
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	slices.SortFunc(free, func(a, b recovery.ReleasedVolume) int { return strings.Compare(a.Name, b.Name) })
	if isEmpty(s) {
		infer(s, free, f)
	}
	f.Released = append(f.Released, slices.DeleteFunc(free, func(v recovery.ReleasedVolume) bool {
		return !slices.ContainsFunc(f.Groups, func(g recovery.Group) bool { return g.Names.PVC == v.PVC })
	})...)
	return nil
}

// isReleasing reports whether the PVC that a volume names is of a process group, and does not exist.
func isReleasing(s plan.Snapshot, claims map[string]bool, pvc string) bool {
	return s.Volumes[pvc] == nil && (claims[pvc] || isEmpty(s) && rebuild.GroupOfPVC(s.Cluster, pvc) != nil)
}

// claimsOf returns the names of the PVCs of the process groups in the status.
func claimsOf(s plan.Snapshot) map[string]bool {
	claims := map[string]bool{}
	for _, g := range s.Groups() {
		claims[g.PVCName(s.Cluster)] = true
	}
	return claims
}

// isClaimedFrom reports whether a volume is, or was, of a PVC in the namespace of the cluster.
func isClaimedFrom(s plan.Snapshot, v *corev1.PersistentVolume) bool {
	return v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Namespace == s.Cluster.Namespace
}

// isEmpty reports whether a status has no process groups, and the resource no objects from which a pass
// restores them. A run that was interrupted while it restored the status has written the connection string.
func isEmpty(s plan.Snapshot) bool {
	return len(s.Groups()) == 0 && len(s.Pods) == 0 && len(s.Volumes) == 0
}

// infer adds the process groups to which volumes belonged, by the names of their PVCs, and the
// connection string that a pass would restore.
func infer(s plan.Snapshot, free []recovery.ReleasedVolume, f *recovery.Facts) {
	for _, v := range free {
		g := rebuild.GroupOfPVC(s.Cluster, v.PVC)
		if g == nil || slices.ContainsFunc(f.Groups, func(known recovery.Group) bool { return known.ID == string(g.ProcessGroupID) }) {
			continue
		}
		group := groupOf(s, g)
		group.Inferred = true
		f.Groups = append(f.Groups, group)
	}
	slices.SortFunc(f.Groups, func(a, b recovery.Group) int { return strings.Compare(a.ID, b.ID) })
	if len(f.Groups) > 0 && f.Recorded == "" {
		f.Recorded = strings.TrimSpace(readings.RememberedClusterFile(s))
	}
}

// isFree reports whether a volume was released by its PVC, or is reserved for one by its name alone.
func isFree(v *corev1.PersistentVolume) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && v.DeletionTimestamp == nil && (v.Status.Phase == corev1.VolumeReleased || ref.UID == "" && v.Status.Phase != corev1.VolumeBound)
}

func released(v *corev1.PersistentVolume) recovery.ReleasedVolume {
	return recovery.ReleasedVolume{
		Name: v.Name, UID: string(v.UID), PVC: v.Spec.ClaimRef.Name, ClaimUID: string(v.Spec.ClaimRef.UID), Policy: string(v.Spec.PersistentVolumeReclaimPolicy),
	}
}

// readUsers reads which other pods mount the PVCs of process groups that have no running pod.
func (r Reader) readUsers(ctx context.Context, s plan.Snapshot, f *recovery.Facts) (warnings []string) {
	byPVC := map[string]*recovery.Group{}
	for i := range f.Groups {
		if g := &f.Groups[i]; g.Stateful && g.Phase != string(corev1.PodRunning) {
			byPVC[g.Names.PVC] = g
		}
	}
	if len(byPVC) == 0 {
		return nil
	}
	for next := ""; ; {
		page := &corev1.PodList{}
		if err := r.Client.List(ctx, page, client.InNamespace(s.Cluster.Namespace), client.Limit(pageSize), client.Continue(next)); err != nil {
			f.UsersUnknown = err.Error()
			return []string{"which pods mount PVCs is unknown: list pods: " + err.Error()}
		}
		for i := range page.Items {
			noteUser(byPVC, &page.Items[i])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

func noteUser(byPVC map[string]*recovery.Group, pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		if g := byPVC[v.PersistentVolumeClaim.ClaimName]; g != nil && pod.Name != g.Names.Pod {
			g.UsedBy = append(g.UsedBy, pod.Name)
		}
	}
}
