package collect

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// readReleased lists the volumes whose PVC, one of the cluster, was deleted, and those that are
// reserved for a PVC of this name.
func (r Reader) readReleased(ctx context.Context, s plan.Snapshot, f *recovery.Facts) (warnings []string) {
	claims := map[string]bool{}
	for _, g := range s.Groups() {
		claims[g.PVCName(s.Cluster)] = true
	}
	found := map[string]recovery.ReleasedVolume{}
	for next := ""; ; {
		page := &corev1.PersistentVolumeList{}
		if err := r.Client.List(ctx, page, client.Limit(pageSize), client.Continue(next)); err != nil {
			return []string{"released volumes are unknown: list PersistentVolumes: " + err.Error()}
		}
		for i := range page.Items {
			if v := &page.Items[i]; isFree(v) && v.Spec.ClaimRef.Namespace == s.Cluster.Namespace && claims[v.Spec.ClaimRef.Name] {
				found[v.Name] = released(v)
			}
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f.Released = append(f.Released, found[name])
	}
	return nil
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
